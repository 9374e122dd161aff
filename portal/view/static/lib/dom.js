// Elements without markup: text from strangers is only ever text.

export const $ = id => document.getElementById(id);

// el makes an element. Names with a dash, and the few that are attributes, are
// set as attributes; false and null leave them out; on… is a listener.
export function el(tag, props = {}, ...children) {
	const e = document.createElement(tag);
	set(e, props);
	e.append(...children.flat().filter(c => c != null && c !== false));
	return e;
}

// svg makes an element of a drawing.
export function svg(tag, props = {}, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
	set(e, props);
	e.append(...children.flat().filter(c => c != null));
	return e;
}

function set(e, props) {
	for (const [name, value] of Object.entries(props)) {
		if (value == null || value === false) continue;
		if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
		else if (name === "text") e.textContent = value;
		else if (name === "value") e.value = value;
		else e.setAttribute(name, value === true ? "" : value);
	}
}

// parse takes what the server's templates rendered into nodes. Scripts in it
// would not run, and the page's policy forbids them besides.
export function parse(html, rows = false) {
	const doc = new DOMParser().parseFromString(rows ? "<table><tbody>" + html + "</tbody></table>" : html, "text/html");
	const from = rows ? doc.querySelector("tbody") : doc.body;
	return [...from.children].map(e => document.importNode(e, true));
}

// calm says that somebody prefers less motion.
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const number = n => Math.round(n).toLocaleString("en");

// rate writes something per second.
export const rate = r => r > 0 && r < 10 ? r.toFixed(1) : number(r);

// say has screen readers say something, once.
export function say(text) {
	$("news").textContent = "";
	requestAnimationFrame(() => { $("news").textContent = text; });
}
