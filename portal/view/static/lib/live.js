// The clock of a page that keeps itself up to date: as often as the server says,
// while it can be seen, unless somebody holds it.
import {$} from "./dom.js";
import {stale} from "./api.js";
import {open} from "./dialog.js";

const every = Number(document.documentElement.dataset.refresh);

// live calls refresh until the page is left. holds are questions that may say
// why to wait; each is asked before every refresh.
export function live(refresh, holds = []) {
	const box = $("live"), label = $("pause"), key = "concert.live." + document.documentElement.dataset.tab;
	let timer, running = false, failed = "";
	try { if (box && sessionStorage.getItem(key) === "off") box.checked = false; } catch { /* on, then */ }

	const why = () => {
		if (box && !box.checked) return "Not updating";
		if (open()) return "Paused while a dialog is open";
		for (const hold of holds) if (hold()) return hold();
		return "";
	};
	const show = text => {
		if (!label) return;
		label.textContent = text;
		label.hidden = !text;
	};
	const run = async force => {
		if (running) return;
		const reason = why();
		show(failed || reason);
		if (!force && (reason || document.hidden)) return;
		running = true;
		try {
			await refresh();
			failed = "";
		} catch (e) {
			failed = e.status ? e.message : "Not updating: Concert cannot be reached";
		}
		running = false;
		stale(failed !== "");
		show(failed || why());
	};
	const again = () => {
		clearTimeout(timer);
		timer = setTimeout(async () => { await run(false); again(); }, every);
	};
	if (box) {
		box.disabled = false;
		box.addEventListener("change", () => {
			try { sessionStorage.setItem(key, box.checked ? "on" : "off"); } catch { /* for this page only */ }
			run(false);
		});
	}
	document.addEventListener("visibilitychange", () => { if (!document.hidden) run(false); });
	show(why());
	again();
	return {
		// now refreshes at once, whatever holds the clock.
		now: async () => { clearTimeout(timer); await run(true); again(); },
		// look asks again whether something holds the clock.
		look: () => { show(failed || why()); },
	};
}
