// SPDX-License-Identifier: GPL-2.0-only
// Numbers and names as short texts.

const missing = "\u2013";

export function isKnown(number) {
	return typeof number === "number" && Number.isFinite(number);
}

export function integer(number) {
	return isKnown(number) ? Math.round(number).toLocaleString("en-US") : missing;
}

/** "35.7M", with three digits. */
export function count(number) {
	if (!isKnown(number))
		return missing;
	if (number < 1000)
		return number < 10 && number !== Math.floor(number) ? number.toFixed(1) : number.toFixed(0);
	for (const [unit, size] of [["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]]) {
		if (number < 999.5 * size)
			return `${(number / size).toPrecision(3)}${unit}`;
	}
	return number.toExponential(2);
}

export function percent(number, digits = 1) {
	return isKnown(number) ? `${number.toFixed(digits)}%` : missing;
}

export function cycles(number) {
	if (!isKnown(number))
		return missing;
	if (number < 100)
		return number.toFixed(number < 10 ? 2 : 1);
	return number < 10000 ? integer(number) : count(number);
}

/** "(3.1 \u2013 5.2)"; an upper end that is not known is "or more". */
export function interval(low, high, format = cycles) {
	if (!isKnown(low))
		return "";
	return isKnown(high) ? `${format(low)} \u2013 ${format(high)}` : `${format(low)} or more`;
}

export function probability(p) {
	if (!isKnown(p))
		return missing;
	return p >= 0.001 || p === 0 ? p.toFixed(3) : p.toExponential(0);
}

export function signed(number, format = count) {
	if (!isKnown(number))
		return missing;
	return number < 0 ? `\u2212${format(-number)}` : `+${format(number)}`;
}

export function hex(address) {
	return isKnown(address) ? `0x${address.toString(16)}` : missing;
}

/** "2026-11-29 17:37:31", in UTC. */
export function time(iso) {
	return iso.replace("T", " ").replace("Z", "");
}

/** The same for seconds since 1970. */
export function utc(seconds) {
	return time(new Date(Math.floor(seconds) * 1000).toISOString().slice(0, 19));
}

export function duration(seconds) {
	if (seconds < 120)
		return `${seconds.toFixed(0)} s`;
	if (seconds < 7200)
		return `${(seconds / 60).toFixed(0)} min`;
	return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} d`;
}

/** The part of a path after its last slash. */
export function lastPart(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}
