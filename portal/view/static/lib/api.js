// The JSON API of the portal, for its own pages.
import {$, number, rate} from "./dom.js";

export class Failed extends Error {
	constructor(message, status, problems = []) {
		super(message);
		this.status = status;
		this.problems = problems; // of settings, one for each that is no good
	}
}

// call asks the API and returns the answer; what went wrong is a Failed whose
// message is for people.
export async function call(method, path, body) {
	const headers = {Accept: "application/json"};
	if (method !== "GET") headers["X-CSRF-Token"] = document.querySelector("meta[name=csrf-token]").content;
	if (body !== undefined) headers["Content-Type"] = "application/json";
	let answer, text;
	try {
		answer = await fetch("/api/" + path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", credentials: "same-origin"});
		text = await answer.text();
	} catch {
		throw new Failed("Concert cannot be reached. It may be restarting; this page keeps trying.", 0);
	}
	let value;
	try { value = JSON.parse(text); } catch { value = {}; }
	if (answer.status === 401) {
		location.assign("/"); // the session has ended: ask for the password
		throw new Failed("Your session has ended.", 401);
	}
	if (!answer.ok) throw new Failed(value.error || "Concert answered with status " + answer.status + ".", answer.status, value.problems);
	return value;
}

export const query = params => new URLSearchParams(Object.entries(params).filter(([, v]) => v !== "" && v != null)).toString();

// showStatus puts the state of the room wherever the page shows it.
export function showStatus(s) {
	if (!s) return;
	for (const e of document.querySelectorAll("[data-status]")) {
		const value = s[e.dataset.status];
		const text = typeof value !== "number" ? String(value) : e.dataset.status === "admissions_per_second" ? rate(value) : number(value);
		if (e.textContent !== text) e.textContent = text;
		if (e.dataset.status === "room") e.dataset.room = value;
	}
	for (const g of document.querySelectorAll("[data-gauge]")) g.setAttribute("width", s.cap ? Math.min(100, 100 * s.in_flight / s.cap) : 0);
}

// offset is how far the server's clock is ahead of this one, in milliseconds.
let offset = document.documentElement.dataset.now - Date.now();
export const setNow = ms => { offset = ms - Date.now(); };
export const now = () => Date.now() + offset;

// viewer says that whoever looks may change nothing.
export const viewer = () => "viewer" in document.documentElement.dataset;

// stale marks the strip when what it shows is no longer true.
export function stale(on) {
	document.body.classList.toggle("stale", on);
	const text = on ? "Not up to date" : "";
	if ($("stale").textContent !== text) $("stale").textContent = text;
}
