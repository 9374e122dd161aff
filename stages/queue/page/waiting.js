// What is remembered over reloads of this tab. Storage may be forbidden; then
// progress starts anew with each load and nothing else is lost.
const joined = room.dataset.joined;
let memory = {joined, start: 0, best: 0, announced: 0, reloads: []};
try {
	const kept = JSON.parse(sessionStorage.getItem("concert.line"));
	if (kept) memory = kept.joined === joined ? kept : {...memory, reloads: kept.reloads};
} catch { }
const remember = () => { try { sessionStorage.setItem("concert.line", JSON.stringify(memory)); } catch { } };

// The phase is "waiting", "turn", "elsewhere" (the turn came in another tab),
// "left" or "cookies".
let phase = "waiting", timer = 0, asking = null, failures = 0, strange = 0, confirmed = false;
let pace = Number(room.dataset.poll) || 3000, cause = null;
// low is the shortest wait told since the last time it was explained why the
// wait grew.
let last = {position: Number(room.dataset.position), eta: Number(room.dataset.eta)}, low = last.eta;

// Tabs of one visitor share one place. Whoever hears from the line tells the
// others, which then need not ask themselves.
let channel = null;
try { channel = new BroadcastChannel("concert.line"); } catch { }
const tell = (what, answer) => { if (channel) channel.postMessage({joined, what, answer}); };
if (channel) channel.onmessage = ({data}) => {
	if (data.joined !== joined || phase === "turn" || phase === "cookies") return;
	if (data.what === "left") return left();
	if (data.what === "turn") return elsewhere();
	enterPhase("waiting");
	update(data.answer);
	later(pace * 1.25);
};

const headings = {waiting: "title", turn: "js.turn-title", elsewhere: "js.turn-title", left: "left-title", cookies: "cookies-title"};

function enterPhase(next) {
	if (next !== phase) {
		$("title").textContent = words[headings[next]];
		document.title = words[headings[next]] + room.dataset.suffix;
	}
	phase = next;
	clearTimeout(timer);
	$("lead").hidden = $("waiting").hidden = next !== "waiting";
	$("turn").hidden = next !== "turn" && next !== "elsewhere";
	$("cookies").hidden = next !== "cookies";
	$("left").hidden = next !== "left";
	$("here").hidden = next !== "elsewhere";
}

function later(ms) {
	clearTimeout(timer);
	if (phase === "waiting") timer = setTimeout(ask, ms * (1 + Math.random() / 10));
}

// Somebody who merely waits never sees the number rise, even when a visitor
// ahead returns; the longer wait is told in words instead.
function place(position, ahead, eta) {
	if (!memory.start) memory.start = position;
	memory.best = memory.best ? Math.min(memory.best, position) : position;
	const shown = memory.best;
	$("position").textContent = number.format(shown);
	$("ahead").textContent = people(Math.min(ahead, shown - 1));
	$("eta").textContent = range(eta);
	document.title = number.format(shown) + " · " + words.title + room.dataset.suffix;
	const bar = $("progress");
	bar.hidden = memory.start < 2;
	bar.value = Math.round(100 * (memory.start - shown) / memory.start);
	announce(shown, eta);
	last = {position, eta};
	remember();
}

// Why the wait grew stays on the page until it is shorter again, or old. While
// the site hangs and the wait cannot be told, it is asked for again and again.
function reason(why, eta) {
	if (eta < 0 ? why === "paused" : why || low < 0 || eta < low) low = eta;
	if (why && words["js." + why]) {
		cause = {why, eta, at: Date.now()};
		show("reason", words["js." + why]);
	} else if (cause && (cause.why === "paused" || eta >= 0 && (cause.eta < 0 || eta < cause.eta * 0.8) || Date.now() - cause.at > 120000)) {
		cause = null;
		show("reason", "");
	}
}

// Screen readers hear of a change worth hearing: each of the last five places,
// and before that every tenth of the way left.
function announce(position, eta) {
	if (memory.announced && position > 5 && position > memory.announced * 0.9 || position === memory.announced) return;
	if (memory.announced) $("news").textContent = say("js.news", {position: number.format(position), eta: range(eta)});
	memory.announced = position;
}

function update(s) {
	confirm();
	pace = s.poll_after_ms || 3000;
	const eta = s.eta_seconds ?? -1;
	place(s.position, s.ahead || 0, eta);
	reason(s.reason, eta);
	message(s.message, s.message_level);
	offer(s.has_pass ? 0 : s.skip_cost);
}

// What it costs to go to the front now, where there is somewhere to pay.
function offer(price) {
	$("skip").hidden = !(price > 0) || !$("skip-link").getAttribute("href");
	$("skip-text").textContent = say("js.skip", {price: number.format(price || 0)});
}

