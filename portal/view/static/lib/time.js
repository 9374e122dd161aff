// Times: the server sends Unix milliseconds, and this writes them as people
// read them, every second anew where they run.
import {now} from "./api.js";

export function span(ms) {
	const s = Math.max(0, Math.floor(ms / 1000)), two = n => String(n).padStart(2, "0");
	if (s >= 86400) return Math.floor(s / 86400) + "d " + Math.floor(s % 86400 / 3600) + "h";
	if (s >= 3600) return Math.floor(s / 3600) + "h " + two(Math.floor(s % 3600 / 60)) + "m";
	if (s >= 60) return Math.floor(s / 60) + "m " + two(s % 60) + "s";
	return s + "s";
}

const day = new Intl.DateTimeFormat("en", {month: "short", day: "numeric"});
const clock = new Intl.DateTimeFormat("en", {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23"});

// moment writes a point in time in the reader's own zone, with the day unless
// it is today.
export function moment(ms) {
	const at = new Date(ms), today = new Date(now());
	const text = clock.format(at);
	if (at.toDateString() === today.toDateString()) return text;
	return day.format(at) + (at.getFullYear() === today.getFullYear() ? "" : " " + at.getFullYear()) + ", " + text;
}

export const clockTime = ms => clock.format(new Date(ms));

// show writes all times below an element.
export function show(root = document) {
	const t = now();
	const put = (e, text) => { if (e.textContent !== text) e.textContent = text; };
	for (const e of root.querySelectorAll("time[data-ms]")) put(e, moment(+e.dataset.ms));
	for (const e of root.querySelectorAll("[data-since]")) put(e, span(t - e.dataset.since));
	for (const e of root.querySelectorAll("[data-ago]")) put(e, span(t - e.dataset.ago) + " ago");
	for (const e of root.querySelectorAll("[data-until]")) put(e, span(e.dataset.until - t));
}

export function run() {
	show();
	setInterval(() => { if (!document.hidden) show(); }, 1000);
}
