// SPDX-License-Identifier: GPL-2.0-only
// The timeline: the rate of samples in each column, those of the hottest procedures below the others,
// and the selection of a range of columns, by dragging, with keys or with two lists.

import uPlot from "uplot";
import { announce, h, nameOf, show } from "./dom.js";
import { count, duration, integer, utc } from "./format.js";
import { inColumn, isWhole, sumInRange } from "./model.js";

// Custom properties of the style: of the hottest procedures, and of all others.
const colors = ["--hot-soft", "--wait", "--good"], rest = "--chart-rest";

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The counts of a procedure in all columns; null: not known.
function countsOf(model, procedure) {
	const counts = model.columns.map((column) => model.sliced ? 0 : inColumn(procedure, column));
	if (model.sliced && procedure.counts === null)
		return null;
	for (let i = 0; model.sliced && i < procedure.counts.length; i += 2)
		counts[procedure.counts[i]] = procedure.counts[i + 1];
	return counts.includes(null) ? null : counts;
}

// The hottest procedures, and for each the counts of it and of those before it, added up.
function makeLayers(model) {
	const layers = [];
	let sum = model.columns.map(() => 0);
	for (const procedure of model.procedures.filter(({ idle, row }) => !idle && row[`${model.event}_percent`] !== null)) {
		const counts = layers.length < colors.length ? countsOf(model, procedure) : null;
		if (counts === null)
			break;
		sum = sum.map((value, i) => value + counts[i]);
		layers.push({ procedure, color: colors[layers.length], counts: sum });
	}
	return layers;
}

// Each column is a step from its start to its end; between columns that do not touch there is nothing.
function stepsOf(columns, layers) {
	const x = [], ys = layers.map(() => []);
	const push = (at, values) => {
		x.push(at);
		values.forEach((value, i) => ys[i].push(value));
	};
	columns.forEach((column, i) => {
		const rates = layers.map((counts) => counts[i] / (column.end - column.start));
		const gap = (columns[i + 1]?.start ?? Infinity) - column.end;
		push(column.start, rates);
		push(column.end, rates);
		if (gap > 0)
			push(column.end + Math.min(0.001, gap / 2), layers.map(() => null));
	});
	return [x, ...ys];
}

// UTC, as everywhere on the page: the time of day, or the date where days are shown.
function clock(seconds, span) {
	const text = utc(seconds);
	if (span > 3 * 86400)
		return text.slice(5, 10);
	return span < 900 ? text.slice(11, 19) : text.slice(11, 16);
}

