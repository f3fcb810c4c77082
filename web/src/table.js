// SPDX-License-Identifier: GPL-2.0-only
// A sortable table that adds rows while the reader scrolls.

import { append, h } from "./dom.js";

const step = 50;
let atFirst = step;

/** Make tables with this number of rows at first: that of the table that they replace. */
export function setFirstRows(rows) {
	atFirst = Math.max(step, rows);
}

// Much faster than String.prototype.localeCompare(), with the same result.
const collator = new Intl.Collator();

/**
 * Make a table.
 *
 * columns: {key, label, title, numeric, value(row), cell(row)}; value() is what rows are sorted by.
 * options: {caption, sort: key, ascending, open(row), onsort(key, ascending)}
 */
export function makeTable(columns, rows, options) {
	let { sort, ascending = false } = options;
	let sorted = rows;
	let shown = 0;
	const body = h("tbody");
	const end = h("p", { class: "more" });
	const heads = columns.map((column) => h("th", { scope: "col", class: column.numeric ? "number" : null },
		column.value
			? h("button", { type: "button", title: column.title, onclick: () => choose(column.key) }, column.label)
			: h("span", { title: column.title }, column.label)));
	const table = h("table", { class: "list" },
		h("caption", { class: "hidden" }, options.caption),
		h("thead", {}, h("tr", {}, heads)), body);
	const watch = new IntersectionObserver((entries) => {
		if (entries.some((entry) => entry.isIntersecting))
			more();
	}, { rootMargin: "600px" });

	function order() {
		const column = columns.find((candidate) => candidate.key === sort);
		sorted = column === undefined ? rows : [...rows].sort((a, b) => {
			const x = column.value(a), y = column.value(b);
			if (x === null || x === undefined)
				return y === null || y === undefined ? 0 : 1;
			if (y === null || y === undefined)
				return -1;
			const difference = typeof x === "string" ? collator.compare(x, y) : x - y;
			return ascending ? difference : -difference;
		});
		columns.forEach((candidate, i) => {
			if (candidate.key === sort)
				heads[i].setAttribute("aria-sort", ascending ? "ascending" : "descending");
			else
				heads[i].removeAttribute("aria-sort");
		});
		body.replaceChildren();
		shown = 0;
		more(atFirst);
	}

	function choose(key) {
		const column = columns.find((candidate) => candidate.key === key);
		ascending = sort === key ? !ascending : !column.numeric;
		sort = key;
		options.onsort?.(sort, ascending);
		order();
	}

	function makeRow(row) {
		return h("tr", {
			onclick: options.open && ((event) => {
				if (!event.target.closest("a, button") && String(getSelection()) === "")
					options.open(row);
			}),
			class: options.open ? "opens" : null,
		}, columns.map((column, i) => h(i === options.header ? "th" : "td", {
			class: column.numeric ? "number" : column.class,
			scope: i === options.header ? "row" : null,
			"data-label": column.label,
		}, column.cell(row))));
	}

	function more(rows = step) {
		append(body, sorted.slice(shown, shown + rows).map(makeRow));
		shown = Math.min(sorted.length, shown + rows);
		end.textContent = shown < sorted.length ? `${shown} of ${sorted.length} rows` : "";
	}

	order();
	watch.observe(end);
	return h("div", { class: "table" }, table, end);
}

/** A cell with a number and a bar: share is 0 .. 100. */
export function bar(share, text, kind = "") {
	return h("span", { class: `bar-cell ${kind}` },
		h("span", { class: "bar-track", "aria-hidden": "true" },
			h("span", { class: "bar-fill", style: { width: `${Math.min(100, Math.max(0, share))}%` } })),
		h("span", {}, text));
}
