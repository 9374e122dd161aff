// Rooms: the overview and the page of one room keep themselves up to date;
// forms and buttons act through the API and say first what will happen.
import {$, el, parse} from "../lib/dom.js";
import {call, query, setNow, showStatus, viewer} from "../lib/api.js";
import {ask, later, toast} from "../lib/dialog.js";
import {live} from "../lib/live.js";
import {show} from "../lib/time.js";

export function start() {
	const room = $("room"), of = room?.dataset;
	const here = of && {kind: of.kind, id: of.id};
	if ($("room-form")) watchForm($("room-form"), of);
	if (of?.id) act(room, here);
	const part = $("rooms-live") || $("room-live");
	if (!part) return {refresh: () => location.reload()};
	const path = part.id === "rooms-live" ? "frag/rooms" : "frag/room?" + query(here);
	const clock = live(async () => {
		const f = await call("GET", path);
		setNow(f.now);
		showStatus(f.status);
		const table = $("minutes-table")?.open, fresh = parse(f.html);
		// Whoever is in the middle of something there is left alone.
		if (part.contains(document.activeElement) && document.activeElement !== document.body) return;
		part.replaceChildren(...fresh);
		if (table && $("minutes-table")) $("minutes-table").open = true;
		show(part);
	});
	return {refresh: () => clock.now()};
}

const denied = () => viewer() && (toast("You are signed in as a viewer: viewers change nothing.", {bad: true}), true);

// valueOf is a control's value as the API takes it. An empty number is the
// default, and what is no number goes as it was written, for the answer to say
// what is wrong with it.
function valueOf(control, kind) {
	const text = control.value.trim();
	switch (kind) {
	case "check": return control.checked;
	case "list": return text.split(/[\s,]+/).filter(Boolean);
	case "number": return text === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text;
	}
	return text;
}

function watchForm(form, of) {
	const controls = [...form.querySelectorAll("[name]")];
	const read = () => new Map(controls.map(c => [c.name, valueOf(c, c.closest(".field").dataset.kind)]));
	const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
	let initial = read(), saved = false;
	const changed = () => [...read()].filter(([name, value]) => !same(value, initial.get(name)));
	form.addEventListener("submit", async event => {
		event.preventDefault();
		if (denied()) return;
		const failed = $("room-failed"), fresh = "new" in of;
		failed.hidden = true;
		// Of a new room, what is empty has its default.
		const members = Object.fromEntries(fresh ? [...read()].filter(([, v]) => v !== null && v !== "" && !(Array.isArray(v) && !v.length)) : changed());
		if (!Object.keys(members).length) return toast("Nothing is changed.");
		try {
			const made = fresh ? await call("POST", "rooms?" + query({kind: of.kind}), members) : await call("POST", "rooms/room?" + query({kind: of.kind, id: of.id}), members);
			saved = true;
			later([fresh ? "The room is made." : "Saved, and in force.", ...made.affects.map(a => a.text + "."), ...made.warnings].join(" "), made.undo && "settings/undo?" + query({of: made.undo}));
			if (fresh) location.assign("/rooms/room?" + query({kind: of.kind, id: made.id}));
			else location.reload();
		} catch (e) {
			failed.textContent = e.message;
			failed.hidden = false;
			failed.scrollIntoView({block: "nearest"});
		}
	});
	addEventListener("beforeunload", event => { if (!saved && changed().length) event.preventDefault(); });
}

