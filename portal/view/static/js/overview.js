// The overview: counters and charts, anew every few seconds.
import {$, parse, say} from "../lib/dom.js";
import {call, setNow, showStatus} from "../lib/api.js";
import {live} from "../lib/live.js";
import {show} from "../lib/time.js";
import {draw, extend, focusCharts} from "./charts.js";

export function start() {
	let series = null;
	focusCharts();
	const refresh = async () => {
		const since = series && series.at.length ? series.at.at(-1) : 0;
		const [f, more] = await Promise.all([call("GET", "frag/overview"), call("GET", "series?since=" + since)]);
		setNow(f.now);
		showStatus(f.status);
		const control = document.querySelector(".control");
		control.dataset.room = f.status.room;
		const put = (selector, text) => { const e = control.querySelector(selector); if (e.textContent !== text) e.textContent = text; };
		if (control.querySelector("[data-sentence]").textContent !== f.sentence) say(f.sentence);
		put("[data-sentence]", f.sentence);
		put("[data-explain]", f.explain);
		// The new counters and the table take the places of the old ones.
		for (const part of parse(f.html)) {
			const old = document.querySelector(part.matches(".counters") ? ".counters" : "#series-table");
			if (old && (part.matches(".counters") || document.querySelector(".as-table").open)) old.replaceWith(part);
		}
		show($("main"));
		series = extend(series, more);
		draw(series);
	};
	const clock = live(refresh);
	clock.now();
	addEventListener("resize", () => { if (series) draw(series); });
	return {refresh: () => clock.now()};
}
