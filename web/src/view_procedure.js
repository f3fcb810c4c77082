// SPDX-License-Identifier: GPL-2.0-only
// One procedure: its numbers, the explanation, source beside assembly, the graph, its variation.

import { h, nameOf, show } from "./dom.js";
import { count, cycles, hex, integer, interval, percent, probability } from "./format.js";
import { replaceFragment } from "./fragment.js";
import { inRange, isExcluded, isWhole, totalInRange } from "./model.js";
import { drawGraph, graphNote } from "./view_graph.js";
import { listing, sourceListing } from "./view_listing.js";
import { spark } from "./view_variation.js";

function figure(label, value, note) {
	return h("div", { class: "figure" }, h("dt", {}, label), h("dd", {}, value, note && h("small", {}, note)));
}

function figures(model, procedure) {
	const samples = inRange(model, procedure), total = totalInRange(model), { detail } = procedure;
	const events = model.main.procedures.events.filter((event) => event.event !== model.event)
		.map((event) => figure(event.event, integer(procedure.row[event.event]), percent(procedure.row[`${event.event}_percent`])));
	return h("dl", { class: "figures" },
		figure("Share", samples === null || isExcluded(model, procedure) ? "\u2013" : percent((100 * samples) / total),
			isExcluded(model, procedure) ? `${integer(samples ?? 0)} samples of idle time` : samples === null ? `no counts by ${model.sliced ? "time" : "epoch"}` : `${integer(samples)} samples${isWhole(model) ? "" : " in the range"}`),
		detail && figure("CPI", cycles(detail.cpi), interval(detail.cpi_low, detail.cpi_high)),
		detail && figure("Best case", cycles(detail.best_cpi), "without dynamic stalls"),
		detail && figure("Instructions", integer(detail.instructions)),
		procedure.variation && figure("Between epochs", percent(procedure.variation.spread_percent, 0),
			procedure.variation.significant ? "a significant variation" : "within the noise of sampling"),
		events);
}

// Addresses in the explanation lead to their instructions.
function sentence(text, known, select) {
	return h("p", {}, text.split(/(0x[0-9a-f]+)/).map((piece) => !known.has(piece) ? h("bdi", {}, piece)
		: h("button", { type: "button", class: "link address", onclick: () => select(Number.parseInt(piece, 16), true) }, piece)));
}

// The breakdown of dcpicalc --summary, as one bar: the certain parts, and at most the causes. Each part is
// estimated with an error of its own, so that their sum may exceed the samples. The bar then shows the sum.
function breakdown(model, part) {
	const { summary } = part.summary;
	const all = summary.tallied;
	if (!(all > 0))
		return null;
	const share = (value) => (100 * value) / all;
	const stalls = Object.values(summary.static).reduce((sum, value) => sum + value, 0);
	const pieces = [
		["execution", "Issuing", summary.execution],
		["static", "Static stalls", stalls],
		["dynamic", "Dynamic stalls", summary.dynamic_total],
	].filter(([, , value]) => share(value) >= 0.05);
	const sum = pieces.reduce((whole, [, , value]) => whole + share(value), 0);
	const causes = Object.entries(summary.dynamic).filter(([, range]) => share(range.high) >= 0.5)
		.sort((a, b) => b[1].high - a[1].high);
	return h("div", { class: "breakdown" },
		h("div", { class: "stack", "aria-hidden": "true" }, pieces.map(([kind, , value]) =>
			h("span", { class: kind, style: { "flex-grow": String(Math.max(0.001, value)) } }))),
		h("ul", {}, pieces.map(([kind, label, value]) => h("li", {}, h("i", { class: kind }), `${label} ${percent(share(value))}`)),
			sum > 100.5 && h("li", { class: "may" }, `Sum ${percent(sum)}: ` +
				`${percent(sum - 100)} more than the samples, because executions are estimates`),
			causes.map(([cause, range]) => h("li", { class: "may" }, `${model.main.causes[cause] ?? cause} ` +
				`${percent(share(range.low))} \u2013 ${percent(share(range.high))}`))));
}

