// SPDX-License-Identifier: GPL-2.0-only
// The list of procedures, and the samples by image, unit, container, process and host.

import { replaceFragment } from "./fragment.js";
import { announce, h, nameOf, show } from "./dom.js";
import { cycles, integer, interval, percent } from "./format.js";
import { idleInRange, isWhole, ranked, totalWithIdle } from "./model.js";
import { bar, makeTable } from "./table.js";

const groupNames = { image: "image", unit: "unit", container: "container", process: "process", host: "host", epoch: "epoch" };

function procedureColumns() {
	return [
		{ key: "samples", label: "Samples", numeric: true, title: "Samples of the event, and their share",
			value: (row) => row.samples, cell: (row) => bar(row.share, percent(row.share), "heat") },
		{ key: "count", label: "Count", numeric: true, value: (row) => row.samples, cell: (row) => integer(row.samples) },
		{ key: "sum", label: "Sum", numeric: true, title: "Share of this procedure and of all with more samples",
			value: (row) => row.cumulative, cell: (row) => percent(row.cumulative) },
		{ key: "name", label: "Procedure", value: (row) => row.procedure.name, class: "wide",
			cell: (row) => h("a", { href: `#/procedure/${row.procedure.index}` }, nameOf(row.procedure.name, 110)) },
		{ key: "image", label: "Image", value: (row) => row.procedure.file,
			cell: (row) => h("span", { title: row.procedure.image.slice(0, 2000) }, nameOf(row.procedure.file, 60)) },
		{ key: "cpi", label: "CPI", numeric: true, title: "Cycles per instruction, and the interval that contains it nine times in ten",
			value: (row) => row.procedure.detail?.cpi ?? null,
			cell: (row) => cpiCell(row.procedure.detail) },
		{ key: "best", label: "Best", numeric: true, title: "Cycles per instruction without dynamic stalls",
			value: (row) => row.procedure.detail?.best_cpi ?? null, cell: (row) => cycles(row.procedure.detail?.best_cpi) },
		{ key: "varies", label: "Varies", numeric: true, title: "Spread between epochs beyond the noise of sampling; bold: significant",
			value: (row) => row.procedure.variation?.spread_percent ?? null, cell: (row) => variesCell(row.procedure.variation) },
	];
}

function cpiCell(detail) {
	if (!detail)
		return cycles(null);
	return [cycles(detail.cpi), h("small", {}, interval(detail.cpi_low, detail.cpi_high))];
}

function variesCell(variation) {
	if (variation === null)
		return cycles(null);
	const text = percent(variation.spread_percent, 0);
	return variation.significant ? h("strong", {}, text) : text;
}

// Numbers that do not depend on the range, and procedures that it lacks.
function rangeNote(model) {
	const missing = model.sliced ? model.procedures.filter(({ counts }) => counts === null).length : 0;
	return "CPI, best case and variation are of the whole time." +
		(missing > 0 ? ` The ${integer(missing)} procedures with fewest samples have no counts by time.` : "") +
		(model.sliced ? "" : " Procedures with few samples have no counts by epoch.");
}

function procedureTable(model, state, save) {
	const needle = state.search.toLowerCase();
	const rows = ranked(model).filter(({ procedure }) => needle === "" ||
		procedure.name.toLowerCase().includes(needle) || procedure.image.toLowerCase().includes(needle) ||
		(procedure.row.aliases ?? []).some((alias) => alias.toLowerCase().includes(needle)));
	const share = rows.reduce((sum, row) => sum + row.share, 0);
	const columns = procedureColumns().filter((column) => column.key !== "varies" || model.main.variation);

	announce(`${rows.length} procedures`);
	return [
		h("p", { class: "note", id: "found" }, `${integer(rows.length)} procedures, ${percent(share)} of the samples` +
			(isWhole(model) ? "." : ` of the range. ${rangeNote(model)}`)),
		makeTable(columns, rows, {
			caption: "Procedures",
			header: columns.findIndex((column) => column.key === "name"),
			sort: state.sort,
			ascending: state.ascending,
			open: (row) => { location.hash = `#/procedure/${row.procedure.index}`; },
			onsort: (sort, ascending) => { Object.assign(state, { sort, ascending }); save(); },
		}),
	];
}

