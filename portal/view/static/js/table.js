// A table that keeps itself up to date: rows slide to their new places, rows
// that arrive say where they came from, rows that leave say where they went.
import {$, calm, el, parse, say} from "../lib/dom.js";
import {call, now, query, setNow, showStatus} from "../lib/api.js";
import {live} from "../lib/live.js";
import {show} from "../lib/time.js";

const slide = 450, farewell = 2600; // milliseconds
const mostKeys = 200;

export function start() {
	const body = $("rows"), table = $("table"), frag = table.dataset.frag;
	const state = Object.fromEntries(new URLSearchParams(location.search));
	const wanted = ["page", "size", "q", "flagged"];
	const lastPage = new Map(); // where rows went that have left this page
	let updated = now(), pointing = false, typing = false, clock;

	const keyOf = row => row.dataset.key;
	const rows = () => [...body.children].filter(r => r.dataset.key !== undefined && !r.classList.contains("leaving"));
	const detailOf = row => row.nextElementSibling?.classList.contains("detail") ? row.nextElementSibling : null;
	// What runs by itself is no change of a row.
	const content = row => {
		const copy = row.cloneNode(true);
		for (const e of copy.querySelectorAll("time, [data-since], [data-ago], [data-until]")) e.textContent = "";
		for (const e of copy.querySelectorAll(".way")) e.remove();
		for (const e of copy.querySelectorAll(".expander")) { e.removeAttribute("aria-expanded"); e.removeAttribute("href"); }
		return copy.outerHTML;
	};
	for (const r of rows()) r.content = content(r);

	async function refresh(moved) {
		const keys = rows().map(keyOf).filter(k => !k.includes(",")).slice(0, mostKeys);
		const chosen = Object.fromEntries(wanted.map(k => [k, state[k]]));
		const f = await call("GET", "frag/" + frag + "?" + query({...chosen, keys: moved ? "" : keys.join(",")}));
		setNow(f.now);
		apply(f, moved);
		updated = f.now;
		state.page = String(f.page);
		$("summary").textContent = f.summary;
		showStatus(f.status);
		pager(f);
	}

	// apply puts a fragment's rows in place of those that are there.
	function apply(f, moved) {
		const old = new Map(rows().map(r => [keyOf(r), r]));
		const before = new Map([...old].map(([key, r]) => [key, r.getBoundingClientRect().top]));
		const focus = focused();
		const order = rows().map(keyOf);
		const fresh = parse(f.html, true);
		const next = new Set(fresh.map(keyOf));
		const list = [];
		const changed = [];
		for (const r of fresh) {
			const was = old.get(keyOf(r));
			r.content = content(r);
			if (!was) {
				list.push(r);
				if (!moved && r.dataset.key !== undefined) arrives(r, f, order, fresh);
				continue;
			}
			const detail = detailOf(was), same = was.content === r.content;
			const row = same ? was : r;
			list.push(row);
			if (detail) {
				expanded(row, true);
				list.push(detail);
				if (!same) changed.push(row);
			}
		}
		const leaving = moved ? [] : order.filter(key => !next.has(key)).map(key => old.get(key));
		for (const r of leaving) leaves(r, f.where[keyOf(r)]);
		place(list, leaving, order);
		show(body);
		if (!moved && !calm()) glide(before);
		if (focus) refocus(focus);
		for (const row of changed) expand(row, {page: detailOf(row).dataset.page || "1"});
	}

	// place lays the rows out, with those that are about to leave where they
	// stood.
	function place(list, leaving, order) {
		for (const r of leaving) {
			const detail = detailOf(r);
			if (detail) detail.remove();
			const ahead = order.slice(0, order.indexOf(keyOf(r))).reverse().find(k => list.some(x => keyOf(x) === k));
			const at = ahead === undefined ? 0 : list.findIndex(x => keyOf(x) === ahead) + 1;
			list.splice(at, 0, r);
		}
		const keep = new Set(list);
		// Those that said farewell before go in their own time.
		for (const r of [...body.children]) if (!keep.has(r) && !r.classList.contains("leaving")) r.remove();
		const next = e => { while (e && !keep.has(e)) e = e.nextElementSibling; return e; };
		let node = next(body.firstElementChild);
		for (const r of list) {
			if (r === node) node = next(node.nextElementSibling);
			else body.insertBefore(r, node);
		}
	}

	const mark = (row, text) => {
		const cells = [...row.children];
		const cell = cells.find(c => c.dataset.label === "Client" || c.dataset.label === "Network") || cells[0];
		cell.append(el("span", {class: "way"}, text));
	};

	// arrives says where a row came from: the page it was last seen on, the one
	// before or behind this one, or from outside.
	function arrives(row, f, order, fresh) {
		const key = keyOf(row), at = fresh.indexOf(row);
		let text = "new";
		if (lastPage.has(key)) text = "from page " + lastPage.get(key);
		else if (!(+row.dataset.began > updated) && order.length) {
			const above = fresh.slice(0, at).some(r => order.includes(keyOf(r)));
			if (above && f.page < f.pages + 1) text = "from page " + (f.page + 1);
			else if (!above && f.page > 1) text = "from page " + (f.page - 1);
		}
		lastPage.delete(key);
		mark(row, text);
		setTimeout(() => row.querySelector(".way")?.remove(), farewell);
	}

	// leaves says where a row went, and takes it away a little later.
	function leaves(row, page) {
		for (const e of row.querySelectorAll(".way")) e.remove();
		mark(row, page ? "moved to page " + page : table.dataset.gone);
		if (page) {
			lastPage.set(keyOf(row), page);
			if (lastPage.size > 1000) lastPage.delete(lastPage.keys().next().value);
		}
		row.classList.add("leaving");
		row.inert = true;
		setTimeout(() => row.remove(), farewell);
	}

	// glide has rows that moved slide from where they were.
	function glide(before) {
		for (const r of rows()) {
			const from = before.get(keyOf(r));
			const way = from === undefined ? 0 : from - r.getBoundingClientRect().top;
			if (Math.abs(way) > 1) r.animate([{transform: "translateY(" + way + "px)"}, {transform: "none"}], {duration: slide, easing: "cubic-bezier(.2,.7,.2,1)"});
			else if (from === undefined) r.animate([{opacity: 0}, {opacity: 1}], {duration: slide});
		}
	}

	// A row that is replaced gives the focus on to what takes its place.
	const focused = () => {
		const e = document.activeElement, row = e?.closest("#rows > tr[data-key]");
		return row && {key: keyOf(row), index: [...row.querySelectorAll("a, button")].indexOf(e), element: e};
	};
	function refocus({key, index, element}) {
		if (element.isConnected && document.activeElement === element) return;
		const row = rows().find(r => keyOf(r) === key);
		const target = element.isConnected ? element : row?.querySelectorAll("a, button")[index];
		if (target) target.focus({preventScroll: true});
		else $("main").focus({preventScroll: true});
	}

	function expanded(row, on) { row.querySelector(".expander")?.setAttribute("aria-expanded", on); }

	// expand loads what is below a row and shows it.
	async function expand(row, {page = "1"} = {}) {
		const path = "frag/" + table.dataset.below + encodeURIComponent(keyOf(row)) + "&" + query({page});
		let content;
		try {
			const f = await call("GET", path);
			content = parse(f.html);
		} catch (e) {
			content = [el("p", {class: "details"}, e.message)];
		}
		let detail = detailOf(row);
		if (!detail) {
			if (!row.isConnected || row.querySelector(".expander").getAttribute("aria-expanded") !== "true") return;
			detail = el("tr", {class: "detail", role: "row"}, el("td", {role: "cell", colspan: row.children.length}));
			row.after(detail);
		}
		detail.dataset.page = page;
		detail.firstElementChild.replaceChildren(...content);
		show(detail);
	}

	body.addEventListener("click", event => {
		const opener = event.target.closest(".expander"), inner = event.target.closest("[data-detail]");
		if (inner) {
			event.preventDefault();
			expand(inner.closest(".detail").previousElementSibling, {page: inner.dataset.detail});
		}
		if (!opener) return;
		event.preventDefault();
		const row = opener.closest("tr"), detail = detailOf(row);
		expanded(row, !detail);
		if (detail) detail.remove();
		else expand(row);
	});
	body.addEventListener("keydown", event => {
		if (event.key === " " && event.target.matches(".expander")) { event.preventDefault(); event.target.click(); }
	});

	// pager draws the links to other pages anew when they changed.
	function pager(f) {
		const nav = $("pager"), mark = [f.page, f.pages, f.size].join();
		if (nav.dataset.mark === mark) return;
		nav.dataset.mark = mark;
		const inside = nav.contains(document.activeElement) && document.activeElement.textContent;
		const link = (page, text, on, extra = {}) => on ? el("a", {href: "?" + query({...state, page, ...extra.params}), "data-page": page, ...extra.attributes}, text) : el("span", {class: "off"}, text);
		nav.replaceChildren(
			link(1, "First", f.page > 1), link(f.page - 1, "Previous", f.page > 1),
			el("span", {class: "at"}, "Page ", el("b", {}, f.page.toLocaleString("en")), " of " + f.pages.toLocaleString("en")),
			link(f.page + 1, "Next", f.page < f.pages), link(f.pages, "Last", f.page < f.pages),
			el("span", {class: "sizes"}, "Rows", [25, 50, 100].flatMap(n => [" ", link(1, String(n), true, {params: {size: n}, attributes: {"data-size": n, "aria-current": n === f.size && "true"}})])));
		if (inside) ([...nav.querySelectorAll("a")].find(a => a.textContent === inside) || nav.querySelector("a"))?.focus();
	}

	// turn shows other rows, as somebody asked for them.
	async function turn(change, push) {
		Object.assign(state, change);
		for (const k of Object.keys(state)) if (!state[k]) delete state[k];
		delete state.open;
		const url = "?" + query(state);
		if (push) history.pushState(null, "", url); else history.replaceState(null, "", url);
		try {
			await refresh(true);
			say($("summary").textContent + ", page " + state.page);
		} catch (e) {
			$("summary").textContent = e.message;
		}
	}
	$("pager").addEventListener("click", event => {
		const a = event.target.closest("a");
		if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return;
		event.preventDefault();
		turn(a.dataset.size ? {size: a.dataset.size, page: "1"} : {page: a.dataset.page}, true);
	});
	addEventListener("popstate", () => {
		for (const k of Object.keys(state)) delete state[k];
		Object.assign(state, Object.fromEntries(new URLSearchParams(location.search)));
		$("filter").value = state.q || "";
		refresh(true);
	});
	const filter = document.querySelector(".filter");
	const narrow = () => turn({q: $("filter").value.trim(), flagged: filter.elements.flagged?.checked ? "1" : "", page: "1"}, false);
	filter.addEventListener("submit", event => { event.preventDefault(); clearTimeout(typing); narrow(); });
	filter.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(narrow, 250); });

	// Somebody who points at a row, or is in it with the keyboard, wants it to
	// stay where it is.
	table.addEventListener("pointerenter", e => { pointing = e.pointerType === "mouse"; clock.look(); });
	table.addEventListener("pointerleave", () => { pointing = false; clock.look(); });
	table.addEventListener("focusin", () => clock.look());
	table.addEventListener("focusout", () => setTimeout(() => clock.look()));
	const within = () => body.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
	clock = live(() => refresh(false), [() => pointing && "Paused while you point at the table", () => within() && "Paused while you are in the table"]);
	return {refresh: () => clock.now()};
}
