// Returns what hinders people on the page as it stands, one line each: the
// checks of WCAG 2.2 level AA that a program can make.
(() => {
const problems = [];
const report = (what, e) => problems.push(what + ": " + e.outerHTML.slice(0, 120));
// Nothing outside a dialog that is open can be reached.
const dialog = document.querySelector("dialog:modal"), part = dialog || document;
const all = selector => [...part.querySelectorAll(selector)];
const visible = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
const root = document.documentElement;

if (!root.lang) problems.push("3.1.1 the page has no language");
if (!document.title.trim()) problems.push("2.4.2 the page has no title");
if (/user-scalable=no|maximum-scale/.test(document.querySelector("meta[name=viewport]").content)) problems.push("1.4.4 the page cannot be enlarged");
if (root.scrollWidth > innerWidth) problems.push("1.4.10 the page is " + root.scrollWidth + " wide on a screen of " + innerWidth);

const ids = all("[id]").map(e => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push("4.1.1 two elements are called " + id);
for (const e of all("[aria-labelledby],[aria-describedby],[aria-controls]"))
	for (const name of ["aria-labelledby", "aria-describedby", "aria-controls"])
		for (const id of (e.getAttribute(name) || "").split(" ")) if (id && !document.getElementById(id)) report("1.3.1 it names something that is not there", e);

if (!dialog && all("main").filter(visible).length !== 1) problems.push("1.3.1 there is not one main part");
const headings = all("h1,h2,h3,h4,h5,h6").filter(visible).map(e => Number(e.tagName[1]));
if (!dialog && headings.filter(n => n === 1).length !== 1) problems.push("1.3.1 there is not one main heading");
headings.forEach((n, i) => { if (n > (headings[i - 1] || (dialog ? 1 : 0)) + 1) problems.push("1.3.1 a heading of level " + n + " follows one of " + (headings[i - 1] || 0)); });

const nameOf = e => (e.getAttribute("aria-label") || [...(e.labels || [])].map(l => l.textContent).join(" ") || e.textContent || e.getAttribute("alt") || "").trim();
const controls = all("a[href],button,input,select,summary,textarea").filter(visible);
for (const e of controls) {
	if (!nameOf(e)) report("4.1.2 it has no name", e);
	const boxes = [e, ...(e.labels || [])].map(p => p.getBoundingClientRect()), inText = e.tagName === "A" && getComputedStyle(e).display === "inline";
	if (!inText && !boxes.some(b => b.width >= 24 && b.height >= 24)) report("2.5.8 it is only " + Math.round(boxes[0].width) + "×" + Math.round(boxes[0].height), e);
	e.focus({focusVisible: true, preventScroll: true});
	const style = getComputedStyle(e);
	if (document.activeElement !== e) report("2.1.1 it cannot be focused", e);
	else if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) report("2.4.7 its focus cannot be seen", e);
	e.blur();
}
for (const e of all("progress,[role=progressbar],[role=img]")) if (!nameOf(e)) report("4.1.2 it has no name", e);
for (const e of all("img")) if (!e.hasAttribute("alt")) report("1.1.1 it has no text", e);
for (const e of all("fieldset")) if (!e.querySelector("legend")) report("1.3.1 it has no legend", e);
for (const e of all("dl")) if (!e.querySelector("dt") || !e.querySelector("dd")) report("1.3.1 it is no list", e);
for (const e of all("ul,ol")) if ([...e.children].some(c => c.tagName !== "LI")) report("1.3.1 it holds more than items", e);
for (const e of all("[tabindex]")) if (e.tabIndex > 0) report("2.4.3 it jumps the order", e);
for (const e of all("[role=status],[aria-live]")) if (e.getAttribute("aria-live") === "assertive") report("4.1.3 it interrupts", e);
for (const e of all("[lang]")) { try { new Intl.Locale(e.lang); } catch { report("3.1.2 it is in no language", e); } }

// Contrast of text with what is behind it.
const parse = color => {
	const [r, g, b, a = 1] = color.match(/[\d.]+(e-\d+)?/g).map(Number), full = color.startsWith("color(") ? 255 : 1;
	return {r: r * full, g: g * full, b: b * full, a};
};
const over = (top, below) => ({r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a), b: top.b * top.a + below.b * (1 - top.a), a: 1});
const behind = e => {
	const layers = [];
	for (; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
	return layers.reverse().reduce((below, top) => over(top, below), {r: 255, g: 255, b: 255, a: 1});
};
const light = c => [c.r, c.g, c.b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const texts = document.createTreeWalker(dialog || document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
	const e = texts.currentNode.parentElement;
	if (!texts.currentNode.data.trim() || !visible(e) || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName)) continue;
	const style = getComputedStyle(e), size = parseFloat(style.fontSize), back = behind(e);
	const large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
	const ratio = contrast(over(parse(style.color), back), back);
	if (ratio < (large ? 3 : 4.5)) report("1.4.3 its contrast is " + ratio.toFixed(2), e);
}
// What shows a control's edge or state: 3 to 1.
for (const e of all("button").filter(visible)) {
	const back = behind(e.parentElement), ratio = contrast(over(parse(getComputedStyle(e).borderTopColor), back), back);
	if (ratio < 3) report("1.4.11 its edge has a contrast of " + ratio.toFixed(2), e);
}
return problems.join("\n");
})()
