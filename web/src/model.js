// SPDX-License-Identifier: GPL-2.0-only
// What the views show, from the document's objects.
//
// Columns are the time axis: those of the document's timeline; without one, the epochs. A procedure
// has its count in each column, where the document has it.

import { lastPart } from "./format.js";

/** A key by which rows of different reports are the same procedure. */
function keyOf(row) {
	return `${row.procedure}\u0000${row.image}`;
}

// Slices may overlap, if they are of several hosts; columns do not.
function sliceColumns({ columns }) {
	return columns.map(([at, start, end, slices, interrupts, lost, unknown, samples], index) => {
		const next = columns[index + 1]?.[1] ?? Infinity;
		return { index, at, start: start / 1000, end: Math.max(start + 1, Math.min(end, next)) / 1000,
			slices, interrupts, lost, unknown, samples, set: null };
	});
}

function epochColumns(main) {
	const epochs = main.procedures.epochs;
	const byEpoch = new Map((main.groups.epoch?.rows ?? []).map((row) => [row.epoch, row]));
	const names = new Map((main.variation?.sets ?? []).map((set) => [set.name, set]));

	return epochs.map((epoch, index) => ({
		index,
		name: epoch.label ? `${epoch.epoch}: ${epoch.label}` : `epoch ${epoch.epoch}`,
		epoch: epoch.epoch,
		start: Date.parse(epoch.start) / 1000,
		end: Math.max(Date.parse(epoch.end) / 1000, Date.parse(epoch.start) / 1000 + 1),
		samples: byEpoch.get(epoch.epoch)?.[main.event] ?? epoch.interrupts,
		set: names.size > 0 ? setOf(main, epoch, index) : null,
	}));
}

// Sets without samples of the event are left out, so the position alone does not identify a set.
function setOf(main, epoch, index) {
	const { sets } = main.variation;
	const found = sets.find((set) => new RegExp(`(^|\\D)${epoch.epoch}($|\\D)`).test(set.name));
	return found ?? (sets.length === main.procedures.epochs.length ? sets[index] : null);
}

// Rows by their key; null where several procedures of an image have one name.
function uniqueByKey(rows) {
	const found = new Map();
	for (const row of rows)
		found.set(keyOf(row), found.has(keyOf(row)) ? null : row);
	return found;
}

function makeProcedures(main) {
	const details = new Map(main.details.map((detail, part) => [detail.row, { ...detail, part }]));
	const reasons = new Map(main.not_analysed.map((item) => [item.row, item.reason]));
	const variation = uniqueByKey(main.variation?.rows ?? []);
	const own = uniqueByKey(main.procedures.rows);
	const counts = main.timeline?.rows ?? [];
	const idle = new Set(main.idle);

	return main.procedures.rows.map((row, index) => ({
		index,
		name: row.procedure,
		image: row.image,
		/** The kernel waits for work in it: it is never the hottest procedure. */
		idle: idle.has(index),
		file: lastPart(row.image),
		row,
		total: row[main.event],
		detail: details.get(index) ?? null,
		reason: reasons.get(index) ?? "only the hottest procedures are analysed (--limit)",
		variation: own.get(keyOf(row)) ? variation.get(keyOf(row)) ?? null : null,
		/** column, count, column, count ... with a timeline; null: left out */
		counts: counts[index] ?? null,
	}));
}

export function makeModel(main) {
	const columns = main.timeline ? sliceColumns(main.timeline) : epochColumns(main);
	const model = {
		main,
		event: main.event,
		columns,
		/** Columns are of slices, not of epochs. */
		sliced: Boolean(main.timeline),
		procedures: makeProcedures(main),
		/** Shares include the time in which the kernel waits for work. */
		idle: false,
		/** The selected columns, both ends included. */
		range: [0, columns.length - 1],
		stalls: [],
		parts: new Map(),
	};
	return model;
}

/** Select the same time, and the same idle setting, as another model of the same database. */
export function continueFrom(model, before) {
	model.idle = before.idle;
	if (isWhole(before))
		return;
	const [first, last] = before.range.map((index) => before.columns[index]);
	const inside = model.columns.filter((column) => column.end > first.start && column.start < last.end);
	if (inside.length > 0)
		model.range = [inside[0].index, inside[inside.length - 1].index];
}

export function isWhole(model) {
	return model.range[0] === 0 && model.range[1] === model.columns.length - 1;
}

/** The samples of a procedure in one column; null: not known. */
export function inColumn(procedure, column) {
	if (procedure.variation === null || column.set === null)
		return null;
	const value = procedure.variation[`set_${column.set.set}`];
	return column.set.factor > 0 ? value / column.set.factor : null;
}

/** The samples of a procedure in the selected range; null: not known. */
export function inRange(model, procedure) {
	if (isWhole(model))
		return procedure.total;
	let sum = 0;
	if (model.sliced) {
		const { counts } = procedure;
		for (let i = 0; counts !== null && i < counts.length && counts[i] <= model.range[1]; i += 2)
			sum += counts[i] >= model.range[0] ? counts[i + 1] : 0;
		return counts === null ? null : Math.round(sum);
	}
	for (let i = model.range[0]; i <= model.range[1]; i++) {
		const value = inColumn(procedure, model.columns[i]);
		if (value === null)
			return null;
		sum += value;
	}
	return sum;
}

