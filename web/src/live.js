// SPDX-License-Identifier: GPL-2.0-only
// Keeps a page that dcpiweb serves up to date. The server announces it with the header "DCPI-Live",
// the least number of seconds between two requests. A request of an unchanged page costs no report.

// The page takes at most this part of the server's time for reports.
const rest = 20;
const longest = 300;

/** Return true if the reader is about to do something that a change of the page would disturb. */
function isBusy() {
	return pointers > 0 || document.getElementById("help").open || document.activeElement?.tagName === "SELECT" ||
		String(getSelection()) !== "";
}

let pointers = 0;
addEventListener("pointerdown", () => { pointers = 1; });
for (const end of ["pointerup", "pointercancel"])
	addEventListener(end, () => { pointers = 0; });

/**
 * Follow the server, if there is one. take(text) shows another page, and resolves when it is shown.
 * state(name, detail) is called with "live", "paused" or "gone" when the state or its detail changes.
 * Return {pause}: pause() stops, or continues.
 */
export function follow(take, state) {
	const address = location.pathname + location.search;
	let tag = null, wait = 0, timer = null, paused = false, asking = false;

	async function ask() {
		const began = performance.now();
		const response = await fetch(address, { cache: "no-cache" });
		wait = Math.max(Number(response.headers.get("DCPI-Live")), Math.min(longest, ((performance.now() - began) * rest) / 1000));
		if (!response.ok)
			throw new Error(`the server answers ${response.status}`);
		if (!(Number(response.headers.get("DCPI-Live")) > 0))
			return false;
		const now = response.headers.get("ETag");
		// The first answer is the page itself, unless the database has changed since.
		if (now === tag) {
			response.body?.cancel();
		} else {
			const text = await response.text();
			while (isBusy())
				await new Promise((done) => setTimeout(done, 200));
			if (!paused && await take(text))
				tag = now;
		}
		return true;
	}

	async function step() {
		timer = null;
		if (paused || asking || document.hidden)
			return;
		asking = true;
		try {
			if (!await ask())
				return;
			if (!paused)
				state("live", "");
		} catch (error) {
			wait = Math.max(wait, 2);
			if (tag === null)
				return;
			state("gone", error.message);
		} finally {
			asking = false;
		}
		if (!paused)
			timer = setTimeout(step, 1000 * wait);
	}

	function pause() {
		paused = !paused;
		clearTimeout(timer);
		state(paused ? "paused" : "live", "");
		if (!paused)
			step();
	}

	document.addEventListener("visibilitychange", () => {
		if (!document.hidden && timer === null && tag !== null)
			step();
	});
	if (location.protocol.startsWith("http"))
		step();
	return { pause };
}
