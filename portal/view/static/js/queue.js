// The queue: a table like the others, and the search for one visitor.
import {$, el, parse} from "../lib/dom.js";
import {call, query} from "../lib/api.js";
import {ask} from "../lib/dialog.js";
import {show} from "../lib/time.js";
import {start as table} from "./table.js";

export function start() {
	const page = table();
	const asked = new URLSearchParams(location.search).get("find");
	$("find").addEventListener("submit", event => {
		event.preventDefault();
		const text = $("find-q").value.trim();
		if (text) find(text);
	});
	if (asked) {
		$("find-q").value = asked;
		find(asked);
	}
	return page;
}

async function find(text) {
	const answer = el("div", {"aria-live": "polite"}, el("p", {class: "soft"}, "Looking …"));
	const dialog = ask({title: "Find “" + text + "”", body: [answer], wide: true, cancel: "Close"});
	try {
		const f = await call("GET", "frag/find?" + query({q: text}));
		answer.replaceChildren(...parse(f.html));
		show(answer);
	} catch (e) {
		answer.replaceChildren(el("p", {class: "failed"}, e.message));
	}
	dialog.addEventListener("click", event => { if (event.target.closest("[data-act]")) dialog.close(); });
}
