// The charts of the last hour, drawn by hand. Lines differ in color and in
// their strokes, and carry their names. One cursor goes through all of them,
// by pointer or by keyboard, and the legends tell the values under it.
import {el, number, rate, svg} from "../lib/dom.js";
import {now} from "../lib/api.js";
import {clockTime, span} from "../lib/time.js";

const minute = 60e3, hour = 60 * minute, reasons = 5;
const margin = {left: 46, right: 74, top: 8, bottom: 20};
let chosen = 0; // minutes that are shown; 0: what there is to see
let cursor = null; // the time under it; null: the latest
let latest = null; // the series that are drawn

// extend adds measurements to those that are known, and forgets old ones.
export function extend(series, more) {
	for (const name of ["at", "in_flight", "cap", "waiting", "admissions", "wait_p50", "wait_p95", "origin_p50", "origin_p95"]) more[name] ??= []; // nothing new
	if (!series || !series.at.length || more.step_ms !== series.step_ms) return more;
	const known = series.at.length, first = more.at.findIndex(t => t > series.at[known - 1]);
	const fresh = first < 0 ? more.at.length : first;
	const old = series.at.findIndex(t => t >= (more.at.at(-1) ?? series.at.at(-1)) - hour);
	const join = (a = [], b = []) => {
		const head = a.length ? a : new Array(known).fill(0);
		const tail = b.length ? b : new Array(more.at.length).fill(0);
		return head.concat(tail.slice(fresh)).slice(old);
	};
	const out = {step_ms: more.step_ms, refused: {}};
	for (const name of Object.keys(more)) if (Array.isArray(more[name])) out[name] = join(series[name], more[name]);
	for (const reason of new Set([...Object.keys(series.refused), ...Object.keys(more.refused)])) out.refused[reason] = join(series.refused[reason], more.refused[reason]);
	return out;
}

// linesOf returns what a chart draws: name, values, style.
function linesOf(figure, series) {
	if (figure.dataset.lines !== "refused") {
		return figure.dataset.lines.split("|").map((line, i) => {
			const [key, name] = line.split(":");
			return {name, values: series[key], style: "k" + (i + 1) + " d" + (i + 1), step: key === "cap"};
		});
	}
	const sum = values => values.reduce((a, b) => a + Math.max(0, b), 0);
	const all = Object.entries(series.refused).map(([name, values]) => ({name, values, sum: sum(values)})).filter(l => l.sum > 0);
	all.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
	const shown = all.slice(0, reasons), rest = all.slice(reasons);
	if (rest.length) shown.push({name: "other", values: series.at.map((_, i) => rest.reduce((s, l) => s + Math.max(0, l.values[i]), 0))});
	return shown.map((l, i) => ({...l, style: "k" + (i + 1) + " d" + (i + 1)}));
}

function format(value, unit) {
	if (value == null || value < 0) return "–";
	if (unit === "ms") return value < 10000 ? number(value) + " ms" : span(value);
	if (unit === "/s") return rate(value);
	return number(value);
}

// ceiling is the round number at or above the largest value.
function ceiling(most, unit) {
	if (most <= 0) return 1;
	if (unit === "ms" && most > 30000) return 60000 * ([1, 2, 4, 6, 10, 20, 30, 60, 120, 240, 480, 1440].find(m => m * 60000 >= most * 1.02) ?? Math.ceil(most / 60000));
	const power = 10 ** Math.floor(Math.log10(most));
	return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10, 12].map(f => f * power).find(v => v >= most * 1.02);
}

// axis writes a value shortly.
function axis(value, unit) {
	if (value === 0) return "0";
	if (unit === "ms") return value >= 60000 ? +(value / 60000).toFixed(1) + " min" : value >= 1000 ? +(value / 1000).toFixed(1) + " s" : +value.toFixed(value < 10 ? 1 : 0) + " ms";
	return value >= 1000 ? +(value / 1000).toFixed(1) + "k" : String(+value.toFixed(2));
}

// shown is how long a time the charts show, in milliseconds: an hour, or less
// while less has been measured.
function shown(series) {
	const age = series.at.length ? now() - series.at[0] : 0;
	return (chosen || [5, 15, 60].find(m => m * minute >= age) || 60) * minute;
}

export function draw(series) {
	latest = series;
	for (const radio of document.querySelectorAll("#spans input")) radio.checked = radio.value * minute === shown(series);
	for (const figure of document.querySelectorAll(".chart")) drawOne(figure, series);
	point();
}

