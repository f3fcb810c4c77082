-- SPDX-License-Identifier: GPL-2.0-only
-- mixed interpreter workload; arg[1] is the number of rounds
local n = tonumber(arg[1]) or 1
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local function sieve(m)
  local t, c = {}, 0
  for i = 2, m do t[i] = true end
  for i = 2, m do if t[i] then c = c + 1; for j = i * i, m, i do t[j] = false end end end
  return c
end
local function words(m)
  local count = {}
  local s = {}
  for i = 1, m do s[#s + 1] = "w" .. (i * 7919 % 1013) end
  local text = table.concat(s, " ")
  for w in text:gmatch("%a%d+") do count[w] = (count[w] or 0) + 1 end
  local keys = {}
  for k in pairs(count) do keys[#keys + 1] = k end
  table.sort(keys)
  return #keys, (text:gsub("w1", "x"):len())
end
local Account = {}
Account.__index = Account
function Account.new(b) return setmetatable({balance = b}, Account) end
function Account:deposit(v) self.balance = self.balance + v end
local function objects(m)
  local a = {}
  for i = 1, m do a[i] = Account.new(i) end
  for r = 1, 10 do for i = 1, m do a[i]:deposit(i * 0.5 + r) end end
  return a[m].balance
end
local function queens(m)
  local solutions, cols, d1, d2 = 0, {}, {}, {}
  local function place(r)
    if r > m then solutions = solutions + 1 return end
    for c = 1, m do
      if not cols[c] and not d1[r + c] and not d2[r - c + m] then
        cols[c], d1[r + c], d2[r - c + m] = true, true, true
        place(r + 1)
        cols[c], d1[r + c], d2[r - c + m] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end
for i = 1, n do
  print(fib(22), sieve(20000), words(4000), objects(2000), queens(6))
end
