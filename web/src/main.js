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

import { announce, h, nameOf, show } from "./dom.js";
import { hasSameProgram, isSame, openDocument } from "./document.js";
import { utc } from "./format.js";
import { readFragment, replaceFragment, setRange } from "./fragment.js";
import { follow } from "./live.js";
import { continueFrom, isWhole, makeModel, stallsOf } from "./model.js";
import { setFirstRows } from "./table.js";
import { showTimeline } from "./timeline.js";
import { flame } from "./view_flame.js";
import { overview } from "./view_overview.js";
import { procedure } from "./view_procedure.js";
import { procedures } from "./view_procedures.js";
import { differences, variation } from "./view_variation.js";

const main = document.getElementById("main");
let page = document, reader = null, model = null, timeline = null, live = null, shown = "";

function views() {
	return [
		["", "Overview", "1"], ["procedures", "Procedures", "2"], ["flame", "Flame graph", "3"],
		model.main.variation && ["variation", "Variation", "4"],
		model.main.diff && ["diff", "Differences", "5"],
	].filter(Boolean);
}

function build({ view, rest, query }, again) {
	switch (view) {
	case "procedures":
		return procedures(model, query);
	case "flame":
		return flame(model, query, again);
	case "procedure":
		return procedure(model, Number(rest[0]), rest[1] ? Number.parseInt(rest[1], 16) : null, reader.part);
	case "variation":
		return model.main.variation ? variation(model) : overview(model);
	case "diff":
		return model.main.diff ? differences(model) : overview(model);
	default:
		return overview(model);
	}
}

// @again: the same view is made again, with other numbers.
function render(again = false) {
	const where = readFragment();
	const before = again ? placeOf() : null;
	shown = where.view;
	setFirstRows(again ? main.querySelectorAll("table.list tbody tr").length : 0);
	show(document.getElementById("nav"), views().map(([key, label, letter]) => h("a", { href: `#/${key}`, title: `Key ${letter}`,
		"aria-current": where.view === key || (where.view === "procedure" && key === "procedures") ? "page" : null }, label)));
	show(main, build(where, again));
	if (again)
		placeAgain(before);
	else
		scrollTo(0, 0);
}

// What the reader looks at in the view: the focus, the text cursor of the search, the tab, the scroll.
function placeOf() {
	const { activeElement: focus } = document;
	return {
		y: scrollY, inside: main.contains(focus) && focus !== main, id: focus?.id, href: focus?.getAttribute("href"),
		frame: focus?.classList.contains("frame"), cursor: focus?.tagName === "INPUT" ? [focus.selectionStart, focus.selectionEnd] : null,
		tab: main.querySelector("[role=tab][aria-selected=true]")?.id,
	};
}

function placeAgain({ y, inside, id, href, frame, cursor, tab }) {
	const focus = !inside ? null : id ? document.getElementById(id) : frame ? main.querySelector(".frame[tabindex='0']")
		: href ? [...main.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === href) : null;
	if (tab !== undefined && tab !== main.querySelector("[role=tab][aria-selected=true]")?.id)
		document.getElementById(tab)?.click();
	focus?.focus({ preventScroll: true });
	if (cursor !== null)
		focus?.setSelectionRange?.(...cursor);
	scrollTo(scrollX, y);
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
	["Left, Right, Home, End", "In the timeline: move the range; with Shift, its end"], ["t", "Theme"], ["i", "Include idle time, or leave it out"], ["p", "Stop following a server, or continue"], ["Esc", "Leave the search; zoom out"],
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
		i: toggleIdle, p: () => live?.pause(), "[": () => timeline?.next(-1), "]": () => timeline?.next(1), a: () => timeline?.all(),
	};
	for (const [key, , letter] of views())
		actions[letter] = () => { location.hash = `#/${key}`; };
	if (actions[event.key] !== undefined) {
		event.preventDefault();
		actions[event.key]();
	}
}

// --- the range ---

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

// --- idle time ---

