// The portal's pages. Each tab is a page of its own; this brings to it what it
// needs.
import {$, el, say} from "../lib/dom.js";
import {call} from "../lib/api.js";
import {kept, toast} from "../lib/dialog.js";
import {run} from "../lib/time.js";
import {listen} from "./actions.js";

const parts = {
	overview: () => import("./overview.js"),
	queue: () => import("./queue.js"),
	settings: () => import("./settings.js"),
	rooms: () => import("./rooms.js"),
	access: document.querySelector(".strip") && (() => import("./strip.js")),
};
const table = () => import("./table.js"); // a tab that says no more is one

document.documentElement.classList.add("js");
run();
const tab = document.documentElement.dataset.tab;
let page = {refresh: () => location.reload()};
listen(() => page.refresh());
const bring = parts[tab] || ($("table") && table);
if (bring) {
	const part = await bring();
	page = part.start();
}

// Badges are copied by a click, or by the keyboard.
document.addEventListener("click", async event => {
	const badge = event.target.closest("[data-copy]");
	if (!badge) return;
	const text = badge.dataset.copy;
	if (await copy(text)) toast("Copied " + text);
	else toast("The browser does not allow copying. The address is " + text, {bad: true});
	badge.focus({preventScroll: true});
});

// copy says whether it could. Browsers have the clipboard only over HTTPS and
// on this machine; elsewhere the older way has to do.
async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const field = el("textarea", {class: "unseen", value: text, "aria-hidden": "true"});
		document.body.append(field);
		field.select();
		const done = document.execCommand("copy");
		field.remove();
		return done;
	}
}

// On a narrow screen, the tab one is on may be out of sight.
const here = document.querySelector(".tabs [aria-current]"), tabs = here?.parentElement;
if (here) tabs.scrollLeft = here.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;

// The menu closes when somebody turns to something else.
const menu = document.querySelector(".menu");
document.addEventListener("click", event => { if (!menu.contains(event.target)) menu.open = false; });
menu.addEventListener("keydown", event => {
	if (event.key !== "Escape" || !menu.open) return;
	menu.open = false;
	menu.firstElementChild.focus();
});

// "/" goes to the page's search.
document.addEventListener("keydown", event => {
	const search = $("filter") || $("settings-q");
	if (event.key !== "/" || !search || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
	event.preventDefault();
	search.focus();
	search.select();
});

const message = kept();
if (message) {
	toast(message.text, {undo: message.undo && (async () => {
		await call("POST", message.undo);
		setTimeout(() => location.reload(), 600);
		return "The change is taken back.";
	})});
	say(message.text);
}
document.documentElement.dataset.ready = "";
