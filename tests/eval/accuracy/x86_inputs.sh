#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# x86_inputs.sh DIRECTORY: make the inputs of the programs in x86_programs.txt. They are the same on
# every machine, except for "binary", which is the machine's own perl.
set -eu
programs=$(cd "$(dirname "$0")/programs" && pwd)
mkdir -p "$1"
cd "$1"
made=$(cksum < "$programs/../x86_inputs.sh")
[ "$(cat ready 2>/dev/null)" != "$made" ] || exit 0

awk 'BEGIN {
	n = split("the of and to in is a for that with profile cycle instruction stall cache miss " \
		"branch running sampled decoded station motion nation passed walked counting edge " \
		"block procedure image kernel module daemon frequency estimate culprit latency", w, " ")
	seed = 1
	for (line = 0; line < 90000; line++) {
		text = ""
		seed = (seed * 16807) % 2147483647
		words = 4 + seed % 14
		for (i = 0; i < words; i++) {
			seed = (seed * 16807) % 2147483647
			text = text w[1 + int((seed % 1000) * (seed % 997) / 997000 * n)] " "
		}
		print text seed % 10000
	}
}' > text
{ cat "$(command -v perl)"; cat text; } | head -c 6000000 > binary
head -c 120000000 /dev/zero > bytes
awk 'BEGIN {
	printf "["
	for (i = 0; i < 300000; i++)
		printf "%s{\"a\": %d, \"b\": \"name %d\", \"c\": [%d, true, null]}", i ? ",\n" : "", \
			(i * 7919) % 10007, i * i % 977, i
	print "]"
}' > data.json

cat > work.py << 'EOF'
def primes(n):
    sieve = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if sieve[i]:
            for j in range(i * i, n, i):
                sieve[j] = 0
    return sum(sieve) - 2

class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

def insert(root, key):
    while True:
        side = 'left' if key < root.key else 'right'
        child = getattr(root, side)
        if child is None:
            setattr(root, side, Node(key))
            return
        root = child

def depth(node):
    return 0 if node is None else 1 + max(depth(node.left), depth(node.right))

total = 0
for r in range(12):
    total += primes(300000)
    root, seed, words = Node(500000), 1 + r, {}
    for i in range(30000):
        seed = seed * 1103515245 + 12345 & 0x7fffffff
        insert(root, seed % 1000000)
        words['w%d' % (seed % 5000)] = words.get('w%d' % (seed % 5000), 0) + 1
    total += depth(root) + len(sorted(words.items(), key=lambda kv: (-kv[1], kv[0])))
    total += len(','.join(str(x * x) for x in range(60000) if x % 3).split(',1'))
print(total)
EOF

cat > work.awk << 'EOF'
{
	for (i = 1; i <= NF; i++)
		count[$i]++
	if ($0 ~ /stall.*cache|ing [a-m]+ed/)
		matched++
	total += $NF * 1.5
	line = $0
	gsub(/tion/, "ing", line)
	bytes += length(line) + index(line, "edge")
	if (toupper(substr($1, 1, 1)) == "K")
		k[substr($2, 1, 3) "-" NF] = $3
}
END {
	for (word in count)
		different++
	print different, matched, total, bytes, length(k)
}
EOF

cat > work.lua << 'EOF'
local function permute(a, n, visit)
  if n <= 1 then visit(a) return end
  for i = 1, n do
    a[n], a[i] = a[i], a[n]
    permute(a, n - 1, visit)
    a[n], a[i] = a[i], a[n]
  end