function ownerName(by, row) {
	if (by === "image")
		return row.image;
	if (by === "process")
		return row.pid === null ? "not stored by process" : `${row.command || "?"} (${row.pid})`;
	if (by === "epoch")
		return `${row.epoch}${row.label ? `: ${row.label}` : ""}`;
	return row[by] ?? `no ${by}`;
}

// Processes with the same command are one group, too: "command".
function commandRows(model) {
	const sums = new Map();
	for (const row of model.main.groups.process.rows) {
		const name = row.pid === null ? "not stored by process" : row.command || "?";
		sums.set(name, (sums.get(name) ?? 0) + row[model.event]);
	}
	return [...sums].map(([name, samples]) => ({ name, samples }));
}

function ownerTable(model, state, save) {
	const idle = model.idle ? 0 : idleInRange({ ...model, range: [0, model.columns.length - 1] });
	const rows = state.group === "command" ? commandRows(model) : model.main.groups[state.group].rows.map((row) => ({
		name: ownerName(state.group, row), samples: row[model.event], unit: row.unit, container: row.container,
	}));
	const total = totalWithIdle(model);
	const needle = state.search.toLowerCase();
	const columns = [
		{ key: "samples", label: "Samples", numeric: true, value: (row) => row.samples,
			cell: (row) => bar((100 * row.samples) / total, percent((100 * row.samples) / total), "heat") },
		{ key: "count", label: "Count", numeric: true, value: (row) => row.samples, cell: (row) => integer(row.samples) },
		{ key: "name", label: state.group[0].toUpperCase() + state.group.slice(1), value: (row) => row.name, class: "wide",
			cell: (row) => state.group === "image"
				? h("button", { type: "button", class: "link", onclick: () => { state.search = row.name; state.group = "procedure"; save(true); } }, nameOf(row.name, 120))
				: nameOf(row.name, 120) },
	];
	if (state.group === "process")
		columns.push({ key: "unit", label: "Unit", value: (row) => row.unit ?? "", cell: (row) => nameOf(row.unit ?? "", 60) });
	return [
		!isWhole(model) && h("p", { class: "note" }, "These sums are of the whole time."),
		idle > 0 && h("p", { class: "note" }, "These sums and shares include idle time."),
		makeTable(columns, rows.filter((row) => row.name.toLowerCase().includes(needle)),
			{ caption: `Samples by ${state.group}`, header: 2, sort: state.sort === "name" ? "name" : "samples", ascending: state.ascending }),
	];
}

function choices(model) {
	const known = Object.keys(groupNames).filter((key) => model.main.groups[key] &&
		(model.main.groups[key].rows.length > 1 || key === "image"));
	return ["procedure", ...known.flatMap((key) => key === "process" ? ["process", "command"] : [key])];
}

export function procedures(model, query) {
	const state = {
		search: query.get("q") ?? "", group: query.get("by") ?? "procedure",
		sort: query.get("sort") ?? "samples", ascending: query.get("dir") === "up",
	};
	const list = h("div");
	const input = h("input", { type: "search", id: "search", value: state.search, placeholder: "Search names and images",
		"aria-label": "Search", "aria-describedby": "found", autocomplete: "off", spellcheck: "false",
		oninput: () => { state.search = input.value; update(); } });
	const groups = h("div", { class: "segments", role: "group", "aria-label": "Group by" });

	if (!choices(model).includes(state.group))
		state.group = "procedure";
	function save(again = false) {
		const next = new URLSearchParams();
		if (state.search)
			next.set("q", state.search);
		if (state.group !== "procedure")
			next.set("by", state.group);
		if (state.sort !== "samples" || state.ascending)
			next.set("sort", state.sort);
		if (state.ascending)
			next.set("dir", "up");
		replaceFragment("procedures", next);
		if (again) {
			input.value = state.search;
			update();
		}
	}
	function update() {
		show(groups, choices(model).map((key) => h("button", { type: "button", "aria-pressed": String(state.group === key),
			onclick: () => { state.group = key; update(); } }, key)));
		show(list, state.group === "procedure" ? procedureTable(model, state, save) : ownerTable(model, state, save));
		save();
	}
	update();
	return h("div", { class: "view" }, h("div", { class: "controls" }, input, groups), list);
}