function epochs(model, procedure) {
	const report = model.main.variation, row = procedure.variation;
	if (!report || row === null)
		return h("p", { class: "note" }, "There is one epoch, or the procedure has too few samples: nothing to compare.");
	return [
		h("p", { class: "note" }, `Spread ${percent(row.spread_percent, 0)} (${percent(row.spread_low_percent, 0)} \u2013 ` +
			`${percent(row.spread_high_percent, 0)}), p = ${probability(row.p)}, q = ${probability(row.q)}: ` +
			(row.significant ? "more than the noise of sampling explains." : "the noise of sampling explains it.")),
		h("div", { class: "columns" }, spark(report, row, Math.max(160, 26 * report.sets.length), 90)),
		h("ol", { class: "sets" }, report.sets.map((set) => h("li", {}, nameOf(set.name, 60), `: ${count(row[`set_${set.set}`])}`))),
		h("p", { class: "note" }, `Counts are normalised by ${report.normalized}.`),
	];
}

function tabs(entries, initial, chosen) {
	const panel = h("div", { class: "panel", role: "tabpanel", id: "panel" });
	const buttons = entries.map(([key, label], i) => h("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel",
		onclick: () => open(key),
		onkeydown: (event) => {
			const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			if (step === undefined)
				return;
			event.preventDefault();
			const next = entries[(i + step + entries.length) % entries.length][0];
			open(next);
			document.getElementById(`tab-${next}`).focus();
		} }, label));
	const made = new Map();
	function open(key) {
		entries.forEach(([other, , make], i) => {
			buttons[i].setAttribute("aria-selected", String(other === key));
			buttons[i].setAttribute("tabindex", other === key ? "0" : "-1");
			if (other === key && !made.has(key))
				made.set(key, h("div", {}, make()));
		});
		panel.setAttribute("aria-labelledby", `tab-${key}`);
		show(panel, made.get(key));
		chosen(key);
	}
	return { element: [h("div", { class: "segments", role: "tablist", "aria-label": "Parts" }, buttons), panel], open, initial };
}

function analysed(model, procedure, part, address) {
	let source = null;
	const code = listing(model, procedure.detail, part, {
		selected: (at, line) => {
			if (line?.source)
				source?.mark(line.source, line.line, true);
			replaceFragment(`procedure/${procedure.index}/0x${at.toString(16)}`);
		},
	});
	if (part.source !== null)
		source = sourceListing(model, part, (file, line) => code.markLine(file, line));
	const panes = h("div", { class: source ? "panes" : "panes single" },
		source && h("section", { class: "pane", "aria-label": "Source" }, source.element),
		h("section", { class: "pane", "aria-label": "Instructions" }, code.element));
	const known = new Set(part.calc.instructions.map((insn) => hex(insn.address)));
	const open = (at) => {
		parts.open("code");
		requestAnimationFrame(() => code.select(at, true));
	};
	const parts = tabs([
		["code", "Instructions", () => [panes, !source && h("p", { class: "note" }, `Without source: ${part.source_note ?? ""}`)]],
		["graph", "Graph", () => part.graph ? drawGraph(procedure.detail, part, open) : graphNote(part)],
		["epochs", "Epochs", () => epochs(model, procedure)],
	], "code", () => {});

	parts.open("code");
	if (address !== null)
		requestAnimationFrame(() => code.select(address, true));
	return [
		h("section", { class: "card explain" }, h("h2", {}, "Why"), part.sentences.map((text) => sentence(text, known, open)), breakdown(model, part)),
		!isWhole(model) && h("p", { class: "note" }, "The analysis is of the whole time."),
		parts.element,
	];
}

export function procedure(model, index, address, readPart) {
	const found = model.procedures[index];
	const rest = h("div", {});
	if (found === undefined)
		return h("p", { class: "note" }, "There is no such procedure.");
	if (found.detail === null) {
		show(rest, h("p", { class: "note" }, "Its instructions are not in this file: ", nameOf(found.reason, 400), "."), epochs(model, found));
	} else if (model.parts.has(found.detail.part)) {
		show(rest, analysed(model, found, model.parts.get(found.detail.part), address));
	} else {
		show(rest, h("p", { class: "loading" }, "Reading its instructions ..."));
		readPart(found.detail.part).then((part) => show(rest, analysed(model, found, part, address)),
			(error) => show(rest, h("p", { class: "error" }, String(error.message))));
	}
	const { aliases } = found.row;
	return h("div", { class: "view" },
		h("div", { class: "title" }, h("h2", {}, nameOf(found.name, 300)),
			h("p", { class: "note" }, nameOf(found.image, 300),
				aliases?.length > 0 && [", also ", nameOf(aliases.slice(0, 6).join(", "), 300)])),
		figures(model, found), rest);
}
