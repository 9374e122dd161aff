// What operators do. Every action first says what will happen, and then what
// has happened, with a way back where there is one.
import {el} from "../lib/dom.js";
import {call, query, viewer} from "../lib/api.js";
import {ask, later, toast} from "../lib/dialog.js";
import {moment, span} from "../lib/time.js";

let refresh = () => {};

// listen has the page's buttons act. done brings the page up to date.
export function listen(done) {
	refresh = done;
	document.addEventListener("click", event => {
		const button = event.target.closest("[data-act]");
		if (!button) return;
		if (viewer()) {
			toast("You are signed in as a viewer: viewers change nothing.", {bad: true});
			return;
		}
		actions[button.dataset.act](button.dataset);
	});
}

const people = n => n === 1 ? "1 visitor" : n.toLocaleString("en") + " visitors";

const actions = {
	front: ({id, client}) => ask({
		title: "Move " + client + " to the front?", confirm: "Move to the front",
		text: "They are let in next, behind others who were moved up before. Everybody they pass waits one turn longer.",
		action: async () => {
			await call("POST", "queue/promote", {id});
			toast(client + " is moved to the front.");
			refresh();
		},
	}),

	remove: ({id, client}) => ask({
		title: "Remove " + client + " from the line?", confirm: "Remove", bad: true,
		text: "Their page tells them so. They may join again, at the end of the line.",
		action: async () => {
			await call("POST", "queue/kick", {id, ban: false});
			toast(client + " is removed from the line.");
			refresh();
		},
	}),

	kickban: ({id, client}) => {
		const term = lengthOf({});
		ask({
			title: "Remove " + client + " and ban?", confirm: "Remove and ban", bad: true,
			text: "They lose their place, and so does everybody else in line from this address. Every request from it is refused while the ban lasts.",
			body: term.body, fill: form => form.addEventListener("input", term.show),
			action: async () => {
				const done = await call("POST", "queue/kick", {id, ban: true, ...term.value()});
				toast(done.client + " is removed and banned " + (done.ban_seconds ? "for " + span(done.ban_seconds * 1000) : "permanently") + ".", {undo: takeBack(done.undo)});
				refresh();
			},
		});
	},

	newban: ({client = ""}) => banForm({title: "Ban an address or a range", client}),
	changeban: ({client, note, permanent, end}) => banForm({title: "Change the ban of " + client, client, note, fixed: true, permanent: permanent !== undefined, end}),

	unban: ({client}) => ask({
		title: "Unban " + client + "?", confirm: "Unban",
		text: "Its requests are taken again at once. Its strikes and former bans are forgotten, so a next ban is the shortest one.",
		action: async () => {
			const done = await call("DELETE", "bans?" + query({client}));
			toast(client + " is not banned any more.", {undo: takeBack(done.undo)});
			refresh();
		},
	}),

	revoke: ({id, client, current}) => ask({
		title: current !== undefined ? "End your own session?" : "End the session from " + client + "?", confirm: "End session", bad: true,
		text: current !== undefined ? "You are signed out at once." : "Whoever has it open is asked for the password with their next click. If they know it, change the password as well.",
		action: async () => {
			await call("DELETE", "sessions?" + query({id}));
			later("The session has ended.");
			location.reload();
		},
	}),

	pause: () => setting({
		title: "Pause admissions?", confirm: "Pause admissions", change: {room: "paused"},
		text: "Nobody is let in until admissions are resumed. Requests under way finish, those in line keep their places, and newcomers get places behind them.",
		done: "Admissions are paused.",
	}),
	resume: () => setting({
		title: "Resume admissions?", confirm: "Resume admissions", change: {room: "open"},
		text: "Visitors are let in again in their order, as slots are free.", done: "Admissions are resumed.",
	}),
	cap: () => {
		const present = document.querySelector(".control [data-status=cap]").textContent.replaceAll(",", "");
		const input = el("input", {id: "new-cap", type: "number", min: 1, max: 2147483647, step: 1, required: true, inputmode: "numeric", value: present});
		setting({
			title: "Change the cap", confirm: "Change the cap", done: n => "The cap is " + n + ".",
			text: "The cap is how many page requests may be at the origin at once. It is " + present + " now. A lower one takes effect as requests finish; nobody is cut off.",
			body: [el("div", {class: "row"}, el("label", {for: "new-cap"}, "New cap"), input)],
			change: () => ({cap: Number(input.value)}), watch: input, result: () => input.value,
		});
	},

	"undo-settings": async ({of}) => {
		const {diff} = await import("./settings.js");
		const body = el("div", {}, el("p", {class: "soft"}, "Looking …"));
		ask({
			title: "Undo the last change?", confirm: "Undo", wide: true, body: [body],
			fill: async (form, go, failed) => {
				try {
					body.replaceChildren(...diff(await call("POST", "settings/undo?" + query({of, "dry-run": 1}))));
				} catch (e) {
					body.replaceChildren();
					failed.textContent = e.message;
					failed.hidden = false;
				}
			},
			action: async () => {
				await call("POST", "settings/undo?" + query({of}));
				later("The last change is taken back.");
				location.reload();
			},
		});
	},

	reset: async ({id}) => {
		const {diff} = await import("./settings.js");
		const body = el("div", {}, el("p", {class: "soft"}, "Looking …"));
		const path = "settings?" + query({key: id});
		ask({
			title: "Reset " + id + "?", confirm: "Reset", wide: true, body: [body],
			text: "The value kept in settings.json is dropped; flag, environment or default decide again.",
			fill: async (form, go, failed) => {
				try {
					body.replaceChildren(...diff(await call("DELETE", path + "&dry-run=1")));
				} catch (e) {
					body.replaceChildren();
					failed.textContent = e.message;
					failed.hidden = false;
				}
			},
			action: async () => {
				const made = await call("DELETE", path);
				later(id + " is reset.", "settings/undo?" + query({of: made.updated}));
				location.reload();
			},
		});
	},
};

