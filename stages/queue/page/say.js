// What every script of these pages says things with.
const $ = id => document.getElementById(id);
const room = $("room"), words = JSON.parse($("words").textContent);
const lang = document.documentElement.lang, latin = lang + "-u-nu-latn";
const number = new Intl.NumberFormat(latin), plural = new Intl.PluralRules(lang);
const say = (key, values) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const show = (id, text) => { $(id).hidden = !text; if (text && $(id).textContent !== text) $(id).textContent = text; };
const clock = (at, seconds) => at.toLocaleTimeString(latin, {hour: "numeric", minute: "2-digit", second: seconds ? "2-digit" : undefined});

const counted = (key, n, values) => say(key + "." + plural.select(n), values);
const people = n => n < 1 ? words["ahead.none"] : counted("ahead", n, {n: number.format(n)});

// The wait as a range no narrower than what is known: three quarters to one
// and a half times the estimate. The server renders the same rule.
function range(eta) {
	if (!(eta >= 0)) return words["eta.unknown"];
	const low = Math.floor(eta * 3 / 4), high = Math.ceil(eta * 3 / 2);
	if (high <= 60) return words["eta.soon"];
	const [unit, step, key] = high <= 1200 ? [60, 1, "eta.minutes"] : high <= 5400 ? [60, 5, "eta.minutes"] : [3600, 1, "eta.hours"];
	const top = Math.ceil(high / unit / step) * step;
	return counted(key, top, {low: number.format(Math.max(1, Math.floor(low / unit / step) * step)), high: number.format(top)});
}

// What the operator has to say.
function message(text, level) {
	const box = $("message");
	box.hidden = !text;
	if (!text) return;
	level = level === "warning" ? "warning" : "info";
	box.className = "note " + level;
	$("message-label").textContent = words["js." + level];
	if ($("message-text").textContent !== text) $("message-text").textContent = text;
}
