const id = room.dataset.room, key = "concert.room." + id;
const mostHanded = 2;

// The place is what this browser keeps of it: the queue token, which each poll
// replaces, and the secret that brings a lost one back. Storage may be
// forbidden; then the place lasts as long as the page.
let own = null;
const load = () => { try { own = JSON.parse(localStorage.getItem(key)) || own; } catch { } return own; };
const keep = place => {
	own = place;
	try { place ? localStorage.setItem(key, JSON.stringify(place)) : localStorage.removeItem(key); } catch { }
};

let timer = 0, failures = 0, busy = false, pending = false, entering = false, announced = 0, messages = [], turn = 0;

async function request(method, path, body, token) {
	const headers = {Accept: "application/json"};
	if (body) headers["Content-Type"] = "application/json";
	if (token) headers.Authorization = "Bearer " + token;
	const answer = await fetch("/api/v1/queue/" + path, {method, headers, cache: "no-store", credentials: "omit",
		body: body && JSON.stringify(body), signal: AbortSignal.timeout(15000)});
	const json = (answer.headers.get("Content-Type") || "").startsWith("application/json") ? await answer.json() : {};
	return {status: answer.status, wait: 1000 * Number(answer.headers.get("Retry-After")) || 0, ...json};
}

function later(ms) {
	clearTimeout(timer);
	if (!entering) timer = setTimeout(ask, ms * (1 + Math.random() / 10));
}

function trouble(wait, closed) {
	failures++;
	show("closed", closed ? words["room.closed"] : "");
	show("trouble", failures > 1 && !closed ? words["js.offline"] : "");
	later(Math.max(wait, Math.min(60000, 1000 * 2 ** Math.min(failures, 6))));
}

// Tabs of one browser share the place, and each token is good for one poll: one
// tab at a time asks, with what the last one left.
const alone = work => navigator.locks ? navigator.locks.request(key, work) : work();

// Whoever wants to ask meanwhile is heard afterwards: the lock is given back a
// moment after the work is done.
async function ask() {
	if (entering) return;
	if (busy) {
		pending = true;
		return;
	}
	clearTimeout(timer);
	busy = true;
	try {
		await alone(step);
	} catch {
		trouble(0);
	} finally {
		busy = false;
		if (pending) later(0);
		pending = false;
	}
}

async function step() {
	if (!load()) return join();
	const s = await request("GET", "status", null, own.queue_token);
	if (s.status === 401) return resume();
	if (s.status === 410 || s.status === 404) return again();
	if (s.status !== 200) return trouble(s.wait, s.code === "room_closed");
	keep({...own, queue_token: s.queue_token});
	told();
	if (s.admitted) return enter();
	place(s);
	later(1000 * s.poll_after_sec);
}

async function join() {
	const s = await request("POST", "join", {room: id});
	if (s.status !== 200) return trouble(s.wait, s.code === "room_closed");
	keep({queue_token: s.queue_token, resume_secret: s.resume_secret, joined: Date.now(), handed: 0});
	told();
	later(0);
}

// Whoever else has the token has made it worthless; the secret is ours alone.
async function resume() {
	const s = await request("POST", "resume", {resume_secret: own.resume_secret});
	if (s.status === 401 || s.status === 410 || s.status === 404) return again();
	if (s.status !== 200) return trouble(s.wait, s.code === "room_closed");
	keep({...own, queue_token: s.queue_token});
	later(1000);
}

// The place is over: a used one, or one of a line that began anew.
function again() {
	keep(null);
	later(500);
}

// A site that sends its visitor back here took the token and did not keep them;
// that must not go round for ever.
async function enter() {
	if (own.handed >= mostHanded) return again();
	const s = await request("POST", "token", {return: room.dataset.return}, own.queue_token);
	if (s.status === 410) return again();
	if (s.status !== 200) return later(Math.max(s.wait, 2000));
	keep({...own, handed: own.handed + 1});
	entering = true;
	$("waiting").hidden = $("lead").hidden = true;
	$("title").textContent = document.title = words["js.turn-title"];
	show("turn", words["js.turn"]);
	setTimeout(() => location.replace(s.redirect_url), call());
}

function told() {
	if (failures > 1) $("news").textContent = words["js.back"];
	failures = 0;
	show("trouble", "");
	show("closed", "");
}

function place(s) {
	const eta = s.eta_sec ?? -1, position = s.position;
	if (!own.start) keep({...own, start: position});
	$("waiting").hidden = false;
	$("position").textContent = number.format(position);
	$("ahead").textContent = people(s.ahead);
	$("eta").textContent = range(eta);
	document.title = number.format(position) + " · " + words.title + named;
	$("progress").hidden = own.start < 2;
	$("progress").value = Math.round(100 * Math.max(0, own.start - position) / own.start);
	$("since").textContent = clock(new Date(own.joined), false);
	$("confirmed").textContent = clock(new Date(), true);
	$("since-row").hidden = $("confirmed-row").hidden = false;
	show("reason", s.room_status === "open" ? "" : words["js.paused"]);
	if (announced && (position <= 5 || position <= announced * 0.9) && position !== announced)
		$("news").textContent = say("js.news", {position: number.format(position), eta: range(eta)});
	if (!announced || position <= 5 || position <= announced * 0.9) announced = position;
}

// What operators have to say, one after the other.
async function hearMessages() {
	try {
		const answer = await fetch("/api/v1/queue/messages?room=" + encodeURIComponent(id) + "&lang=" + lang, {credentials: "omit"});
		if (answer.ok) messages = (await answer.json()).messages;
	} catch { }
	if (messages.length < 2 || !turn) rotate();
}

function rotate() {
	const m = messages[turn++ % messages.length];
	message(m?.text, m?.level);
}

const named = (room.dataset.name ? " · " + room.dataset.name : "") + room.dataset.suffix;
document.title = words.title + named;
$("alerts").hidden = false;
for (const link of document.querySelectorAll(".languages a")) {
	const to = new URL(location.href);
	to.searchParams.set("lang", link.lang);
	link.href = to.href;
}
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
addEventListener("online", ask);
addEventListener("pageshow", event => {
	if (!event.persisted) return;
	entering = false;
	ask();
});
ask();
hearMessages();
setInterval(hearMessages, 30000);
setInterval(() => { if (messages.length > 1) rotate(); }, 8000);