function plural(number, noun) {
	return `${integer(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// What is selected, in words.
function describe(model) {
	const [first, last] = model.range, { columns } = model;
	const seconds = columns.slice(first, last + 1).reduce((sum, c) => sum + c.end - c.start, 0);
	if (!model.sliced)
		return `${plural(last - first + 1, "epoch")}, ${duration(seconds)}, from ${utc(columns[first].start)} UTC`;
	const [slices, interrupts, lost, unknown] = ["slices", "interrupts", "lost", "unknown"].map((key) => sumInRange(model, key));
	return `${plural(slices, "slice")}, ${duration(seconds)}, from ${utc(columns[first].start)} UTC: ` +
		`${plural(interrupts - lost, "sample")}, ${integer(lost)} lost, ${integer(unknown)} unknown`;
}

// The options by which other reports select the range.
function optionsOf(model) {
	if (!model.sliced || isWhole(model))
		return "";
	const [first, last] = model.range.map((index) => model.columns[index]);
	// Any time between the last slice and the next column selects the same slices.
	const until = Math.max(last.at + model.main.timeline.step_s, Math.floor(last.end));
	return `--since @${first.at} --until @${Math.min(until, model.columns[last.index + 1]?.at ?? Infinity)}`;
}

// The range after a key; null: not a key of the timeline.
function rangeAfter(model, event) {
	const last = model.columns.length - 1;
	const [a, b] = isWhole(model) ? [-1, -1] : model.range;
	const [from, to] = { ArrowLeft: [a - 1, b - 1], ArrowRight: [a + 1, b + 1], Home: [0, b - a], End: [last - b + a, last] }[event.key] ?? [];
	if (from === undefined)
		return null;
	if (isWhole(model))
		return event.key === "ArrowRight" || event.key === "Home" ? [0, 0] : [last, last];
	if (event.shiftKey)
		return [a, Math.max(a, Math.min(to, last))];
	return from < 0 || to > last ? model.range : [from, to];
}

/** Show the timeline; changed() is called after the reader has selected another range. */
export function showTimeline(container, model, changed) {
	const { columns } = model;
	const layers = makeLayers(model);
	const text = h("span", { class: "range-text" }), options = h("code", { class: "range-text" });
	const chart = h("div", { class: "chart", id: "chart", tabindex: "0", role: "slider", "aria-label": "Selected time",
		"aria-valuemin": 0, "aria-valuemax": columns.length - 1, onkeydown: onkey });
	const oneDay = utc(columns[0].start).slice(0, 10) === utc(columns[columns.length - 1].end).slice(0, 10);
	const nameOfEnd = (column, end) => model.sliced ? utc(end === 0 ? column.start : column.end).slice(oneDay ? 11 : 0) : column.name.slice(0, 60);
	const select = (label, end) => h("label", {}, h("span", {}, label),
		h("select", { onchange: (event) => set(end, Number(event.target.value)) },
			columns.map((column) => h("option", { value: column.index }, nameOfEnd(column, end)))));
	const from = select("From", 0), to = select("to", 1);
	const whole = h("button", { type: "button", id: "range-all", onclick: all }, "All");
	let plot = null;

	// Positions are known when the plot is ready.
	function mark() {
		const [first, last] = model.range;
		from.querySelector("select").value = first;
		to.querySelector("select").value = last;
		whole.disabled = isWhole(model);
		show(text, describe(model));
		show(options, optionsOf(model));
		chart.setAttribute("aria-valuenow", first);
		chart.setAttribute("aria-valuetext", text.textContent);
		chart.classList.toggle("selected", !isWhole(model));
		if (plot !== null && !isWhole(model)) {
			const left = plot.valToPos(columns[first].start, "x");
			plot.setSelect({ left, width: Math.max(2, plot.valToPos(columns[last].end, "x") - left), top: 0,
				height: plot.over.clientHeight }, false);
		} else if (plot !== null) {
			plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
		}
	}

	function choose(first, last) {
		model.range = [Math.min(first, last), Math.max(first, last)];
		mark();
		announce(text.textContent);
		changed();
	}

	function all() {
		choose(0, columns.length - 1);
	}

	// The column after or before the range.
	function next(step) {
		const last = columns.length - 1;
		const [a, b] = isWhole(model) ? (step > 0 ? [-1, -1] : [last + 1, last + 1]) : model.range;
		const index = Math.min(last, Math.max(0, (step > 0 ? b : a) + step));
		choose(index, index);
	}

	function set(end, index) {
		const [first, last] = model.range;
		if (end === 0)
			choose(index, Math.max(index, last));
		else
			choose(Math.min(index, first), index);
	}

	function onkey(event) {
		const range = event.ctrlKey || event.metaKey || event.altKey ? null : rangeAfter(model, event);
		if (event.key === "Escape")
			all();
		else if (range !== null)
			choose(...range);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	function dragged(u) {
		const { left, width } = u.select;
		if (width < 3)
			return;
		const start = u.posToVal(left, "x"), end = u.posToVal(left + width, "x");
		const inside = columns.filter((column) => column.end > start && column.start < end);
		if (inside.length > 0)
			choose(inside[0].index, inside[inside.length - 1].index);
		else
			mark();
	}

	function draw() {
		plot?.destroy();
		const axis = { stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false },
			font: "11px system-ui, sans-serif" };
		const area = (name) => ({ stroke: color(name), fill: color(name), width: 1, points: { show: false }, spanGaps: false });
		// The largest sum is behind the others.
		const behind = [...layers].reverse();
		plot = new uPlot({
			width: Math.max(200, chart.clientWidth),
			height: 76,
			padding: [6, 8, 0, 0],
			legend: { show: false },
			cursor: { drag: { x: true, y: false, setScale: false }, y: false, points: { show: false } },
			tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
			scales: { x: { time: true }, y: { range: (u, low, high) => [0, (high || 1) * 1.1] } },
			axes: [{ ...axis, size: 22, space: 70, values: (u, v) => v.map((t) => clock(t, u.scales.x.max - u.scales.x.min)) }, { ...axis, size: 46, space: 22, values: (u, v) => v.map((n) => `${count(n)}/s`) }],
			series: [{}, area(rest), ...behind.map((layer) => area(layer.color))],
			hooks: { setSelect: [dragged], ready: [mark] },
		}, stepsOf(columns, [columns.map((column) => column.samples), ...behind.map((layer) => layer.counts)]), chart);
	}

	const entry = (name, label) => h("span", {}, h("i", { style: { background: `var(${name})` } }), label);
	show(container, chart,
		h("div", { class: "chart-legend" }, layers.map((layer) => entry(layer.color, nameOf(layer.procedure.name, 36))), entry(rest, "others")),
		h("div", { class: "range-controls" }, from, to, whole, text, options));
	container.hidden = false;
	draw();
	const resized = new ResizeObserver(() => {
		if (plot !== null && Math.abs(plot.width - Math.max(200, chart.clientWidth)) > 1)
			draw();
	});
	resized.observe(chart);
	function end() {
		resized.disconnect();
		plot.destroy();
	}
	return { choose, all, next, redraw: draw, end };
}
