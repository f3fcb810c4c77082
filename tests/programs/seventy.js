// SPDX-License-Identifier: GPL-2.0-only
// Two functions with the same loop, at 70 to 30, for MS milliseconds: seventy.js MS
'use strict';

function seventy(n) {
	let x = 1;
	for (let i = 0; i < n * 7; i++)
		x = (x * 1103515245 + 12345) % 2147483647;
	return x;
}

function thirty(n) {
	let x = 1;
	for (let i = 0; i < n * 3; i++)
		x = (x * 1103515245 + 12345) % 2147483647;
	return x;
}

const end = Date.now() + Number(process.argv[2]);
let sum = 0;
while (Date.now() < end)
	sum += seventy(10000) + thirty(10000);
process.exitCode = sum === 0 ? 1 : 0;