/** The sum of a number of the columns in the selected range. */
export function sumInRange(model, key) {
	let sum = 0;
	for (let i = model.range[0]; i <= model.range[1]; i++)
		sum += model.columns[i][key];
	return sum;
}

/** The samples of the selected range in which the kernel waits for work. */
export function idleInRange(model) {
	return model.procedures.reduce((sum, procedure) => sum + (procedure.idle ? inRange(model, procedure) ?? 0 : 0), 0);
}

/** All samples of the event, without the profiler's own, idle time included. */
export function totalWithIdle(model) {
	const all = model.main.procedures;
	return all.totals[model.event] - (all.profiler_totals?.[model.event] ?? 0);
}

/** All samples that shares are of: those of dcpiprof, or with model.idle those of dcpiprof --idle. */
export function totalOfAll(model) {
	const idle = model.idle ? 0 : model.procedures.reduce((sum, procedure) => sum + (procedure.idle ? procedure.total : 0), 0);
	return totalWithIdle(model) - idle;
}

/** The same in the selected range. */
export function totalInRange(model) {
	return isWhole(model) ? totalOfAll(model) : sumInRange(model, "samples") - (model.idle ? 0 : idleInRange(model));
}

/** Return true if shares leave out a procedure, because the kernel waits for work in it. */
export function isExcluded(model, procedure) {
	return procedure.idle && !model.idle;
}

/** Rows with their samples in the range, and with the share of each and of all up to it, most first. */
export function ranked(model) {
	const total = totalInRange(model);
	const rows = [];
	for (const procedure of model.procedures) {
		const samples = inRange(model, procedure);
		// Shares exclude what profiling causes, and idle time, as in the other reports.
		if (samples !== null && samples > 0 && !isExcluded(model, procedure) && procedure.row[`${model.event}_percent`] !== null)
			rows.push({ procedure, samples, share: total > 0 ? (100 * samples) / total : 0 });
	}
	rows.sort((a, b) => b.samples - a.samples);
	let sum = 0;
	for (const row of rows) {
		sum += row.samples;
		row.cumulative = total > 0 ? (100 * sum) / total : 0;
	}
	return rows;
}

/** The instructions that stall, with what this costs at most: in samples, the largest first. */
export function stallsOf(part) {
	const stalls = [];
	for (const insn of part.calc.instructions) {
		if (insn.culprits.length === 0 || !(insn.cpi > 0))
			continue;
		const dynamic = Math.max(...insn.culprits.map((culprit) => culprit.cycles_high ?? 0));
		const cost = insn.own_samples * Math.min(1, dynamic / insn.cpi);
		stalls.push({ insn, dynamic, cost });
	}
	return stalls.sort((a, b) => b.cost - a.cost);
}

// Sampled stacks, with links to the procedures of the page, and without those that shares leave out.
// Values are of whole subtrees.
function withProcedures(model, root) {
	const known = new Map(model.procedures.map((procedure) => [keyOf({ procedure: procedure.name, image: procedure.image }), procedure]));
	const copy = (node) => {
		const procedure = node.image === undefined ? undefined : known.get(keyOf({ procedure: node.name, image: node.image }));
		if (procedure && isExcluded(model, procedure))
			return null;
		const children = (node.children ?? []).map(copy);
		const removed = (node.children ?? []).reduce((sum, child, i) => sum + child.value - (children[i]?.value ?? 0), 0);
		return { ...node, procedure, value: node.value - removed, children: children.filter((child) => child !== null && child.value > 0) };
	};
	return copy(root);
}

/** The tree that the flame graph shows: {name, value, children}. */
export function makeTree(model) {
	if (model.main.stacks)
		return withProcedures(model, model.main.stacks);
	const images = new Map();
	for (const { procedure, samples } of ranked(model)) {
		if (!images.has(procedure.image))
			images.set(procedure.image, { name: procedure.image, kind: "image", children: [] });
		images.get(procedure.image).children.push({
			name: procedure.name,
			kind: "procedure",
			procedure,
			value: samples,
			children: linesOf(model, procedure, samples),
		});
	}
	return { name: "all", kind: "all", children: [...images.values()] };
}

// Source lines come with the part, which may not have been read yet. In a range, the lines have the
// proportions of all epochs.
function linesOf(model, procedure, samples) {
	const part = procedure.detail ? model.parts.get(procedure.detail.part) : undefined;
	if (part === undefined || !isWhole(model))
		return [];
	const lines = new Map();
	for (const row of part.listing.rows) {
		if (row.source === null || row.line === null || !(row[model.event] > 0))
			continue;
		const name = `${lastPart(row.source)}:${row.line}`;
		lines.set(name, (lines.get(name) ?? 0) + row[model.event]);
	}
	const sum = [...lines.values()].reduce((a, b) => a + b, 0);
	const scale = sum > samples ? samples / sum : 1;
	return [...lines].map(([name, value]) => ({ name, kind: "line", procedure, value: value * scale }));
}
