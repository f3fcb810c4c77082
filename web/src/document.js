// SPDX-License-Identifier: GPL-2.0-only
// Reads the document: docs/reports.schema.json, "dcpireport". Its parts are elements of the page.

async function inflate(page, id) {
	const element = page.getElementById(id);
	if (element === null)
		throw new Error(`this page has no data "${id}"`);
	const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return JSON.parse(await new Response(stream).text());
}

/** Return a reader of a page: {main()}, and {part(number)} of an analysed procedure, read once. */
export function openDocument(page) {
	const parts = new Map();
	return {
		main: () => inflate(page, "data-main"),
		part(number) {
			if (!parts.has(number))
				parts.set(number, inflate(page, `data-part-${number}`));
			return parts.get(number);
		},
	};
}

/** Return true if another page has the same data, apart from the time at which it was made. */
export function isSame(page, other) {
	return page.getElementById("data-main")?.textContent === other.getElementById("data-main")?.textContent;
}

/** Return true if another page has the same program: only then can this one show its data. */
export function hasSameProgram(page, other) {
	const scripts = [page, other].map((which) => [...which.scripts].map((script) => script.id ? "" : script.textContent).join(""));
	return scripts[0] === scripts[1];
}
