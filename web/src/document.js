// SPDX-License-Identifier: GPL-2.0-only
// Reads the document: docs/reports.schema.json, "dcpireport". Here its parts are elements of the
// page; a server would answer the same two requests.

async function inflate(id) {
	const element = document.getElementById(id);
	if (element === null)
		throw new Error(`this page has no data "${id}"`);
	const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return JSON.parse(await new Response(stream).text());
}

/** Read the main object. */
export function readMain() {
	return inflate("data-main");
}

const parts = new Map();

/** Read the part of an analysed procedure, once. */
export function readPart(number) {
	if (!parts.has(number))
		parts.set(number, inflate(`data-part-${number}`));
	return parts.get(number);
}
