// SPDX-License-Identifier: GPL-2.0-only
// The control-flow graph of a procedure: Graphviz's layout, drawn with the numbers of the analysis.

import { append, h, shorten, svg } from "./dom.js";
import { count, cycles, hex, interval, percent } from "./format.js";

const width = 180, height = 54;

// The points of an edge are those of a B-spline of cubic segments.
function pathOf(points) {
	let text = `M${points[0]},${points[1]}`;
	for (let i = 2; i + 5 < points.length; i += 6)
		text += `C${points.slice(i, i + 6).join(",")}`;
	return text;
}

/** The blocks of a part with their instructions; total: samples of the whole procedure. */
export function blockFacts(part, total) {
	return part.calc.blocks.map((block) => {
		const insns = part.calc.instructions.filter((insn) => insn.address >= block.start && insn.address < block.end);
		const samples = insns.reduce((sum, insn) => sum + insn.own_samples, 0);
		return { block, insns, samples, share: total > 0 ? (100 * samples) / total : 0 };
	});
}

function tooltip(fact) {
	const first = fact.insns[0];
	const ran = first && first.frequency !== null
		? `ran ${count(first.frequency)} times (${interval(first.frequency_low, first.frequency_high, count)}, ${first.confidence} confidence)`
		: "number of executions not known";
	return `${hex(fact.block.start)}: ${percent(fact.share)} of the samples, ${ran}`;
}

function drawBlock([address, x, y], facts, open) {
	const fact = facts.get(address);
	const { block } = fact;
	const left = x - width / 2, top = y - height / 2;
	const leaves = block.successors.some((edge) => edge.to === null ||
		!facts.has(edge.to));
	return svg("g", { class: `node heat-${heatOf(fact.share)}`, role: "link", tabindex: "0", "aria-label": tooltip(fact),
		onclick: () => open(block.start),
		onkeydown: (event) => {
			if (event.key === "Enter" || event.key === " ") {
				event.preventDefault();
				open(block.start);
			}
		} },
	svg("title", {}, tooltip(fact)),
	svg("rect", { x: left, y: top, width, height, rx: 4 }),
	svg("text", { x: left + 10, y: top + 21, class: "strong" }, hex(block.start)),
	svg("text", { x: left + width - 10, y: top + 21, "text-anchor": "end", class: "strong" }, percent(fact.share)),
	svg("text", { x: left + 10, y: top + 41 }, `\u00d7${count(fact.insns[0]?.frequency)}`),
	svg("text", { x: left + width - 10, y: top + 41, "text-anchor": "end" },
		`${cycles(block.actual_cpi)} CPI${leaves ? " \u21e5" : ""}`));
}

export function heatOf(share) {
	return [0.5, 2, 5, 10, 25].filter((least) => share >= least).length;
}

function drawEdge([from, to, ...points], facts, most) {
	const edge = facts.get(from).block.successors.find((successor) => successor.to === to);
	const part = edge?.frequency && most > 0 ? edge.frequency / most : 0;
	const text = edge?.frequency !== null && edge !== undefined
		? `${count(edge.frequency)} times (${interval(edge.frequency_low, edge.frequency_high, count)})`
		: "number of executions not known";
	return svg("g", { class: part < 0.01 ? "edge cold" : "edge" },
		svg("title", {}, `${hex(from)} to ${hex(to)}: ${text}`),
		svg("path", { d: pathOf(points), "stroke-width": (1 + 4 * Math.sqrt(part)).toFixed(2), "marker-end": "url(#arrow)" }));
}

/** Draw the graph of a part; open(address) shows a block in the listing. */
export function drawGraph(detail, part, open) {
	const { graph } = part;
	const facts = new Map(blockFacts(part, detail.samples).map((fact) => [fact.block.start, fact]));
	const most = Math.max(0, ...part.calc.blocks.flatMap((block) => block.successors.map((edge) => edge.frequency ?? 0)));
	const picture = svg("svg", { class: "graph", viewBox: `-4 -4 ${graph.width + 8} ${graph.height + 8}`, role: "group",
		"aria-label": "Control-flow graph" },
	svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
		markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0,0L8,4L0,8z" }))));
	append(picture, graph.edges.map((edge) => drawEdge(edge, facts, most)));
	append(picture, graph.blocks.map((node) => drawBlock(node, facts, open)));

	let zoom = 1;
	const box = h("div", { class: "graph-box", tabindex: "0", role: "region", "aria-label": "Control-flow graph, scrollable" }, picture);
	const size = (factor) => {
		zoom = Math.min(4, Math.max(0.2, zoom * factor));
		picture.style.setProperty("width", `${(graph.width + 8) * zoom}px`);
	};
	// A picture in which nothing can be read is scrolled instead.
	const fit = () => size(Math.min(1, Math.max(0.55, (box.clientWidth - 2) / (graph.width + 8))) / zoom);
	const hidden = detail.blocks - graph.blocks.length;
	size(1);
	requestAnimationFrame(fit);
	return [
		h("div", { class: "controls" },
			h("button", { type: "button", onclick: () => size(1.25), "aria-label": "Larger" }, "+"),
			h("button", { type: "button", onclick: () => size(0.8), "aria-label": "Smaller" }, "\u2212"),
			h("button", { type: "button", onclick: fit }, "Fit"),
			h("span", { class: "note" }, `${graph.blocks.length} blocks` + (hidden > 0 ? `, the hottest of ${detail.blocks}` : "") +
				". A block has its address and share of samples, executions, and cycles per instruction; \u21e5 marks an exit.")),
		box,
	];
}

export function graphNote(part) {
	return h("p", { class: "note" }, part.graph_note ? `No graph: ${shorten(part.graph_note, 300)}` : "No graph was made (--no-graphs).");
}
