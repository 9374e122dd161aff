// Keeps a site for those who have waited in an off-site room of Concert.
//
//     import {gate} from "./gate.mjs";
//
//     const enter = gate({waitingRoomURL: "https://wait.example", room: "demo", sessionKey});
//     createServer((req, res) => enter(req, res, visitor => { … }));
//
// enter calls back for somebody who may pass, with {ticket, until}. Everybody
// else is answered: redirected to the waiting room, or from an address with a
// token to the same one without it. With Express, app.use((req, res, next) =>
// enter(req, res, visitor => { req.visitor = visitor; next(); })) before all else.
//
// Further options: audience (the room), jwksURL, validateURL (takes each token
// once), cookie, secure (marks the cookie Secure).
//
// Needs Node 18 or newer and no packages.

import {createHmac, createPublicKey, timingSafeEqual, verify} from "node:crypto";

const type = "concert-access+jwt";
const leeway = 30; // seconds that clocks may be apart
const keepKeys = 300_000, lookAgain = 10_000; // milliseconds

/** It cannot be told whether a token is good. */
export class Unavailable extends Error {}

export function gate(options) {
	const o = complete(options);
	const keys = new Keys(o.jwksURL);
	return async (req, res, next) => {
		const reading = req.method === "GET" || req.method === "HEAD";
		const {own, token} = address(req.originalUrl ?? req.url);
		const visitor = session(o, req.headers.cookie);
		if (visitor && !(token && reading)) return next(visitor);
		res.setHeader("Cache-Control", "no-store");
		res.setHeader("Referrer-Policy", "no-referrer"); // the address may hold a token
		if (visitor) return redirect(res, own, 303); // back from the waiting room once more
		try {
			const claims = token && reading && await check(o, keys, token, Date.now() / 1000);
			if (claims && await spend(o, token)) {
				res.setHeader("Set-Cookie", begin(o, claims, req));
				return redirect(res, own, 303);
			}
		} catch (error) {
			if (!(error instanceof Unavailable)) throw error;
			console.error("concert gate:", error.message);
			res.setHeader("Retry-After", "5");
			return say(res, 503, "One moment, please", "We cannot check your turn just now. Please reload this page in a few seconds; your place is kept.");
		}
		if (!reading) return say(res, 403, "Nothing was sent", "This site has a waiting room, and your visit has not passed it, or has come to its end. Please open the page anew and wait for your turn.");
		redirect(res, o.waitingRoomURL.replace(/\/+$/, "") + "/?" + new URLSearchParams({room: o.room, return: own}), 302);
	};
}

function complete(o) {
	for (const name of ["waitingRoomURL", "room"]) if (!o[name]) throw new TypeError(`concert gate: the option ${name} is missing`);
	if (!o.sessionKey || Buffer.byteLength(o.sessionKey) < 32) throw new TypeError("concert gate: sessionKey needs at least 32 bytes");
	return {
		...o, audience: o.audience || o.room, cookie: o.cookie || "concert_access",
		jwksURL: o.jwksURL || o.waitingRoomURL.replace(/\/+$/, "") + "/.well-known/jwks.json",
	};
}

// The address without its access token, as a path on this origin: one that
// begins with two slashes would name another.
export function address(uri) {
	uri = uri.replace(/^[a-z]+:\/\/[^/?]*/i, "").replace(/#.*/s, "");
	const cut = uri.indexOf("?");
	const path = cut < 0 ? uri : uri.slice(0, cut), query = cut < 0 ? "" : uri.slice(cut + 1);
	let token = null;
	const kept = query.split("&").filter(pair => {
		const [name, value = ""] = [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)];
		if (name !== "token" || !header(value)) return pair !== "";
		token = value;
		return false;
	});
	return {own: "/" + path.replaceAll("\\", "%5C").replace(/^\/+/, "") + (kept.length ? "?" + kept.join("&") : ""), token};
}

const decode = text => /^[\w-]*$/.test(text) ? Buffer.from(text, "base64url") : null;
const parse = bytes => { try { return JSON.parse(bytes); } catch { return null; } };

// The header of what looks like an access token.
function header(token) {
	const parts = token.split(".");
	if (parts.length !== 3 || token.length > 4096) return null;
	const h = parse(decode(parts[0]));
	return h?.typ === type ? h : null;
}

