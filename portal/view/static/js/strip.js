// Pages without a table keep the strip at their top up to date.
import {call, setNow, showStatus} from "../lib/api.js";
import {live} from "../lib/live.js";

export function start() {
	const clock = live(async () => {
		const f = await call("GET", "frag/overview");
		setNow(f.now);
		showStatus(f.status);
	});
	return {refresh: () => clock.now()};
}
