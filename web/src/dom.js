// SPDX-License-Identifier: GPL-2.0-only
// Elements. Text from the profile is only ever the value of a text node or of an attribute that
// cannot run: there is no markup made from strings.

const svgSpace = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
	for (const [key, value] of Object.entries(properties)) {
		if (value === undefined || value === null || value === false)
			continue;
		if (key.startsWith("on"))
			element.addEventListener(key.slice(2), value);
		else if (key === "style")
			for (const [name, text] of Object.entries(value))
				element.style.setProperty(name, text);
		else
			element.setAttribute(key, value === true ? "" : String(value));
	}
	append(element, children);
	return element;
}

export function append(element, children) {
	for (const child of children.flat(Infinity)) {
		if (child === undefined || child === null || child === false)
			continue;
		element.append(child instanceof Node ? child : String(child));
	}
}

/** Make an HTML element. */
export function h(tag, properties = {}, ...children) {
	return fill(document.createElement(tag), properties, children);
}

/** Make an SVG element. */
export function svg(tag, properties = {}, ...children) {
	return fill(document.createElementNS(svgSpace, tag), properties, children);
}

/** Replace the children of an element. */
export function show(element, ...children) {
	element.replaceChildren();
	append(element, children);
}

/** Announce a change to screen readers. */
export function announce(text) {
	document.getElementById("announce").textContent = text;
}

/** A name from the profile: its direction cannot affect its surroundings, and its width is bounded. */
export function nameOf(text, most = 160) {
	return h("bdi", { class: "name", title: text.length > most ? shorten(text, 2000) : undefined },
		shorten(text, most));
}

/** Cut a text in the middle. */
export function shorten(text, most) {
	if (text.length <= most)
		return text;
	const head = Math.ceil((most - 1) * 0.6);
	return `${text.slice(0, head)}\u2026${text.slice(text.length - (most - 1 - head))}`;
}
