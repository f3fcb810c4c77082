// SPDX-License-Identifier: GPL-2.0-only
// The instructions of a procedure beside its source: heat, executions, cycles, the stalls above the
// instructions that have them, and arrows to the instructions that cause these.

import { append, h, nameOf, shorten, show, svg } from "./dom.js";
import { count, cycles, hex, integer, interval, lastPart, percent } from "./format.js";
import { blockFacts, heatOf } from "./view_graph.js";

// Sequences of cold blocks with more instructions are folded.
const foldLeast = 6;
const bubblesMost = 12;

function cpiRange(insn) {
	const cost = insn.cpi * insn.frequency;
	return { low: insn.frequency_high > 0 ? cost / insn.frequency_high : null,
		high: insn.frequency_low > 0 ? cost / insn.frequency_low : null };
}

// The text of an instruction by the analysis is that of the listing at the same address.
function textsOf(part) {
	return new Map(part.listing.rows.filter((row) => row.address !== null)
		.map((row) => [Number.parseInt(row.address, 16), row]));
}

function ranText(insn) {
	if (!insn || insn.frequency === null)
		return "number of executions not known";
	if (insn.confidence === "exact")
		return `ran ${integer(insn.frequency)} times, counted`;
	return `ran ${count(insn.frequency)} times (${interval(insn.frequency_low, insn.frequency_high, count)}, ${insn.confidence} confidence)`;
}