// words say what an act does before it is done, by the kind of the room.
const words = {
	pause: {title: "Pause", confirm: "Pause", text: () => "Nobody is let in until you resume. Newcomers get places in line."},
	resume: {title: "Resume", confirm: "Resume", text: () => "Visitors are let in again, as the room’s settings say."},
	open: {title: "Open the floodgates of", confirm: "Open floodgates", bad: true, text: kind => kind === "gate"
		? "Everybody who is in line now is let in, whatever the inflow; a cap still holds. It cannot be taken back."
		: "The rate is lifted and the room is open: the cap alone holds, so that the origin gets no more than before. Set the inflow again in the form, or take it back in the message that follows."},
	reset: {title: "Reset", confirm: "Reset", bad: true, text: kind => kind === "gate"
		? "Tickets, counters and statistics are gone. Pages of those who wait join again, in no order. It cannot be taken back."
		: "Everybody in its line loses the place; their pages join again, in no order. It cannot be taken back."},
	delete: {title: "Delete", confirm: "Delete", bad: true, text: kind => kind === "gate"
		? "The room is gone with its line, counters, messages and audit. It cannot be taken back."
		: "Its pages belong to where they match next from now on, and those who wait begin there anew."},
};
const said = {pause: " is paused.", resume: " lets visitors in.", open: " is wide open.", reset: " begins anew.", delete: " is deleted."};

function act(room, here) {
	const name = room.dataset.name;
	document.addEventListener("click", event => {
		const lever = event.target.closest("[data-room-act]"), message = event.target.closest("[data-message]");
		if (!lever && !message || denied()) return;
		if (message) return messages[message.dataset.message](message.dataset, here);
		const what = lever.dataset.roomAct, w = words[what], effect = el("ul", {"aria-live": "polite"});
		const send = dry => {
			const params = query({...here, ...(dry && {"dry-run": "1"})});
			return what === "delete" ? call("DELETE", "rooms/room?" + params) : call("POST", "rooms/actions?" + params, {action: what});
		};
		ask({
			title: w.title + " " + name + "?", confirm: w.confirm, bad: w.bad, text: w.text(here.kind), body: [effect],
			fill: async () => {
				if (here.kind !== "site" || what === "reset") return;
				try {
					const would = await send(true);
					effect.replaceChildren(...[...would.affects.map(a => a.text), ...would.warnings].map(t => el("li", {}, t)));
				} catch (e) {
					effect.replaceChildren(el("li", {}, e.message));
				}
			},
			action: async () => {
				const made = await send(false);
				later(name + said[what], made.undo && "settings/undo?" + query({of: made.undo}));
				if (what === "delete") location.assign("/rooms");
				else location.reload();
			},
		});
	});
}

const messages = {
	add: (_, here) => write({title: "Add a message", text: "", level: "info"}, here),
	edit: (data, here) => write({title: "Change the message", ...data}, here, data.id),
	show: (data, here) => turn(data.id, true, here),
	hide: (data, here) => turn(data.id, false, here),
	delete: (data, here) => ask({
		title: "Delete this message?", confirm: "Delete", bad: true, text: data.text,
		action: async () => {
			await call("DELETE", "rooms/messages?" + query({id: here.id, message: data.id}));
			later("The message is deleted.");
			location.reload();
		},
	}),
};

async function turn(message, enabled, here) {
	try {
		await call("POST", "rooms/messages?" + query({id: here.id, message}), {enabled});
		later(enabled ? "The message is shown." : "The message is hidden.");
		location.reload();
	} catch (e) {
		toast(e.message, {bad: true});
	}
}

function write({title, text, level}, here, message = "") {
	const words = el("textarea", {id: "message-words", rows: 3, required: true, maxlength: 2000, value: text});
	const grave = el("select", {id: "message-level"}, ["info", "warning"].map(v => el("option", {value: v}, v)));
	grave.value = level;
	ask({
		title, confirm: "Save", wide: true,
		body: [
			el("div", {class: "row"}, el("label", {for: "message-words"}, "Text"), words),
			el("p", {class: "fine"}, "Other languages follow behind a bar: Doors open at ten. | de=Einlass ab zehn."),
			el("div", {class: "row"}, el("label", {for: "message-level"}, "Level"), grave),
		],
		action: async () => {
			await call("POST", "rooms/messages?" + query({id: here.id, message}), {text: words.value.trim(), level: grave.value});
			later("The message is saved.");
			location.reload();
		},
	});
}