function drawOne(figure, series) {
	const plot = figure.querySelector(".plot"), unit = figure.dataset.unit;
	const w = plot.clientWidth, h = plot.clientHeight;
	const lines = linesOf(figure, series);
	const end = Math.max(now(), series.at.at(-1) ?? 0), span = shown(series), begin = end - span;
	const top = ceiling(Math.max(0, ...lines.flatMap(l => l.values.filter((_, i) => series.at[i] >= begin))), unit);
	const x = t => margin.left + (t - begin) / span * (w - margin.left - margin.right);
	const y = v => h - margin.bottom - v / top * (h - margin.top - margin.bottom);
	const drawing = svg("svg", {viewBox: "0 0 " + w + " " + h, "aria-hidden": "true"});
	for (const part of [0, .5, 1]) {
		const at = Math.round(y(top * part)) + .5;
		drawing.append(svg("line", {class: part ? "grid" : "base", x1: margin.left, x2: w - margin.right, y1: at, y2: at}),
			svg("text", {x: margin.left - 6, y: at + 4, "text-anchor": "end"}, axis(top * part, unit)));
	}
	for (const part of w < 460 ? [1, .5, 0] : [1, .75, .5, .25, 0]) {
		const text = part === 0 ? "now" : "−" + +(part * span / minute).toFixed(1) + " min";
		drawing.append(svg("text", {x: x(end - part * span), y: h - 4, "text-anchor": part === 1 ? "start" : "middle"}, text));
	}
	if (!lines.length || !series.at.length) {
		drawing.append(svg("text", {class: "none", x: (margin.left + w - margin.right) / 2, y: h / 2, "text-anchor": "middle"}, series.at.length ? "Nothing was refused." : "Nothing has been measured yet."));
	}
	const names = [];
	for (const line of lines) {
		const d = path(line, series, begin, x, y);
		if (lines.length === 1) drawing.append(svg("path", {class: "area " + line.style, d: area(line, series, begin, x, y)}));
		drawing.append(svg("path", {class: "line " + line.style, d}));
		names.push({line, y: y(line.values.findLast(v => v >= 0) ?? 0)});
	}
	spread(names, margin.top + 6, h - margin.bottom);
	for (const n of names) drawing.append(svg("text", {class: "name", x: w - margin.right + 6, y: n.y + 4}, n.line.name.length > 12 ? n.line.name.slice(0, 11) + "…" : n.line.name));
	const mark = svg("g", {class: "mark"});
	drawing.append(mark);
	plot.replaceChildren(drawing);
	Object.assign(figure, {lines, geometry: {x, y, h, mark, begin, end}});
	const signature = lines.map(l => l.name).join();
	if (figure.signature !== signature) legend(figure, lines);
	figure.signature = signature;
}

function path(line, series, begin, x, y) {
	let d = "", pen = false, before = 0;
	line.values.forEach((v, i) => {
		const t = series.at[i];
		if (t < begin) return;
		if (v < 0 || t - before > 4 * series.step_ms) pen = false; // what was not measured is not drawn
		before = t;
		if (v < 0) return;
		const px = x(t).toFixed(1), py = y(v).toFixed(1);
		d += !pen ? "M" + px + " " + py : line.step ? "H" + px + "V" + py : "L" + px + " " + py;
		pen = true;
	});
	return d;
}

function area(line, series, begin, x, y) {
	const shown = series.at.map((t, i) => [t, line.values[i]]).filter(([t, v]) => t >= begin && v >= 0);
	if (!shown.length) return "";
	return "M" + x(shown[0][0]) + " " + y(0) + shown.map(([t, v]) => "L" + x(t).toFixed(1) + " " + y(v).toFixed(1)).join("") + "L" + x(shown.at(-1)[0]) + " " + y(0) + "Z";
}

// spread moves names apart that would lie on each other.
function spread(names, top, bottom) {
	names.sort((a, b) => a.y - b.y);
	names.forEach((n, i) => { n.y = Math.max(n.y, i ? names[i - 1].y + 13 : top); });
	for (let i = names.length - 1; i >= 0; i--) names[i].y = Math.min(names[i].y, i === names.length - 1 ? bottom : names[i + 1].y - 13);
}