function confirm() {
	confirmed = true;
	if (failures) $("news").textContent = words["js.back"];
	failures = strange = 0;
	show("trouble", "");
	stamp();
}

function stamp() {
	$("confirmed").textContent = clock(new Date(), true);
	$("confirmed-row").hidden = false;
}

async function ask() {
	if (phase !== "waiting" || asking) return;
	clearTimeout(timer);
	const mine = asking = new AbortController();
	const limit = setTimeout(() => mine.abort(), 15000);
	const seen = last.position + (low >= 0 ? "." + low : "");
	try {
		await hear(await fetch(room.dataset.status + "seen=" + seen, {cache: "no-store", credentials: "same-origin", signal: mine.signal, headers: {Accept: "application/json"}}));
	} catch {
		if (asking === mine) trouble(0);
	} finally {
		clearTimeout(limit);
		if (asking === mine) asking = null;
	}
}

async function hear(answer) {
	const wait = 1000 * Number(answer.headers.get("Retry-After")) || 0;
	const json = (answer.headers.get("Content-Type") || "").startsWith("application/json");
	if (!json || !answer.ok && answer.status !== 429) {
		// Not the waiting room's answer: it is restarting, or no longer there.
		if (answer.status < 500 && answer.status !== 429 && ++strange >= 3) return enter();
		return trouble(wait);
	}
	const s = await answer.json();
	if (phase !== "waiting") return;
	if (s.ready) return enter();
	if (s.cookies_required) return refused();
	if (!(s.position >= 1)) return trouble(wait);
	if (answer.status === 429) {
		confirm();
		place(s.position, s.position - 1, last.eta);
		return later(Math.max(wait, 1000));
	}
	update(s);
	tell("place", s);
	later(pace);
}

function trouble(wait) {
	failures++;
	if (failures > 1) show("trouble", words["js.offline"]);
	later(Math.max(wait, Math.min(60000, 1000 * 2 ** Math.min(failures, 6))));
}

// The turn has come. A page that is reloaded again and again without getting
// in waits longer each time, so that no misconfiguration makes a reload loop.
function enter() {
	enterPhase("turn");
	const now = Date.now();
	memory.reloads = memory.reloads.filter(at => now - at < 120000);
	const many = memory.reloads.length - 2;
	memory.reloads.push(now);
	remember();
	tell("turn");
	$("turn-text").textContent = words[many > 0 ? "js.turn-wait" : "js.turn"];
	const pause = many > 0 ? Math.min(60000, 1000 * 2 ** many) : 0;
	setTimeout(() => location.reload(), Math.max(pause, call()));
}

// A second tab must not take a second slot for the same visitor by itself.
function elsewhere() {
	enterPhase("elsewhere");
	$("turn-text").textContent = words["js.elsewhere"];
	$("here").textContent = words["js.here"];
}

// A cookie that once worked has only run out (the computer slept): join again.
// One that never worked is final.
function refused() {
	if (confirmed) return enter();
	enterPhase("cookies");
}

function left() {
	enterPhase("left");
	memory.joined = "";
	remember();
}

function cookiesWork() {
	try { return /(?:^|;\s*)room_probe=/.test(document.cookie); } catch { return false; }
}

$("leave").addEventListener("submit", async event => {
	event.preventDefault();
	try {
		const answer = await fetch($("leave").action, {method: "POST", credentials: "same-origin"});
		if (!answer.ok) throw 0;
		tell("left");
		left();
		$("title").focus();
	} catch {
		$("leave").submit();
	}
});

for (const link of document.querySelectorAll(".languages a")) link.addEventListener("click", async event => {
	if (event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	try {
		await fetch(link.href, {redirect: "manual", credentials: "same-origin"});
		location.reload();
	} catch {
		location.href = link.href;
	}
});
const menu = document.querySelector(".languages");
if (menu) {
	addEventListener("keydown", event => {
		if (event.key !== "Escape" || !menu.open) return;
		menu.open = false;
		menu.firstElementChild.focus();
	});
	addEventListener("click", event => { if (!menu.contains(event.target)) menu.open = false; });
}

const now = () => ask();
document.addEventListener("visibilitychange", () => { if (!document.hidden) now(); });
addEventListener("online", now);
addEventListener("pageshow", event => {
	if (!event.persisted || phase === "left") return;
	// Restored from the back/forward cache: whatever it shows is old.
	if (asking) asking.abort();
	asking = null;
	enterPhase("waiting");
	now();
});

if (!cookiesWork()) return refused();
const arrived = Number(joined);
if (arrived > 0) {
	$("since").textContent = clock(new Date(arrived), false);
	$("since-row").hidden = false;
}
$("alerts").hidden = false;
place(last.position, last.position - 1, last.eta);
// A page that was not told when to ask knows nothing yet but its place.
if (joined) stamp();
later(joined ? pace : 1000);