// takeBack is the way back from a ban, or from the lifting of one.
const takeBack = undo => undo && (async () => {
	const done = await call("POST", "undo", {undo});
	refresh();
	return done.client + (done.banned ? " is banned as before." : " is not banned any more.");
});

// setting changes settings after a dry run has told whom it concerns.
function setting({title, text, confirm, change, done, body = [], watch, result}) {
	const wanted = typeof change === "function" ? change : () => change;
	const effect = el("ul", {"aria-live": "polite"});
	const look = async () => {
		try {
			const would = await call("POST", "settings?dry-run=1", wanted());
			effect.replaceChildren(...would.affects.map(a => el("li", {}, a.text)), ...would.warnings.map(w => el("li", {}, w)));
		} catch (e) {
			effect.replaceChildren(el("li", {}, e.message));
		}
	};
	let timer;
	ask({
		title, text, confirm, body: [body, effect].flat(),
		fill: () => {
			look();
			watch?.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 250); });
		},
		action: async () => {
			const made = await call("POST", "settings", wanted());
			toast(typeof done === "function" ? done(result()) : done, {undo: async () => {
				await call("POST", "settings/undo?" + query({of: made.updated}));
				refresh();
				return "The change is taken back.";
			}});
			refresh();
		},
	});
}

const lengths = [["5m", "5 minutes"], ["15m", "15 minutes"], ["1h", "1 hour"], ["6h", "6 hours"], ["24h", "1 day"], ["168h", "7 days"], ["720h", "30 days"], ["", "other …"]];