function legend(figure, lines) {
	const sample = style => svg("svg", {viewBox: "0 0 24 8"}, svg("line", {class: style + " line", x1: 1, x2: 23, y1: 4, y2: 4, "stroke-width": 2}));
	figure.querySelector(".legend").replaceChildren(el("span", {class: "at"}), ...lines.map(l => el("span", {}, sample(l.style), l.name + " ", el("b"))));
}

// index is the measurement at the cursor, or the latest. What was under it and
// is too old by now to be shown leaves it at the oldest that is.
function index() {
	if (!latest || !latest.at.length) return -1;
	if (cursor === null) return latest.at.length - 1;
	let best = 0;
	latest.at.forEach((t, i) => { if (Math.abs(t - cursor) < Math.abs(latest.at[best] - cursor)) best = i; });
	return Math.max(best, earliest());
}

// earliest is the first measurement that is shown.
function earliest() {
	const begin = document.querySelector(".chart").geometry?.begin ?? 0;
	return Math.max(0, latest ? latest.at.findIndex(t => t >= begin) : 0);
}

// point shows the values under the cursor, in all charts.
function point() {
	const i = index();
	for (const figure of document.querySelectorAll(".chart")) {
		if (!figure.geometry) continue;
		const plot = figure.querySelector(".plot"), unit = figure.dataset.unit;
		const values = figure.lines.map(l => format(l.values[i], unit));
		figure.querySelectorAll(".legend b").forEach((b, k) => { if (b.textContent !== values[k]) b.textContent = values[k]; });
		const at = figure.querySelector(".legend .at");
		if (at) at.textContent = cursor === null || i < 0 ? "" : clockTime(latest.at[i]);
		plot.setAttribute("aria-valuemin", earliest());
		plot.setAttribute("aria-valuemax", Math.max(0, latest ? latest.at.length - 1 : 0));
		plot.setAttribute("aria-valuenow", Math.max(0, i));
		plot.setAttribute("aria-valuetext", i < 0 ? "nothing has been measured yet" : clockTime(latest.at[i]) + (figure.lines.length ? ": " : ": nothing") + figure.lines.map((l, k) => l.name + " " + values[k]).join(", "));
		const {x, y, h, mark, begin} = figure.geometry;
		mark.replaceChildren();
		if (cursor === null || i < 0 || latest.at[i] < begin) continue;
		const px = x(latest.at[i]);
		mark.append(svg("line", {class: "cursor", x1: px, x2: px, y1: margin.top, y2: h - margin.bottom}));
		for (const l of figure.lines) if (l.values[i] >= 0) mark.append(svg("circle", {class: l.style.split(" ")[0], cx: px, cy: y(l.values[i]), r: 3.5}));
	}
}

// focusCharts lets pointer and keyboard move the cursor.
export function focusCharts() {
	const charts = document.getElementById("charts");
	const timeAt = (figure, clientX) => {
		const box = figure.querySelector(".plot").getBoundingClientRect(), {begin, end} = figure.geometry;
		const share = (clientX - box.left - margin.left) / (box.width - margin.left - margin.right);
		return begin + Math.min(1, Math.max(0, share)) * (end - begin);
	};
	const spans = document.getElementById("spans");
	spans.hidden = false;
	spans.addEventListener("change", event => {
		chosen = Number(event.target.value);
		if (latest) draw(latest);
	});
	charts.addEventListener("pointermove", event => {
		const plot = event.target.closest(".plot");
		if (!plot || !latest) return;
		cursor = timeAt(plot.closest(".chart"), event.clientX);
		point();
	});
	charts.addEventListener("pointerleave", () => { if (!charts.contains(document.activeElement)) { cursor = null; point(); } });
	charts.addEventListener("focusout", () => { cursor = null; point(); });
	charts.addEventListener("keydown", event => {
		if (!event.target.matches(".plot") || !latest || !latest.at.length) return;
		const last = latest.at.length - 1, i = index(), steps = Math.max(1, Math.round(minute / latest.step_ms));
		const to = {ArrowLeft: i - 1, ArrowDown: i - 1, ArrowRight: i + 1, ArrowUp: i + 1, PageDown: i - steps, PageUp: i + steps, Home: earliest(), End: last}[event.key];
		if (event.key === "Escape") cursor = null;
		else if (to === undefined) return;
		else cursor = latest.at[Math.min(last, Math.max(earliest(), to))];
		event.preventDefault();
		point();
	});
}