end
local total, seed = 0, 42
for r = 1, 25 do
  permute({1, 2, 3, 4, 5, 6, 7, 8}, 8, function(a) total = total + a[1] * a[8] end)
  local words = {}
  for i = 1, 60000 do
    seed = (seed * 16807) % 2147483647
    local key = "k" .. seed % 3000
    words[key] = (words[key] or 0) + 1
  end
  local list = {}
  for k, v in pairs(words) do list[#list + 1] = {k, v} end
  table.sort(list, function(x, y) return x[2] > y[2] or x[2] == y[2] and x[1] < y[1] end)
  local text = {}
  for i = 1, 1000 do text[i] = list[i][1] end
  for word, number in table.concat(text, ","):gmatch("(%a)(%d+)") do total = total + tonumber(number) end
  local m = {}
  for i = 1, 120 do m[i] = {} for j = 1, 120 do m[i][j] = (i * j) % 7 + 0.5 end end
  for i = 1, 120 do for j = 1, 120 do
    local s = 0
    for k = 1, 120 do s = s + m[i][k] * m[k][j] end
    total = total + s
  end end
end
print(total)
EOF

cat > work.pl << 'EOF'
use strict;
my (%count, %pair, $sum, $last);
while (my $line = <>) {
	chomp $line;
	my @words = split / /, $line;
	$count{$_}++ for @words;
	$sum += $1 while $line =~ /(\d+)/g;
	(my $copy = $line) =~ s/\b([a-m])(\w+)ing\b/$2$1/g;
	$pair{$words[0] . ' ' . $words[-2]} += length $copy;
	$last = join ',', sort { $a cmp $b } @words if $. % 4 == 0;
	$sum += ord(substr $line, $_ * 3 % length $line, 1) for 1 .. 5;
}
print join("\n", map { "$_ $count{$_}" } sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count), "\n";
print scalar(keys %pair), " $sum $last\n";
EOF

cat > work.sql << 'EOF'
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
INSERT INTO item SELECT i, i * 7919 % 503, 'name ' || (i * 31 % 9973), i * 1.5 FROM n;
CREATE INDEX item_kind ON item(kind, price);
CREATE INDEX item_name ON item(name);
SELECT count(*), sum(price) FROM item WHERE kind BETWEEN 20 AND 300;
SELECT kind, count(*), avg(price), max(name) FROM item GROUP BY kind ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM item a JOIN item b ON a.name = b.name AND a.kind < b.kind;
SELECT count(*) FROM item WHERE name LIKE '%77%' OR length(name) = 6;
UPDATE item SET price = price + 1 WHERE kind % 3 = 1;
DELETE FROM item WHERE id % 5 = 2;
SELECT name, sum(price) OVER (PARTITION BY kind ORDER BY id) FROM item ORDER BY 2 DESC LIMIT 3;
SELECT count(DISTINCT name), total(price) FROM item;
EOF

cat > work.bc << 'EOF'
scale = 1800
a = 4 * a(1)
b = e(1.5) * sqrt(7)
define f(n) { if (n < 2) return n; return f(n - 1) + f(n - 2); }
c = f(22)
for (i = 0; i < 300; i++) { b = b * 1.0000001 / 1.0003; }
a + b + c
quit
EOF

# One source for compilers: all programs here, three times, with different names in each copy.
for copy in 1 2 3; do
	for program in "$programs"/*.c; do
		tag=_$(basename "$program" .c)$copy
		awk -v tag="$tag" -v program="$program" '
			match($0, /^(static|struct|enum)( [a-z_0-9]+)*( \**[a-z_0-9]+)/) {
				n = split(substr($0, RSTART, RLENGTH), words, /[ *]+/)
				name[words[n]] = 1
			}
			/^static/ {
				n = split($0, parts, /, \**/)
				for (i = 2; i <= n && !/\(/; i++)
					if (match(parts[i], /^[a-z_0-9]+/))
						name[substr(parts[i], 1, RLENGTH)] = 1
			}
			/^enum/, /}/ {
				n = split($0, words, /[^A-Z]+/)
				for (i = 1; i <= n; i++)
					if (words[i] != "")
						name[words[i]] = 1
			}
			/^#define/ { split($2, parts, "("); macro[parts[1]] = 1 }
			END {
				name["main"] = 1
				for (n in name)
					print "#define " n " " n tag
				print "#include \"" program "\""
				for (n in name)
					print "#undef " n
				for (n in macro)
					print "#undef " n
			}' "$program"
	done
done > source.c
gcc -E -P -w -o source.i source.c
clang -E -P -w -o source_clang.i source.c

cat > work.tcl << 'EOF'
proc fib {n} { if {$n < 2} {return $n}; return [expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]}] }
puts [fib 24]
set f [open text]; set d [read $f]; close $f
foreach line [split $d "\n"] { foreach w [split $line] { incr count($w) } }
foreach k [lsort [array names count]] { if {$count($k) > 5000} {puts "$k $count($k)"} }
set l {}
for {set i 0} {$i < 60000} {incr i} { lappend l [expr {($i * 7919) % 10007}] }
puts [lindex [lsort -integer $l] 500]
puts [regexp -all {[a-z]+ing} $d]
EOF

cat > work.php << 'EOF'
<?php
function fib($n) { return $n < 2 ? $n : fib($n-1) + fib($n-2); }
echo fib(27), "\n";
$d = file_get_contents("text"); $c = [];
foreach (explode("\n", $d) as $l) foreach (explode(" ", $l) as $w) { $c[$w] = ($c[$w] ?? 0) + 1; }
ksort($c); foreach ($c as $k => $v) if ($v > 5000) echo "$k $v\n";
$a = []; for ($i = 0; $i < 300000; $i++) $a[] = ($i * 7919) % 10007;
sort($a); echo $a[500], "\n";
echo md5(str_repeat(strrev($d), 3)), " ", crc32($d), "\n";
usort($a, function($x, $y) { return $y <=> $x; }); echo $a[0], "\n";
EOF

cat > work.ps << 'EOF'
%!PS
/n 400 def
0 1 n { dup 3 mul 17 mod 10 div setgray  dup 1.3 mul 20 add 100 moveto  dup 13 mul 500 mod 50 add  exch 7 mul 600 mod 50 add 300 400 200 600 curveto closepath fill } for
0 setgray /Times-Roman findfont 14 scalefont setfont
0 1 50 { /y exch def 50 y 14 mul 30 add moveto (The quick brown fox jumps over the lazy dog, cycles and stalls) show } for
0 1 60 { 10 mul 100 add 400 20 0 360 arc stroke } for
showpage
EOF

cat > work.m4 << 'EOF'
define(`loop', `ifelse($1, 0, `', `eval($1 * 7 % 13) substr(abcdefghijklmnop, eval($1 % 9), 3) loop(decr($1))')')
define(`times', `ifelse($1, 0, `', `loop(200) times(decr($1))')')
times(120)
EOF

# A shorter text, in paragraphs, for the typesetter.
head -n 20000 text | awk '{ print ".PP\n" $0 }' > work.tr

echo "$made" > ready
