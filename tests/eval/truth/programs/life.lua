-- SPDX-License-Identifier: GPL-2.0-only
-- Conway's life on a torus, and words in a table.
local n = 40
local cells, seed = {}, 79
local function draw(k)
	seed = seed * 16807 % 2147483647
	return seed % k
end
for i = 1, n * n do
	cells[i] = draw(3) == 0 and 1 or 0
end
local function at(x, y)
	return cells[(y % n) * n + x % n + 1]
end
for _ = 1, 12 do
	local new = {}
	for y = 0, n - 1 do
		for x = 0, n - 1 do
			local s = at(x - 1, y - 1) + at(x, y - 1) + at(x + 1, y - 1) + at(x - 1, y) +
				at(x + 1, y) + at(x - 1, y + 1) + at(x, y + 1) + at(x + 1, y + 1)
			new[y * n + x + 1] = (s == 3 or (s == 2 and at(x, y) == 1)) and 1 or 0
		end
	end
	cells = new
end
local words = {}
for i = 1, 12000 do
	local key = string.format("w%d", draw(3000))
	words[key] = (words[key] or 0) + i % 7
end
local list = {}
for key, count in pairs(words) do
	list[#list + 1] = key .. count
end
table.sort(list)
local sum = 0
for i = 1, n * n do
	sum = sum + cells[i] * i
end
print(sum, #list, list[1], list[#list])
