// A site behind an off-site room: node site.mjs 127.0.0.1:8089

import {createServer} from "node:http";
import {gate} from "./gate.mjs";

const env = process.env;
const enter = gate({
	waitingRoomURL: env.WAITING_ROOM_URL, room: env.GATE_ROOM, audience: env.TOKEN_AUDIENCE,
	jwksURL: env.JWKS_URL, validateURL: env.VALIDATE_URL, sessionKey: env.SESSION_KEY,
});
const [host, port] = (process.argv[2] ?? "127.0.0.1:8089").split(":");
createServer((req, res) => enter(req, res, visitor => {
	res.setHeader("Content-Type", "text/plain; charset=utf-8");
	res.end(`site ${req.url} ticket ${visitor.ticket}\n`);
})).listen(Number(port), host);