export function listing(model, detail, part, options) {
	const texts = textsOf(part);
	const total = detail.samples;
	const facts = blockFacts(part, total);
	const rows = new Map(); // by address
	const body = h("tbody");
	const arrows = svg("svg", { class: "arrows", "aria-hidden": "true" });
	const table = h("table", { class: "code" },
		h("caption", { class: "hidden" }, "Instructions"),
		h("thead", {}, h("tr", {}, ["Address", "Samples", "Cycles", "Executions", "Instruction"].map((label) =>
			h("th", { scope: "col", class: label === "Address" || label === "Instruction" ? null : "number" }, label)))), body);
	const box = h("div", { class: "code-box" }, table, arrows);
	let selected = null;

	function causeChip(text, low, high, from, kind) {
		const range = low === high ? `${cycles(high)} cy` : `${cycles(low)} \u2013 ${cycles(high)} cy`;
		const inside = from !== null && texts.has(from);
		return h("span", { class: `cause ${kind}` }, h("span", {}, text), h("span", { class: "cause-cycles" }, range),
			inside && h("button", { type: "button", class: "culprit", "data-from": hex(from),
				title: `Caused by ${hex(from)} ${shorten(texts.get(from).text ?? "", 120)}`,
				onclick: (event) => { event.stopPropagation(); select(from, true); } }, `\u2190 ${hex(from)}`));
	}

	// One bubble for a cycle, up to a limit, as the lines of dcpicalc.
	function stallRow(insn) {
		const chips = [
			...insn.static_stalls.map((stall) => causeChip(model.main.stalls[stall.kind] ?? stall.kind, stall.cycles, stall.cycles,
				stall.from === insn.address ? null : stall.from, "static")),
			...insn.culprits.map((culprit) => causeChip(model.main.causes[culprit.cause] ?? culprit.cause, culprit.cycles_low,
				culprit.cycles_high, culprit.from === insn.address ? null : culprit.from, "dynamic")),
		];
		const waited = Math.max(0, ...insn.culprits.map((culprit) => culprit.cycles_high ?? 0)) +
			insn.static_stalls.reduce((sum, stall) => sum + stall.cycles, 0);
		if (chips.length === 0 || !(insn.samples > 0))
			return null;
		const bubbles = Math.max(1, Math.min(bubblesMost, Math.round(waited)));
		return h("tr", { class: "stall" }, h("td", { colspan: 5 },
			h("div", { class: "stall-line" },
				h("span", { class: "bubbles", role: "img", "aria-label": `may wait up to ${cycles(waited)} cycles` },
					Array.from({ length: bubbles }, () => h("i")), waited > bubblesMost && "\u2026"), chips)));
	}

	function insnRow(insn) {
		const text = texts.get(insn.address);
		const share = total > 0 ? (100 * insn.own_samples) / total : 0;
		const range = cpiRange(insn);
		const hasCycles = insn.cpi !== null && insn.samples > 0;
		const row = h("tr", { class: `insn heat-${heatOf(share)}`, tabindex: "-1", "data-address": hex(insn.address),
			onclick: () => select(insn.address, false) },
		h("td", { class: "address" }, hex(insn.address)),
		h("td", { class: "number", title: `${integer(insn.samples)} samples` },
			insn.own_samples > 0 ? percent(share) : ""),
		h("td", { class: "number", title: hasCycles ? `cycles per execution: ${interval(range.low, range.high)}` : "" },
			hasCycles ? [h("small", {}, interval(range.low, range.high)), cycles(insn.cpi)] : ""),
		h("td", { class: "number", title: ranText(insn) }, insn.frequency === null ? "" : count(insn.frequency)),
		h("td", { class: "text" }, nameOf(text?.text ?? "", 300)));
		rows.set(insn.address, { row, insn, line: text });
		return row;
	}

	function blockRows(fact) {
		const { block } = fact;
		return [
			h("tr", { class: "block" }, h("th", { colspan: 5, scope: "rowgroup" },
				h("span", {}, `Block ${hex(block.start)}`), h("span", {}, percent(fact.share)),
				h("span", {}, ranText(fact.insns[0])),
				h("span", {}, `CPI ${cycles(block.actual_cpi)}, best case ${cycles(block.best_cpi)}`))),
			...fact.insns.flatMap((insn) => [stallRow(insn), insnRow(insn)]),
		];
	}

	function fold(cold) {
		const count_ = cold.reduce((sum, fact) => sum + fact.insns.length, 0);
		const made = cold.map((fact) => blockRows(fact));
		const button = h("button", { type: "button", class: "link", "aria-expanded": "false", onclick: () => open() },
			`${cold.length} block${cold.length === 1 ? "" : "s"}, ${count_} instructions without samples`);
		const row = h("tr", { class: "fold" }, h("td", { colspan: 5 }, button));
		function open() {
			row.after(...made.flat(2).filter((node) => node !== null));
			row.remove();
			requestAnimationFrame(drawArrows);
		}
		for (const fact of cold)
			for (const insn of fact.insns)
				rows.get(insn.address).open = () => { if (row.isConnected) open(); };
		return row;
	}

	function omitted() {
		const rest = total - facts.reduce((sum, fact) => sum + fact.samples, 0);
		return h("tr", { class: "fold" }, h("td", { colspan: 5 }, `The ${facts.length} hottest of ${detail.blocks} blocks are in this file; ` +
			`the others have ${percent((100 * Math.max(0, rest)) / total)} of the samples.`));
	}

	function fill() {
		let cold = [];
		if (detail.blocks > facts.length)
			append(body, [omitted()]);
		const flush = () => {
			if (cold.reduce((sum, fact) => sum + fact.insns.length, 0) >= foldLeast)
				append(body, [fold(cold)]);
			else
				append(body, cold.map(blockRows));
			cold = [];
		};
		for (const fact of facts) {
			if (fact.samples === 0 && facts.length > 3) {
				cold.push(fact);
				continue;
			}
			flush();
			append(body, blockRows(fact));
		}
		flush();
	}

	// Arrows from the stalls that cost most, and that of the selected instruction, to their culprits.
	function drawArrows() {
		const frame = box.getBoundingClientRect();
		const found = [];
		for (const { row, insn } of rows.values()) {
			const from = [...insn.static_stalls, ...insn.culprits].find((stall) => stall.from !== null && stall.from !== insn.address)?.from;
			const share = total > 0 ? insn.own_samples / total : 0;
			if (from === undefined || !row.isConnected || !rows.get(from)?.row.isConnected)
				continue;
			if (insn.address === selected || (share >= 0.02 && insn.samples > 0))
				found.push({ insn, from, share });
		}
		found.sort((a, b) => b.share - a.share);
		const middle = (address) => {
			const place = rows.get(address).row.getBoundingClientRect();
			return place.top - frame.top + place.height / 2;
		};
		arrows.setAttribute("height", String(box.scrollHeight));
		show(arrows, svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
			orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0,0L8,4L0,8z" }))),
		found.slice(0, 24).map(({ insn, from }, i) => {
			const a = middle(insn.address), b = middle(from), x = 20 - 4 * (i % 4);
			return svg("path", { class: insn.address === selected ? "arrow selected" : "arrow", "data-from": hex(insn.address),
				"data-to": hex(from), d: `M24,${a}C${x - 16},${a} ${x - 16},${b} 24,${b}`, "marker-end": "url(#tip)" });
		}));
	}

	function select(address, jump) {
		const place = rows.get(address);
		if (place === undefined)
			return false;
		place.open?.();
		if (selected !== null)
			rows.get(selected).row.classList.remove("selected");
		selected = address;
		place.row.classList.add("selected");
		if (jump) {
			place.row.scrollIntoView({ block: "center" });
			place.row.focus({ preventScroll: true });
		}
		drawArrows();
		options.selected(address, place.line);
		return true;
	}

	// Mark the instructions of a source line; go to the first.
	function markLine(file, line) {
		let first = null;
		for (const { row, line: place, insn } of rows.values()) {
			const mine = place !== undefined && place.source === file && place.line === line;
			row.classList.toggle("of-line", mine);
			if (mine && (first === null || insn.own_samples > first.own_samples))
				first = insn;
		}
		if (first !== null) {
			rows.get(first.address).open?.();
			rows.get(first.address).row.scrollIntoView({ block: "nearest" });
		}
	}

	box.addEventListener("keydown", (event) => {
		const order = [...body.querySelectorAll("tr.insn")];
		const at = order.findIndex((row) => row === document.activeElement);
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (at < 0 || step === undefined || order[at + step] === undefined)
			return;
		event.preventDefault();
		order[at + step].focus();
		select(Number.parseInt(order[at + step].dataset.address, 16), false);
	});
	fill();
	body.querySelector("tr.insn")?.setAttribute("tabindex", "0");
	new ResizeObserver(() => drawArrows()).observe(table);
	return { element: box, select, markLine };
}

