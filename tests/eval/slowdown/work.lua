-- SPDX-License-Identifier: GPL-2.0-only
-- Work for the interpreter: tables, strings, calls and arithmetic.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local words, total = {}, 0
for i = 1, 300000 do
	local key = "key" .. i % 5000
	words[key] = (words[key] or 0) + i
end
for key, value in pairs(words) do total = total + value * #key % 97 end
local list = {}
for i = 1, 100000 do list[i] = i * 7919 % 100003 end
table.sort(list)
print(total, fib(27), list[5000])
