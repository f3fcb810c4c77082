// SPDX-License-Identifier: GPL-2.0-only
// A mixed workload for an interpreter; the argument is the number of rounds.
function fib(k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }
function sieve(m) {
	var t = [], c = 0, i, j;
	for (i = 2; i <= m; i++) t[i] = true;
	for (i = 2; i <= m; i++) {
		if (!t[i]) continue;
		c++;
		for (j = i * i; j <= m; j += i) t[j] = false;
	}
	return c;
}
function words(m) {
	var count = {}, s = [], keys = [], i, k, list;
	for (i = 1; i <= m; i++) s.push("w" + (i * 7919 % 1013));
	list = s.join(" ").split(" ");
	for (i = 0; i < list.length; i++) count[list[i]] = (count[list[i]] || 0) + 1;
	for (k in count) keys.push(k);
	return keys.sort().length;
}
function Account(b) { this.balance = b; }
Account.prototype.deposit = function (v) { this.balance += v; };
function objects(m) {
	var a = [], i, r;
	for (i = 0; i < m; i++) a[i] = new Account(i);
	for (r = 0; r < 5; r++) for (i = 0; i < m; i++) a[i].deposit(i * 0.5 + r);
	return a[m - 1].balance;
}
for (var n = 0; n < Number(scriptArgs[0]); n++)
	print(fib(15), sieve(3000), words(800), objects(500));
