// SPDX-License-Identifier: GPL-2.0-only
// The fragment of the address: a link to what is shown, the selected range included.

let range = null;

/** Set the range that links contain: [first, last]; null: the whole time. */
export function setRange(columns) {
	range = columns;
}

/** Return the parts of the fragment: {view, rest, query}. */
export function readFragment() {
	const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
	const [view = "", ...rest] = path.split("/");
	return { view, rest, query: new URLSearchParams(query) };
}

/** Show another fragment without another entry in the history. */
export function replaceFragment(path, query = new URLSearchParams()) {
	if (range === null)
		query.delete("range");
	else
		query.set("range", range.join("-"));
	const text = query.toString();
	history.replaceState(null, "", `#/${path}${text ? `?${text}` : ""}`);
}
