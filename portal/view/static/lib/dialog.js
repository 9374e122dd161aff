// Dialogs that say what will happen, and messages that say what has happened.
import {$, el} from "./dom.js";

const patience = 12000; // how long a message stands

// ask shows a dialog and carries out its action when it is confirmed. The
// dialog stays open, with the reason, as long as the action fails. fill may
// add to the form; it gets the form and the button that confirms.
export function ask({title, text = [], confirm, bad = false, wide = false, body = [], fill, action, cancel = "Cancel"}) {
	const failed = el("p", {class: "failed", role: "alert", hidden: true});
	const go = confirm && el("button", {class: "primary" + (bad ? " bad" : "")}, confirm);
	const form = el("form", {method: "dialog"},
		el("h2", {id: "dialog-title"}, title), [].concat(text).map(t => el("p", {}, t)), body, failed,
		el("div", {class: "ends"}, el("button", {type: "button", onclick: () => dialog.close()}, cancel), go));
	const dialog = el("dialog", {"aria-labelledby": "dialog-title", class: wide ? "wide" : ""}, form);
	form.addEventListener("submit", async event => {
		event.preventDefault();
		if (!go || go.disabled) return;
		go.disabled = true;
		try {
			await action(form);
			dialog.close();
		} catch (e) {
			failed.textContent = e.message;
			failed.hidden = false;
		}
		go.disabled = false;
	});
	dialog.addEventListener("close", () => dialog.remove()); // the browser gives the focus back
	dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
	document.body.append(dialog);
	if (fill) fill(form, go, failed);
	dialog.showModal();
	return dialog;
}

// open says whether a dialog is open.
export const open = () => document.querySelector("dialog[open]") !== null;

// toast shows a message, with a way to take back what it tells of. It stays as
// long as somebody points at it or is in it.
export function toast(text, {undo, bad = false} = {}) {
	const box = el("div", {class: bad ? "toast bad" : "toast"}, el("p", {role: bad ? "alert" : "status"}));
	const gone = () => box.remove();
	if (undo) {
		box.append(el("button", {type: "button", onclick: async event => {
			event.target.disabled = true;
			try {
				const done = await undo();
				gone();
				toast(done || "Taken back.");
			} catch (e) {
				gone();
				toast(e.message, {bad: true});
			}
		}}, "Undo"));
	}
	box.append(el("button", {type: "button", "aria-label": "Close this message", onclick: gone}, "✕"));
	$("toasts").append(box);
	box.firstChild.textContent = text; // after it is in the page, so that it is said
	let timer = setTimeout(gone, patience);
	const hold = () => clearTimeout(timer), release = () => { hold(); timer = setTimeout(gone, patience); };
	box.addEventListener("pointerenter", hold);
	box.addEventListener("pointerleave", release);
	box.addEventListener("focusin", hold);
	box.addEventListener("focusout", release);
}

// later keeps a message for the page that is loaded next.
export function later(text, undo = "") {
	try { sessionStorage.setItem("concert.message", JSON.stringify({text, undo})); } catch { /* it is only a message */ }
}

// kept returns the message that the last page left.
export function kept() {
	try {
		const text = sessionStorage.getItem("concert.message");
		sessionStorage.removeItem("concert.message");
		return text && JSON.parse(text);
	} catch {
		return null;
	}
}