/** The source lines; chosen(file, line) is called when the reader selects one. */
export function sourceListing(model, part, chosen) {
	const rows = part.source.rows;
	const total = rows.reduce((sum, row) => sum + (row[model.event] ?? 0), 0);
	const files = new Set(rows.map((row) => row.source));
	const byLine = new Map();
	let last = null, previous = null;
	const made = rows.flatMap((row) => {
		const share = total > 0 ? (100 * (row[model.event] ?? 0)) / total : 0;
		const before = [];
		if (row.source !== last && files.size > 1)
			before.push(h("tr", { class: "block" }, h("th", { colspan: 3, scope: "rowgroup", title: shorten(row.source ?? "", 2000) }, nameOf(lastPart(row.source ?? ""), 80))));
		else if (previous !== null && row.line !== null && row.line > previous + 1)
			before.push(h("tr", { class: "gap" }, h("td", { colspan: 3 }, "\u22ee")));
		last = row.source;
		previous = row.line;
		const element = h("tr", { class: `line heat-${heatOf(share)}` },
			h("td", { class: "number" }, row.line === null ? "" : h("button", { type: "button", class: "link",
				"aria-label": `Line ${row.line}: show its instructions`, onclick: () => choose(row) }, String(row.line))),
			h("td", { class: "number" }, row[model.event] > 0 ? percent(share) : ""),
			h("td", { class: "text", onclick: () => choose(row) }, nameOf(row.text ?? "", 400)));
		byLine.set(`${row.source}:${row.line}`, element);
		return [...before, element];
	});
	let marked = null;
	function mark(file, line, scroll) {
		marked?.classList.remove("selected");
		marked = byLine.get(`${file}:${line}`) ?? null;
		marked?.classList.add("selected");
		if (scroll && marked !== null)
			marked.scrollIntoView({ block: "nearest" });
	}
	function choose(row) {
		mark(row.source, row.line, false);
		chosen(row.source, row.line);
	}
	const element = h("div", { class: "code-box" }, h("table", { class: "code source" },
		h("caption", { class: "hidden" }, "Source"),
		h("thead", {}, h("tr", {}, ["Line", "Samples", "Source"].map((label) =>
			h("th", { scope: "col", class: label === "Source" ? null : "number" }, label)))), h("tbody", {}, made)));
	return { element, mark };
}
