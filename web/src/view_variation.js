// SPDX-License-Identifier: GPL-2.0-only
// The variation between epochs, and the differences between two sets of samples.

import { h, nameOf, svg } from "./dom.js";
import { count, integer, lastPart, percent, probability, signed } from "./format.js";
import { makeTable } from "./table.js";

function procedureLink(model, row) {
	const procedure = model.procedures.find((candidate) => candidate.name === row.procedure && candidate.image === row.image);
	const name = nameOf(row.procedure ?? row.image, 90);
	return procedure ? h("a", { href: `#/procedure/${procedure.index}` }, name) : name;
}

function valuesOf(report, row) {
	return report.sets.map((set) => row[`set_${set.set}`] ?? 0);
}

/** A small column chart of a row's normalised counts. */
export function spark(report, row, width = 90, height = 20) {
	const values = valuesOf(report, row);
	const most = Math.max(...values, 1e-9);
	const step = width / values.length;
	return svg("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
		"aria-label": `by epoch: ${values.map((value) => count(value)).join(", ")}` },
	values.map((value, i) => {
		const size = Math.max(1, (value / most) * (height - 1));
		return svg("rect", { x: i * step, y: height - size, width: Math.max(1, step - 1), height: size });
	}));
}

function testNote(report) {
	return `${integer(report.tested)} procedures tested against the noise of sampling, ${integer(report.significant)} significant ` +
		`at ${report.level} after ${report.correction}; counts are normalised by ${report.normalized}.`;
}

const nameColumns = (model) => [
	{ key: "procedure", label: "Procedure", class: "wide", value: (row) => row.procedure ?? row.image, cell: (row) => procedureLink(model, row) },
	{ key: "image", label: "Image", value: (row) => lastPart(row.image), cell: (row) => h("span", { title: row.image.slice(0, 2000) }, nameOf(lastPart(row.image), 50)) },
];

const testColumns = [
	{ key: "p", label: "p", numeric: true, title: "Probability of such a result by the noise of sampling alone",
		value: (row) => row.p, cell: (row) => probability(row.p) },
	{ key: "q", label: "q", numeric: true, title: "p, corrected for the number of tests", value: (row) => row.q,
		cell: (row) => row.significant ? h("strong", {}, probability(row.q)) : probability(row.q) },
];

export function variation(model) {
	const report = model.main.variation;
	const columns = [
		{ key: "spread", label: "Spread", numeric: true, title: "Variation between epochs beyond the noise of sampling, and its 95% interval",
			value: (row) => row.spread_percent,
			cell: (row) => [percent(row.spread_percent, 0), h("small", {}, row.spread_percent === null ? "" :
				`${percent(row.spread_low_percent, 0)} \u2013 ${percent(row.spread_high_percent, 0)}`)] },
		{ key: "share", label: "Share", numeric: true, value: (row) => row.percent, cell: (row) => percent(row.percent, 2) },
		{ key: "epochs", label: "By epoch", cell: (row) => spark(report, row) },
		...nameColumns(model),
		...testColumns,
	];
	const rows = report.rows.filter((row) => row.percent >= 0.1);
	return h("div", { class: "view" }, h("h2", {}, "Variation between epochs"),
		h("p", { class: "note" }, testNote(report), ` ${integer(rows.length)} procedures with at least 0.1% of the samples are listed.`),
		makeTable(columns, rows, { caption: "Variation between epochs", header: 3, sort: "spread" }));
}

// A bar to the left of the middle is a decrease.
function differenceBar(row, most) {
	const width = 120, middle = width / 2;
	const at = (value) => middle + (value / most) * middle;
	const low = at(row.difference - row.difference_interval), high = at(row.difference + row.difference_interval);
	return svg("svg", { class: `difference ${row.significant ? "significant" : ""}`, width, height: 14, "aria-hidden": "true" },
		svg("rect", { class: row.difference < 0 ? "less" : "more", x: Math.min(middle, at(row.difference)), y: 2,
			width: Math.max(1, Math.abs(at(row.difference) - middle)), height: 10 }),
		svg("line", { x1: Math.max(0, low), x2: Math.min(width, high), y1: 7, y2: 7 }),
		svg("line", { class: "zero", x1: middle, x2: middle, y1: 0, y2: 14 }));
}

export function differences(model) {
	const report = model.main.diff;
	const most = Math.max(...report.rows.map((row) => Math.abs(row.difference) + row.difference_interval), 1e-9);
	const columns = [
		{ key: "difference", label: "Difference", numeric: true, title: "After minus before, with the 95% interval of sampling noise",
			value: (row) => Math.abs(row.difference),
			cell: (row) => [signed(row.difference), h("small", {}, `\u00b1${count(row.difference_interval)}`)] },
		{ key: "bar", label: "", cell: (row) => differenceBar(row, most) },
		{ key: "before", label: "Before", numeric: true, value: (row) => row.before, cell: (row) => count(row.before) },
		{ key: "after", label: "After", numeric: true, value: (row) => row.after, cell: (row) => count(row.after) },
		{ key: "change", label: "Change", numeric: true, value: (row) => row.change_percent,
			cell: (row) => row.change_percent === null ? "new" : signed(row.change_percent, (n) => percent(n)) },
		...nameColumns(model),
		...testColumns,
	];
	return h("div", { class: "view" }, h("h2", {}, "Differences"),
		h("dl", { class: "figures" }, report.sets.map((set, i) => h("div", { class: "figure" },
			h("dt", {}, i === 0 ? "Before" : "After"),
			h("dd", {}, nameOf(set.name, 80), h("small", {}, `${integer(set.samples)} samples, ${set.epochs} epoch${set.epochs === 1 ? "" : "s"}`))))),
		h("p", { class: "note" }, testNote(report)),
		makeTable(columns, report.rows, { caption: "Differences between two sets of samples", header: 5, sort: "difference" }));
}