function showIdle() {
	const button = document.getElementById("idle");
	button.hidden = !model.procedures.some(({ idle }) => idle);
	button.textContent = model.idle ? "Idle: included" : "Idle: left out";
	button.setAttribute("aria-pressed", String(model.idle));
}

function toggleIdle() {
	model.idle = !model.idle;
	showIdle();
	render(true);
}

// --- data ---

// Read the parts when the page has nothing else to do: for source lines in the flame graph, and for
// the stalls of all procedures.
async function readParts(of, source) {
	const idle = () => new Promise((done) => (window.requestIdleCallback ?? setTimeout)(done, { timeout: 500 }));
	for (const { detail, ...rest } of of.procedures.filter((candidate) => candidate.detail !== null)) {
		await idle();
		const part = await source.part(detail.part);
		of.parts.set(detail.part, part);
		for (const stall of stallsOf(part).slice(0, 8))
			of.stalls.push({ ...stall, procedure: rest });
	}
	of.stalls.sort((a, b) => b.cost - a.cost);
}

async function readFirstParts() {
	const of = model;
	await readParts(of, reader);
	document.documentElement.dataset.parts = "read";
	if (of === model && (shown === "" || shown === "flame"))
		render(true);
}

// Everything around the view.
function showFrame() {
	const { epochs } = model.main.procedures;
	const subject = `${epochs[0].host}${epochs[0].label && epochs.length === 1 ? `, ${epochs[0].label}` : ""}`;
	show(document.getElementById("subject"), nameOf(subject, 60));
	document.title = `${subject.slice(0, 80)} \u2013 DCPI profile`;
	showCovered();
	showIdle();
	timeline?.end();
	timeline = model.columns.length > 1 ? showTimeline(document.getElementById("range"), model, rangeChanged) : null;
}

// --- a server ---

// Rows of other data have other numbers: the fragment names the row of the same procedure.
function renumber(before) {
	const { view, rest, query } = readFragment();
	const old = view === "procedure" ? before.procedures[Number(rest[0])] : undefined;
	const now = old && model.procedures.find(({ name, image }) => name === old.name && image === old.image);
	setRange(isWhole(model) ? null : model.range);
	if (now !== undefined)
		replaceFragment(["procedure", now.index, ...rest.slice(1)].join("/"), query);
	else
		replaceFragment(view === "procedure" ? "procedures" : [view, ...rest].join("/"), query);
}

// Show the data of another page at once, when all of it has been read.
async function take(text) {
	const next = new DOMParser().parseFromString(text, "text/html");
	if (!hasSameProgram(page, next)) {
		location.reload();
		return false;
	}
	if (isSame(page, next))
		return true;
	const source = openDocument(next), before = model;
	const made = makeModel(await source.main());
	await readParts(made, source);
	continueFrom(made, before);
	page = next;
	reader = source;
	model = made;
	renumber(before);
	showFrame();
	render(true);
	document.documentElement.dataset.updates = String(Number(document.documentElement.dataset.updates ?? 0) + 1);
	return true;
}

const liveTexts = { live: ["Live", "Stop following the server (p)"], paused: ["Paused", "Follow the server again (p)"],
	gone: ["Server gone", "Stop trying to reach the server (p)"] };

function showLive(state, detail) {
	const button = document.getElementById("live");
	const [text, title] = liveTexts[state];
	if (button.dataset.state === state)
		return;
	button.hidden = false;
	button.dataset.state = state;
	button.textContent = text;
	button.title = detail ? `${title}: ${detail}` : title;
	announce(state === "gone" ? "The server does not answer: the page shows its last data" : text);
}

// --- start ---

async function start() {
	reader = openDocument(document);
	model = makeModel(await reader.main());
	takeRange(readFragment().query.get("range"));
	showCovered();
	render();
	document.documentElement.dataset.state = "ready";
	performance.mark("dcpi-ready");
	showFrame();
	addEventListener("hashchange", () => render());
	addEventListener("keydown", onkey);
	document.getElementById("idle").addEventListener("click", toggleIdle);
	document.getElementById("live").addEventListener("click", () => live.pause());
	setTimeout(() => readFirstParts().then(() => { live = follow(take, showLive); }), 50);
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