// lengthOf asks how long a ban lasts.
function lengthOf({permanent = false}) {
	const forever = el("input", {id: "ban-permanent", type: "checkbox", role: "switch", class: "switch"});
	forever.checked = permanent;
	const length = el("select", {id: "ban-length"}, lengths.map(([v, t]) => el("option", {value: v}, t)));
	length.value = "1h";
	const other = el("input", {id: "ban-other", placeholder: "90m, 36h, from 1m to 8760h", "aria-label": "Other length", hidden: true});
	const remark = el("input", {id: "ban-note", maxlength: 200, autocomplete: "off", placeholder: "Why, for whoever looks next"});
	return {
		body: [
			el("label", {class: "check"}, forever, "Permanent: until somebody lifts it"),
			el("div", {class: "row"}, el("label", {for: "ban-length"}, "How long"), length, other),
			el("div", {class: "row"}, el("label", {for: "ban-note"}, "Note"), remark),
		],
		remark,
		show: () => {
			other.hidden = length.value !== "" || forever.checked;
			length.disabled = forever.checked;
		},
		words: () => forever.checked ? " permanently" : " for " + (length.value ? length.selectedOptions[0].textContent : other.value.trim() || "…"),
		value: () => ({...(forever.checked ? {permanent: true} : {duration: length.value || other.value.trim()}), note: remark.value.trim()}),
	};
}

// banForm asks whom to ban and for how long, and says beforehand what it does.
function banForm({title, client, note = "", fixed = false, permanent = false, end}) {
	const who = el("input", {id: "ban-client", required: true, spellcheck: "false", autocomplete: "off", value: client, placeholder: "203.0.113.9 or 203.0.113.0/24", readonly: fixed});
	const term = lengthOf({permanent});
	term.remark.value = note;
	const preview = el("div", {class: "preview", "aria-live": "polite"}, el("p", {class: "soft"}, "Give an IPv4 or IPv6 address, or a range such as 203.0.113.0/24."));
	let timer, asked = 0, button;

	const label = () => {
		button.textContent = (fixed ? "Change the ban" : "Ban " + (who.value.trim() || "…")) + term.words();
		term.show();
	};
	const look = async () => {
		const text = who.value.trim(), turn = ++asked;
		if (!text) return;
		let lines, stop = false;
		try {
			const p = await call("GET", "bans/preview?" + query({client: text}));
			stop = p.problem !== "";
			lines = stop ? [p.problem] : previewed(p);
		} catch (e) {
			stop = true;
			lines = [e.message];
		}
		if (turn !== asked) return;
		preview.classList.toggle("stop", stop);
		preview.replaceChildren(...lines.map(t => el("p", {}, t)));
		button.disabled = stop;
	};
	ask({
		title, confirm: "Ban", bad: true,
		text: end && !permanent ? "It ends " + moment(+end) + ". A new length counts from now and replaces what is left." : [],
		body: [
			el("div", {class: "row"}, el("label", {for: "ban-client"}, "Address or range"), who),
			term.body,
			preview,
		].flat(),
		fill: (form, go) => {
			button = go;
			label();
			look();
			form.addEventListener("input", label);
			who.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 250); });
		},
		action: async () => {
			const target = who.value.trim();
			const made = await call("POST", "bans", {client: target, ...term.value()});
			const until = made.until ? "until " + moment(Date.parse(made.until)) : "permanently";
			const dropped = made.dropped ? " " + people(made.dropped) + (made.dropped === 1 ? " was" : " were") + " removed from the line." : "";
			toast(made.client + " is banned " + until + "." + dropped, {undo: takeBack(made.undo)});
			refresh();
		},
	});
}

// previewed says what a ban would do.
function previewed(p) {
	const lines = [(p.range ? "The range " : "") + p.client + " is refused on every path.",
		p.waiting ? people(p.waiting) + " in line " + (p.waiting === 1 ? "is" : "are") + " removed." : "Nobody in line is concerned."];
	if (p.exempt_within?.length) lines.push("These stay reachable, since they are never banned: " + p.exempt_within.join(", ") + ".");
	if (p.current) lines.push("It replaces a ban that " + (p.current === "permanent" ? "is permanent." : "ends " + moment(Date.parse(p.current)) + "."));
	if (p.self) lines.push("Your own address is inside. The portal stays open to you, the site does not.");
	return lines;
}
