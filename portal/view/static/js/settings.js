// The settings: changes are gathered, tried out together, shown as a diff, and
// saved together or not at all.
import {$, el, say} from "../lib/dom.js";
import {call, query} from "../lib/api.js";
import {start as strip} from "./strip.js";
import {ask, later} from "../lib/dialog.js";

export function start() {
	const form = $("settings"), initial = new Map();
	const controls = () => [...form.querySelectorAll("input[name], select[name]")];
	for (const c of controls()) initial.set(c.name, c.value);
	const changed = () => controls().filter(c => c.value !== initial.get(c.name));

	const watch = () => {
		const list = changed();
		for (const c of controls()) c.closest(".field").classList.toggle("changed", list.includes(c));
		$("savebar").hidden = list.length === 0;
		const text = list.length === 1 ? "1 setting changed" : list.length + " settings changed";
		if ($("pending").textContent !== text) $("pending").textContent = text;
	};
	form.addEventListener("input", event => {
		clear(event.target.closest(".field"));
		watch();
	});
	$("discard").addEventListener("click", () => {
		for (const c of changed()) c.value = initial.get(c.name);
		for (const f of form.querySelectorAll(".field")) clear(f);
		watch();
		say("The changes are discarded.");
	});
	form.addEventListener("submit", async event => {
		event.preventDefault();
		if (!changed().length) return;
		const change = Object.fromEntries(changed().map(c => [c.name, valueOf(c)]));
		let would;
		try {
			would = await call("POST", "settings?dry-run=1", change);
		} catch (e) {
			return refused(e);
		}
		for (const f of form.querySelectorAll(".field")) clear(f);
		ask({
			title: "Save these changes?", confirm: "Save", wide: true, body: diff(would),
			action: async () => {
				const made = await call("POST", "settings", change);
				initial.clear(); // nothing is lost by leaving the page
				later("Saved, and in force" + (would.changed.some(c => fieldOf(c.key)?.querySelector(".name .amber")) ? " with the next start where it says restart." : "."), "settings/undo?" + query({of: made.updated}));
				location.reload();
			},
		});
	});
	addEventListener("beforeunload", event => { if (initial.size && changed().length) event.preventDefault(); });
	watch();
	search();
	strip();
	return {refresh: () => location.reload()};
}

const fieldOf = key => document.querySelector('.field[data-key="' + CSS.escape(key) + '"]');

// valueOf is a control's value as the API takes it. What is no number goes as
// it was written, for the answer to say what is wrong with it.
function valueOf(c) {
	const kind = c.closest(".field").dataset.kind, text = c.value.trim();
	if (kind === "bool") return text === "true";
	if (["int", "float", "seconds"].includes(kind) && text !== "" && Number.isFinite(Number(text))) return Number(text);
	return text;
}

function clear(field) {
	field?.querySelector(".problem")?.remove();
	field?.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
}

// refused shows what is wrong, beside the fields that are named.
function refused(failed) {
	let first = null;
	for (const p of failed.problems) {
		const field = fieldOf(p.key), control = field?.querySelector("[name]");
		if (!control) continue;
		clear(field);
		control.setAttribute("aria-invalid", "true");
		field.querySelector(".value").append(el("p", {class: "problem"}, "Wanted: " + p.want + "." + (p.fix ? " " + p.fix : "")));
		first ??= control;
	}
	const dialog = ask({title: "Nothing was changed", body: [el("p", {class: "failed", role: "alert"}, failed.message)], cancel: "Back to the form"});
	dialog.addEventListener("close", () => (first || $("review")).focus());
}

// diff shows what a change comes to.
export function diff(would) {
	const cell = (text, tag) => el("td", {role: "cell"}, el(tag, {}, text === "" ? "empty" : text));
	const parts = [];
	if (would.changed.length) {
		parts.push(el("div", {class: "frame diff"}, el("table", {class: "rows plain", role: "table", "aria-label": "Changes"},
			el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, ["Setting", "Now", "Then"].map(t => el("th", {role: "columnheader", scope: "col"}, t)))),
			el("tbody", {role: "rowgroup"}, would.changed.map(c => el("tr", {role: "row"},
				el("td", {role: "cell"}, el("code", {}, c.key), el("span", {class: "note"}, c.from_source + " → " + c.to_source)), cell(c.from, "del"), cell(c.to, "ins")))))));
	} else {
		parts.push(el("p", {}, "This changes no value that is in force."));
	}
	if (would.affects.length) parts.push(el("h3", {}, "Whom it concerns at once"), el("ul", {}, would.affects.map(a => el("li", {}, a.text))));
	if (would.warnings.length) parts.push(el("h3", {}, "Mind"), el("ul", {}, would.warnings.map(w => el("li", {}, w))));
	return parts;
}

// search shows the fields that have all words that are looked for.
function search() {
	$("settings-q").addEventListener("input", event => {
		const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
		for (const f of document.querySelectorAll(".field")) f.hidden = !words.every(w => f.dataset.words.includes(w));
		for (const s of document.querySelectorAll("#settings > section")) {
			const fields = s.querySelectorAll(".field");
			s.hidden = words.length > 0 && (fields.length === 0 || [...fields].every(f => f.hidden));
		}
	});
}
