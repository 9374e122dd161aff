// The chime, once the visitor has asked for it.
let audio = null;

// Calls the visitor in the ways they asked for, and returns how long that
// needs before the page may go.
function call() {
	let time = 0;
	if (audio) {
		chime();
		time = 900;
	}
	if ($("notify").checked && document.hidden) {
		try {
			new Notification(words["js.turn-title"], {body: words["js.turn"], tag: "concert", lang});
			time = 900;
		} catch { }
	}
	return time;
}

function chime() {
	for (const [at, pitch] of [[0, 659], [0.22, 880]]) {
		const tone = audio.createOscillator(), volume = audio.createGain(), start = audio.currentTime + at;
		tone.frequency.value = pitch;
		volume.gain.setValueAtTime(0.0001, start);
		volume.gain.exponentialRampToValueAtTime(0.25, start + 0.02);
		volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
		tone.connect(volume).connect(audio.destination);
		tone.start(start);
		tone.stop(start + 0.55);
	}
}

// The sound is heard once when it is switched on: browsers allow it only after
// that, and the visitor knows what to listen for.
$("sound").addEventListener("change", () => {
	if (audio) audio.close();
	audio = null;
	if (!$("sound").checked) return;
	try {
		audio = new AudioContext();
		chime();
	} catch {
		$("sound").checked = false;
	}
});
$("notify").addEventListener("change", async () => {
	show("denied", "");
	if (!$("notify").checked || await Notification.requestPermission() === "granted") return;
	$("notify").checked = false;
	show("denied", words["js.denied"]);
});
$("notify-row").hidden = !("Notification" in window) || !isSecureContext;
