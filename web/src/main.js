// SPDX-License-Identifier: GPL-2.0-only
// The page: reads the document, and shows the view that the fragment of the address names.
//
//   #/                         overview
//   #/procedures?q=&by=&sort=  list
//   #/flame?q=                 flame graph
//   #/procedure/ROW/0xADDRESS  one procedure, one instruction
//   #/variation, #/diff        comparisons
//
// "range=FIRST-LAST" in a query selects columns of the timeline.

import { h, nameOf, show } from "./dom.js";
import { readMain, readPart } from "./document.js";
import { utc } from "./format.js";
import { readFragment, replaceFragment, setRange } from "./fragment.js";
import { isWhole, makeModel, stallsOf } from "./model.js";
import { showTimeline } from "./timeline.js";
import { flame } from "./view_flame.js";
import { overview } from "./view_overview.js";
import { procedure } from "./view_procedure.js";
import { procedures } from "./view_procedures.js";
import { differences, variation } from "./view_variation.js";

const main = document.getElementById("main");
let model = null, timeline = null, shown = "";

function views() {
	return [
		["", "Overview", "1"], ["procedures", "Procedures", "2"], ["flame", "Flame graph", "3"],
		model.main.variation && ["variation", "Variation", "4"],
		model.main.diff && ["diff", "Differences", "5"],
	].filter(Boolean);
}

function build({ view, rest, query }) {
	switch (view) {
	case "procedures":
		return procedures(model, query);
	case "flame":
		return flame(model, query);
	case "procedure":
		return procedure(model, Number(rest[0]), rest[1] ? Number.parseInt(rest[1], 16) : null, readPart);
	case "variation":
		return model.main.variation ? variation(model) : overview(model);
	case "diff":
		return model.main.diff ? differences(model) : overview(model);
	default:
		return overview(model);
	}
}

function render(keepScroll = false) {
	const where = readFragment();
	shown = where.view;
	show(document.getElementById("nav"), views().map(([key, label, letter]) => h("a", { href: `#/${key}`, title: `Key ${letter}`,
		"aria-current": where.view === key || (where.view === "procedure" && key === "procedures") ? "page" : null }, label)));
	show(main, build(where));
	if (!keepScroll)
		scrollTo(0, 0);
}

// --- themes ---

const themes = ["system", "light", "dark"];

function stored(key) {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

function setTheme(theme) {
	if (theme === "system")
		delete document.documentElement.dataset.theme;
	else
		document.documentElement.dataset.theme = theme;
	document.getElementById("theme").textContent = `Theme: ${theme}`;
	try {
		localStorage.setItem("dcpi-theme", theme);
	} catch {
		// Without storage, the choice lasts as long as the page.
	}
	timeline?.redraw();
}

function nextTheme() {
	const now = document.documentElement.dataset.theme ?? "system";
	setTheme(themes[(themes.indexOf(now) + 1) % themes.length]);
}

// --- keys ---

const keys = [
	["1 \u2026 5", "Views"], ["/", "Search"], ["j, k", "Next and previous row"], ["Enter", "Open the row"],
	["[, ]", "Previous and next part of the timeline"], ["a", "The whole time"],
	["Left, Right, Home, End", "In the timeline: move the range; with Shift, its end"], ["t", "Theme"], ["Esc", "Leave the search; zoom out"],
	["Arrows, Enter, o", "In the flame graph: move, zoom, open"], ["Up, Down", "In a listing: next instruction"], ["?", "This help"],
];

function showHelp() {
	const help = document.getElementById("help");
	show(help, h("h2", {}, "Keys"), h("dl", { class: "facts" }, keys.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
		h("form", { method: "dialog" }, h("button", {}, "Close")));
	help.showModal();
}

function moveRow(step) {
	const links = [...main.querySelectorAll("tbody a[href], ol.hot a[href]")];
	const at = links.indexOf(document.activeElement);
	links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
}

function onkey(event) {
	const typing = event.target.closest?.("input, select, textarea");
	if (event.key === "Escape" && typing) {
		typing.blur();
		return;
	}
	if (typing || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open)
		return;
	const actions = {
		"/": () => document.getElementById("search")?.focus() ?? (location.hash = "#/procedures"),
		"?": showHelp, t: nextTheme, j: () => moveRow(1), k: () => moveRow(-1),
		"[": () => timeline?.next(-1), "]": () => timeline?.next(1), a: () => timeline?.all(),
	};
	for (const [key, , letter] of views())
		actions[letter] = () => { location.hash = `#/${key}`; };
	if (actions[event.key] !== undefined) {
		event.preventDefault();
		actions[event.key]();
	}
}

// --- start ---

// The range of a link, if it has one: "2-5".
function takeRange(text) {
	const ends = /^(\d+)-(\d+)$/.exec(text ?? "")?.slice(1).map(Number);
	if (ends !== undefined && ends[0] <= ends[1] && ends[1] < model.columns.length)
		model.range = ends;
	setRange(isWhole(model) ? null : model.range);
}

function rangeChanged() {
	const { view, rest, query } = readFragment();
	setRange(isWhole(model) ? null : model.range);
	replaceFragment([view, ...rest].join("/"), query);
	showCovered();
	render(true);
}

// The header states the time that the numbers of the page cover.
function showCovered() {
	const columns = model.columns.slice(model.range[0], model.range[1] + 1);
	const from = utc(columns[0].start), to = utc(Math.max(...columns.map((column) => column.end)));
	show(document.getElementById("covered"), `${from} \u2013 ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to} UTC`);
}

// Read the parts when the page has nothing else to do: for source lines in the flame graph, and for
// the stalls of all procedures.
async function readParts() {
	const idle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done, { timeout: 500 }));
	for (const { detail, ...rest } of model.procedures.filter((candidate) => candidate.detail !== null)) {
		await idle();
		const part = await readPart(detail.part);
		model.parts.set(detail.part, part);
		for (const stall of stallsOf(part).slice(0, 8))
			model.stalls.push({ ...stall, procedure: rest });
	}
	model.stalls.sort((a, b) => b.cost - a.cost);
	document.documentElement.dataset.parts = "read";
	if (shown === "" || shown === "flame")
		render(true);
}

async function start() {
	model = makeModel(await readMain());
	takeRange(readFragment().query.get("range"));
	const { epochs } = model.main.procedures;
	const subject = `${epochs[0].host}${epochs[0].label && epochs.length === 1 ? `, ${epochs[0].label}` : ""}`;
	show(document.getElementById("subject"), nameOf(subject, 60));
	document.title = `${subject.slice(0, 80)} \u2013 DCPI profile`;
	showCovered();
	render();
	document.documentElement.dataset.state = "ready";
	performance.mark("dcpi-ready");
	if (model.columns.length > 1)
		timeline = showTimeline(document.getElementById("range"), model, rangeChanged);
	addEventListener("hashchange", () => render());
	addEventListener("keydown", onkey);
	setTimeout(readParts, 50);
}

document.getElementById("theme").addEventListener("click", nextTheme);
document.getElementById("help-button").addEventListener("click", showHelp);
document.getElementById("skip").addEventListener("click", (event) => {
	event.preventDefault();
	main.focus();
});
setTheme(themes.includes(stored("dcpi-theme")) ? stored("dcpi-theme") : "system");
start().catch((error) => {
	document.documentElement.dataset.state = "failed";
	show(main, h("p", { class: "error" }, `This profile cannot be shown: ${error.message}`));
});