// Checks a token offline. Only EdDSA with a published key is ever tried.
async function check(o, keys, token, now) {
	const h = header(token);
	if (!h || h.alg !== "EdDSA" || h.crit !== undefined || typeof h.kid !== "string") return null;
	const key = await keys.get(h.kid);
	const [head, body, signature] = token.split(".");
	const bytes = decode(signature);
	if (!key || !bytes || !verify(null, Buffer.from(head + "." + body), key, bytes)) return null;
	const c = parse(decode(body));
	const good = c && c.iss === "concert" && [c.aud].flat().includes(o.audience) && c.room === o.room &&
		Number.isInteger(c.exp) && c.exp > now - leeway && Number.isInteger(c.iat) && c.iat <= now + leeway &&
		(c.nbf ?? 0) <= now + leeway && Number.isInteger(c.ticket);
	return good ? c : null;
}

// The waiting room's public keys, kept for five minutes and, should they not be
// there then, for as long as that lasts.
class Keys {
	constructor(url) {
		Object.assign(this, {url, known: new Map(), fetched: -Infinity, tried: -Infinity, fetching: null});
	}
	async get(id) {
		const now = Date.now();
		const fresh = now - this.fetched < keepKeys && this.known.has(id);
		if (!fresh && (now - this.tried >= lookAgain || !this.known.size)) {
			this.tried = now;
			this.fetching ??= this.fetch().finally(() => { this.fetching = null; });
			await this.fetching;
		}
		return this.known.get(id);
	}
	async fetch() {
		try {
			const set = await ask(this.url);
			if (set.status !== 200 || !Array.isArray(set.body?.keys)) throw new Unavailable(`${this.url} answers with ${set.status}`);
			this.known = new Map(set.body.keys
				.filter(k => k.kty === "OKP" && k.crv === "Ed25519")
				.map(({kid, kty, crv, x}) => [kid, createPublicKey({key: {kty, crv, x}, format: "jwk"})]));
			this.fetched = Date.now();
		} catch (error) {
			if (!this.known.size) throw new Unavailable(error.message);
			console.error("concert gate: the keys are old:", error.message);
		}
	}
}

async function ask(url, body) {
	try {
		const answer = await fetch(url, {
			method: body ? "POST" : "GET", redirect: "error", signal: AbortSignal.timeout(5000),
			headers: body ? {"Content-Type": "application/json"} : {}, body: body && JSON.stringify(body),
		});
		return {status: answer.status, body: parse(await answer.text())};
	} catch (error) {
		throw new Unavailable(`cannot fetch ${url}: ${error.message}`);
	}
}

// Has the waiting room mark the token as used, where tokens are taken once.
async function spend(o, token) {
	if (!o.validateURL) return true;
	const {status, body} = await ask(o.validateURL, {token, audience: o.audience, one_time: true});
	if (status === 401 || status === 404) return false;
	if (status !== 200) throw new Unavailable(`${o.validateURL} answers with ${status}`);
	return body?.valid === true;
}

const mac = (o, payload) => createHmac("sha256", o.sessionKey).update(`concert gate\n${o.room}\n${o.audience}\n${payload}`).digest();

// The session is a cookie of this site, not the token, which has been in an
// address.
function begin(o, claims, req) {
	const payload = claims.exp + "." + claims.ticket;
	const secure = o.secure || req.socket.encrypted ? "; Secure" : "";
	return `${o.cookie}=${payload}.${mac(o, payload).toString("base64url")}; Path=/; Expires=${new Date(claims.exp * 1000).toUTCString()}; HttpOnly; SameSite=Lax${secure}`;
}

function session(o, cookies = "") {
	for (const pair of cookies.split(";")) {
		const [name, value = ""] = pair.trim().split("=");
		const m = name === o.cookie && /^(\d{1,12})\.(\d{1,15})\.([\w-]{43})$/.exec(value);
		if (!m || Number(m[1]) * 1000 <= Date.now()) continue;
		if (timingSafeEqual(mac(o, m[1] + "." + m[2]), Buffer.from(m[3], "base64url"))) return {ticket: Number(m[2]), until: Number(m[1])};
	}
	return null;
}

function redirect(res, to, status) {
	res.writeHead(status, {Location: to});
	res.end();
}

function say(res, status, title, text) {
	res.writeHead(status, {"Content-Type": "text/html; charset=utf-8"});
	res.end(`<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`);
}
