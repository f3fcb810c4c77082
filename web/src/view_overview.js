// SPDX-License-Identifier: GPL-2.0-only
// The first view: what was profiled, what was lost, and where the time went.

import { h, nameOf } from "./dom.js";
import { count, cycles, duration, hex, integer, interval, percent, time } from "./format.js";
import { idleInRange, isExcluded, isWhole, ranked, sumInRange, totalInRange, totalOfAll } from "./model.js";
import { bar } from "./table.js";

const hottest = 12;

function figure(label, value, note) {
	return h("div", { class: "figure" }, h("dt", {}, label), h("dd", {}, value, note && h("small", {}, note)));
}

function counters(object) {
	return Object.entries(object).filter(([, value]) => value > 0)
		.map(([name, value]) => `${name.replaceAll("_", " ")} ${integer(value)}`).join(", ");
}

function figures(model) {
	const header = model.main.procedures;
	const seconds = model.columns.reduce((sum, column) => sum + column.end - column.start, 0);
	const events = header.events.map((event) => event.event).join(", ");
	const share = (part, whole) => percent(whole > 0 ? (100 * part) / whole : 0, 2);

	if (model.sliced && !isWhole(model)) {
		const [interrupts, lost, unknown] = ["interrupts", "lost", "unknown"].map((key) => sumInRange(model, key));
		return h("dl", { class: "figures" },
			figure("Samples in the range", integer(interrupts - lost), events),
			figure("Lost", share(lost, interrupts), `${integer(lost)} of ${integer(interrupts)} interrupts`),
			figure("Unknown", share(unknown, interrupts - lost), `${integer(unknown)} samples`),
			figure("Slices", integer(sumInRange(model, "slices"))));
	}
	return h("dl", { class: "figures" },
		figure("Samples", integer(header.samples), events),
		figure("Lost", share(header.lost, header.interrupts), counters(header.losses) || "none"),
		figure("Unknown", share(header.unknown, header.samples), counters(header.unknown_reasons) || "none"),
		figure("Accounting", header.exact ? "exact" : "not exact",
			`${integer(header.interrupts)} interrupts = ${integer(header.samples)} samples + ${integer(header.lost)} lost`),
		figure("Time", duration(seconds), `${header.epochs.length} epoch${header.epochs.length === 1 ? "" : "s"}`),
		header.profiler_samples !== undefined &&
			figure("Profiler", percent((100 * header.profiler_samples) / header.samples, 2), "its own samples, excluded from shares"));
}

function profiled(model) {
	const header = model.main.procedures;
	const first = header.epochs[0], last = header.epochs[header.epochs.length - 1];
	const unique = (key) => [...new Set(header.epochs.map((epoch) => epoch[key]))].slice(0, 4);
	const rows = [
		["Host", unique("host").join(", ")],
		["Processor", `${unique("cpu_model").join(", ")}, ${first.cpus} CPU${first.cpus === 1 ? "" : "s"}`],
		["Kernel", unique("kernel").join(", ")],
		["From", `${time(first.start)} UTC`],
		["To", `${time(last.end)} UTC${last.open ? " (still open)" : ""}`],
		["Source", `${first.source}${first.source_reason ? `: ${first.source_reason}` : ""}`],
		...header.events.map((event) => ["Event",
			`${event.event}, every ${integer(event.period_min)} to ${integer(event.period_max)} ${event.unit}` +
			(event.scaled ? ", scaled" : "")]),
	];
	return h("section", { class: "card" }, h("h2", {}, "What was profiled"),
		h("dl", { class: "facts" }, rows.map(([key, value]) => [h("dt", {}, key), h("dd", {}, nameOf(value, 400))])),
		(header.hints ?? []).map((hint) => h("p", { class: "note" }, hint)));
}

function procedures(model) {
	const all = ranked(model), rows = all.filter(({ procedure }) => !procedure.idle).slice(0, hottest);
	const idle = idleInRange(model), total = totalInRange(model) + (model.idle ? 0 : idle);
	return h("section", { class: "card" },
		h("h2", {}, "Hottest procedures", !isWhole(model) && h("small", {}, " in the selected range")),
		h("ol", { class: "hot" }, rows.map(({ procedure, share }) => h("li", {},
			h("a", { href: `#/procedure/${procedure.index}` },
				h("span", { class: "hot-name" }, nameOf(procedure.name, 70), h("small", {}, nameOf(procedure.file, 40))),
				bar(share, percent(share), "heat"))))),
		rows.length === 0 && h("p", { class: "note" }, "There are no samples of procedures in this time."),
		idle > 0 && h("p", { class: "note" }, `In ${percent((100 * idle) / total)} of the samples, the kernel waited for work. `,
			model.idle ? "Its procedures for that are not listed here." : "Shares leave out this idle time."),
		h("p", { class: "more" }, h("a", { href: "#/procedures" }, `All ${integer(model.procedures.length)} procedures`)));
}

function stallText(model, stall) {
	const { insn } = stall;
	const causes = [...new Set(insn.culprits.map((culprit) => model.main.causes[culprit.cause] ?? culprit.cause))];
	return `${cycles(stall.dynamic)} cycles each time; possible causes: ${causes.join(", ")}`;
}

function stalls(model) {
	const all = totalOfAll(model);
	const known = model.stalls.filter(({ procedure }) => !procedure.idle).slice(0, hottest);
	return h("section", { class: "card" }, h("h2", {}, "Longest waits", !isWhole(model) && h("small", {}, " in the whole time")),
		known.length === 0 && h("p", { class: "note" }, model.main.details.length === 0
			? "No procedure could be analysed."
			: "The analysed procedures have no significant stall."),
		h("ol", { class: "hot" }, known.map((stall) => h("li", {},
			h("a", { href: `#/procedure/${stall.procedure.index}/${hex(stall.insn.address)}` },
				h("span", { class: "hot-name" }, nameOf(stall.procedure.name, 60), h("small", {}, stallText(model, stall))),
				bar((100 * stall.cost) / all, percent((100 * stall.cost) / all), "wait"))))),
		h("p", { class: "note" }, "At most this share of all samples; what an instruction waited for is inferred, " +
			"and several causes may be possible. Select one for its evidence."));
}

function analysed(model) {
	const rows = model.procedures.filter((procedure) => procedure.detail !== null && !isExcluded(model, procedure));
	const samples = rows.reduce((sum, { total }) => sum + total, 0);
	const share = (100 * samples) / totalOfAll(model);
	const reasons = new Map();
	for (const item of model.main.not_analysed)
		reasons.set(item.reason, (reasons.get(item.reason) ?? 0) + 1);
	return h("section", { class: "card" }, h("h2", {}, "Analysed"),
		h("p", {}, `${rows.length} procedures with ${percent(share)} of the samples.`),
		reasons.size > 0 && h("details", {}, h("summary", {}, `${model.main.not_analysed.length} of the hottest are not`),
			h("ul", {}, [...reasons].slice(0, 40).map(([reason, number]) => h("li", {}, `${number}: `, nameOf(reason, 300))))));
}

export function overview(model) {
	return h("div", { class: "view" }, figures(model),
		h("div", { class: "cards" }, procedures(model), stalls(model), profiled(model), analysed(model)),
		h("p", { class: "note footer" }, `dcpireport ${model.main.program}, ${time(model.main.generated)} UTC. `,
			`CPI is given with the interval that contains it nine times in ten: ${interval(1.2, 3.4)}. `,
			`${count(model.main.details.length)} procedures have their instructions in this file.`));
}
