// SPDX-License-Identifier: GPL-2.0-only
// The flame graph: sampled stacks if the document has them; else images, their procedures and the
// source lines of these. It grows downwards, has the keys of a tree, and can be searched.

import { hierarchy, partition } from "d3-hierarchy";
import { announce, h, nameOf, shorten, show } from "./dom.js";
import { replaceFragment } from "./fragment.js";
import { integer, lastPart, percent } from "./format.js";
import { makeTree } from "./model.js";

// Frames below this share of the shown width are left out: they could not be seen.
const leastShare = 0.0012;
const rowHeight = 22;

function hueOf(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash >>> 0) % 360;
}

function labelOf(node) {
	return node.data.kind === "image" ? lastPart(node.data.name) : node.data.name;
}

function matches(node, needle) {
	return needle !== "" && node.data.name.toLowerCase().includes(needle);
}

function makeLayout(model) {
	// Values are of whole subtrees; those of the stacks, too.
	const root = hierarchy(makeTree(model));
	const own = (node) => Math.max(0, (node.data.value ?? 0) -
		(node.children ?? []).reduce((sum, child) => sum + child.value, 0));
	root.eachAfter((node) => {
		node.value = node.children ? node.children.reduce((sum, child) => sum + child.value, 0) : 0;
		node.value += own(node);
	});
	root.sort((a, b) => b.value - a.value);
	return partition()(root);
}

// The names of the frames that the reader has zoomed to, from the root on; kept when the view is made again.
let zoomed = [];

function zoomedNode(root) {
	let node = root;
	for (const name of zoomed) {
		const next = node.children?.find((child) => child.data.name === name);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

/** @again: the view is made again: it keeps the zoom */
export function flame(model, query, again) {
	const root = makeLayout(model);
	const view = h("div", { class: "flame", role: "tree", "aria-label": "Where the samples are" });
	const path = h("nav", { class: "crumbs", "aria-label": "Zoomed to" });
	const info = h("p", { class: "note flame-info", id: "flame-info" });
	const found = h("span", { class: "note", role: "status" });
	const input = h("input", { type: "search", id: "search", value: query.get("q") ?? "", placeholder: "Search frames",
		"aria-label": "Search frames", autocomplete: "off", spellcheck: "false", oninput: draw });
	let focus = again ? zoomedNode(root) : root, current = focus;
	let elements = new Map();

	function describe(node) {
		show(info, nameOf(node.data.name, 200), `: ${integer(node.value)} samples, ` +
			`${percent((100 * node.value) / root.value, 2)} of all`,
			node.data.procedure && [" \u00b7 ", h("a", { href: `#/procedure/${node.data.procedure.index}` }, "open the procedure")]);
	}

	function zoom(node) {
		focus = node;
		current = node;
		zoomed = node.ancestors().reverse().slice(1).map((ancestor) => ancestor.data.name);
		draw();
		elements.get(node)?.focus();
		announce(`${shorten(node.data.name, 80)}, ${percent((100 * node.value) / root.value)}`);
	}

	function move(node) {
		if (node === null || node === undefined || !elements.has(node))
			return;
		elements.get(current)?.setAttribute("tabindex", "-1");
		current = node;
		elements.get(node).setAttribute("tabindex", "0");
		elements.get(node).focus();
	}

	function sibling(node, step) {
		const list = node.parent?.children ?? [node];
		for (let i = list.indexOf(node) + step; i >= 0 && i < list.length; i += step) {
			if (elements.has(list[i]))
				return list[i];
		}
		return null;
	}

	function onkey(event) {
		const actions = {
			ArrowRight: () => move(sibling(current, 1)),
			ArrowLeft: () => move(sibling(current, -1)),
			ArrowDown: () => move(current.children?.find((child) => elements.has(child))),
			ArrowUp: () => move(current.parent),
			Home: () => move(root),
			Enter: () => zoom(current),
			" ": () => zoom(current),
			Escape: () => zoom(focus.parent ?? root),
			o: () => { if (current.data.procedure) location.hash = `#/procedure/${current.data.procedure.index}`; },
		};
		if (actions[event.key] === undefined || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		event.stopPropagation();
		actions[event.key]();
	}

	function frame(node, needle) {
		const width = focus.x1 - focus.x0;
		const left = Math.max(0, (node.x0 - focus.x0) / width), right = Math.min(1, (node.x1 - focus.x0) / width);
		const image = node.ancestors().find((ancestor) => ancestor.data.kind === "image") ?? node;
		const share = percent((100 * node.value) / root.value, 2);
		const element = h("div", {
			class: `frame ${node.depth < focus.depth ? "above" : ""} ${matches(node, needle) ? "match" : ""} ${node.data.kind ?? ""}`,
			role: "treeitem", "aria-level": node.depth + 1, "aria-expanded": node.children ? "true" : null,
			"aria-label": `${shorten(node.data.name, 200)}, ${integer(node.value)} samples, ${share}`,
			tabindex: node === current ? "0" : "-1",
			title: `${shorten(node.data.name, 500)}\n${integer(node.value)} samples, ${share}`,
			style: { left: `${left * 100}%`, width: `${(right - left) * 100}%`, top: `${node.depth * rowHeight}px`,
				"--hue": String(hueOf(image.data.image ?? image.data.name)) },
			onclick: () => { current = node; zoom(node === focus && node.parent ? node.parent : node); },
			onmouseenter: () => describe(node),
			onfocus: () => describe(node),
		}, right - left > 0.02 ? h("bdi", {}, shorten(labelOf(node), 120)) : "");
		return element;
	}

	function draw() {
		const needle = input.value.trim().toLowerCase();
		const width = focus.x1 - focus.x0;
		let depth = 0, sum = 0;
		elements = new Map();
		const above = new Set(focus.ancestors());
		root.each((node) => {
			const inside = node.x0 >= focus.x0 - 1e-12 && node.x1 <= focus.x1 + 1e-12 && node.depth >= focus.depth;
			if ((above.has(node) || inside) && (node.x1 - node.x0) / width >= leastShare) {
				elements.set(node, frame(node, needle));
				depth = Math.max(depth, node.depth);
			}
		});
		// A frame within a frame that matches is not counted again.
		root.each((node) => {
			if (matches(node, needle) && !node.ancestors().slice(1).some((ancestor) => matches(ancestor, needle)))
				sum += node.value;
		});
		show(found, needle === "" ? "" : `${percent((100 * sum) / root.value)} of the samples match`);
		if (!elements.has(current))
			current = focus;
		show(view, [...elements.values()]);
		view.style.setProperty("height", `${(depth + 1) * rowHeight}px`);
		show(path, focus.ancestors().reverse().map((node) => h("button", { type: "button", class: "link",
			"aria-current": node === focus ? "true" : null, onclick: () => zoom(node) }, nameOf(labelOf(node), 40))));
		replaceFragment("flame", new URLSearchParams(needle ? { q: input.value } : {}));
	}

	view.addEventListener("keydown", onkey);
	if (!again)
		zoomed = [];
	draw();
	describe(focus);
	return h("div", { class: "view" },
		h("div", { class: "controls" }, input, found),
		!model.main.stacks && h("p", { class: "note" }, "This profile has no call stacks: the rows are images, their procedures, " +
			"and the source lines of analysed procedures."),
		model.main.stacks && h("p", { class: "note" }, `Sampled call stacks: ${integer(model.main.stacks.sampled)}, of which ` +
			`${percent((100 * model.main.stacks.complete) / Math.max(1, model.main.stacks.sampled))} are complete. ` +
			"They are of the whole time; the timeline does not select them."),
		path, view, info);
}
