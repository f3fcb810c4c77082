#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare control-flow graphs of real programs with the edges that they execute, for "make
# jump-tables". Programs run on short input under QEMU, which counts every edge. Each edge must be
# in the graph, or come from a jump that is marked as unresolved. Trip counts that are derived from
# the code must equal the executed ones. Counts of all images go to build/jump_tables.json and
# build/trip_counts.json.
#
#	tests/long/jump_tables.sh [PROGRAM...]	only these
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
PATH=/usr/bin:/bin # Debian's own programs

plugin=build/tests/count_plugin.so
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/text" << 'END'
The quick brown fox jumps over the lazy dog; 42 times, or 3.14159 at 1e-3?
{"key": [1, 2.5, null, true, "s\u00e4"], "other": {"nested": -17}}
END
for _ in 1 2 3 4 5 6; do cat "$scratch/text" "$scratch/text" > "$scratch/t"; mv "$scratch/t" "$scratch/text"; done

cat > "$scratch/program.py" << 'END'
import re, json, math, struct, decimal, datetime
class A:
    def __init__(self, n): self.n = n
    def __lt__(self, o): return self.n < o.n
def g(n):
    for i in range(n):
        try:
            if i % 7 == 3: raise ValueError(i)
            yield i ** 2 % 11
        except ValueError as e: yield -e.args[0]
x = sorted(A(v) for v in g(60)); d = {str(v.n): [v.n, v.n / 3] for v in x}
s = json.dumps(d); assert json.loads(s) == {k: v for k, v in d.items()}
print(len(s), re.sub(r'(\d+)\.(\d)', r'\2-\1', s)[:40], "%5.2f|%-6s|%x" % (math.pi, 'ab', 255))
print(f"{math.e:>10.3e} {1234567:,} {'é'.upper()!r}", struct.pack('<hid', 1, 2, 3.0).hex())
print(decimal.Decimal('1.1') ** 9, datetime.date(2024, 2, 29).isoformat(), 'ß'.casefold(), int('7f', 16))
match [1, {'a': 2}]:
    case [n, {'a': m}]: print(n + m)
print({*range(5)} & {3, 4, 9}, lambda: 0, [*map(abs, (-1, 2))], b'\xff'.decode('latin-1').encode('utf-16'))
END
cat > "$scratch/program.pl" << 'END'
my %h; while (<STDIN>) { $h{$1}++ while /(\w+)/g; tr/a-z/b-za/; s/(\d)/<$1>/g; }
print join(",", map { "$_=$h{$_}" } sort { $h{$b} <=> $h{$a} || $a cmp $b } keys %h), "\n";
printf "%05d %-5s|%e %x %o %s\n", 42, "ab", 3.5, 255, 8, pack("A3 n N a*", "x", 1, 2, "zz");
my @a = reverse 1..20; my @s = splice @a, 3, 5; print "@s @a[1..3]\n"; local $_ = "a,b;c"; print scalar(split /[,;]/), "\n";
sub f { my $n = shift; return $n < 2 ? $n : f($n - 1) + f($n - 2) } print f(10), sprintf("%vd", "1.22.333"), lc("ÄB"), "\n";
eval { die { code => 7 } }; print $@->{code}, ref(\my @x), "\n"; print "yes\n" if "foobar" =~ /^(?:foo(?=bar)|x{2,3}?)\w*$/i;
END
cat > "$scratch/program.sql" << 'END'
create table t(a integer primary key, b, c text); create index i on t(b);
with recursive n(x) as (select 1 union all select x+1 from n where x<300) insert into t select x, x*7%13, printf('%d-%s',x,hex(x)) from n;
select b, count(*), sum(a), avg(a), group_concat(c) from t group by b having count(*)>20 order by 2 desc, 1;
select * from t where c like '%9%' and a between 10 and 90 or c glob '2*3*' limit 5;
update t set c = upper(substr(c,2)) || 'z' where a%3=0; delete from t where b in (select b from t where a<4);
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), round(2.567,1), date('2024-02-29','+1 year'), typeof(null), quote(x'00ff');
select a, row_number() over (partition by b order by a desc), lag(a) over (order by a) from t limit 7; explain query plan select * from t where b=3;
END
cat > "$scratch/program.c" << 'END'
#include <stddef.h>
struct s { int a; double b; unsigned c : 3; }; enum e { X, Y = 4 };
static int f(int n, struct s *p) { switch (n) { case 0: return 1; case 1: return p->a; case 2: return (int)p->b; case 3: return p->c;
case 7: return -1; default: return n * 3 % 7; } }
int g(const char *s, size_t n) { int h = 5381; for (size_t i = 0; i < n; i++) { h = (h << 5) + h ^ s[i]; if (h == Y) goto out; }
while (n-- > 0) { struct s x = {n, n * 0.5, n & 7}; h += f(n & 7, &x); } out: return h; }
END
cat > "$scratch/program.awk" << 'AWK'
{ n += NF; for (i = 1; i <= NF; i++) c[$i]++; gsub(/[0-9]+/, "#"); if (match($0, /o[vr]+/)) l += RLENGTH }
END { for (k in c) if (c[k] > 20) print k, c[k] | "cat"; printf "%d %s %.3f\n", n, toupper(substr("abc", 2)), sin(1) + log(n); x = 5; do { x-- } while (x > 0); print x, l }
AWK

cat > "$scratch/program.bc" << 'END'
scale = 20; define f(n) { if (n < 2) return (1); return (n * f(n - 1)); }
for (i = 0; i < 9; i++) { x = f(i) / 7 ^ i; if (i % 2 == 0 && x > 0) print x, "\n"; }
a(1) * 4; e(1); sqrt(2); length(123); obase = 16; 255; quit
END

# ran NAME ARGUMENT...: run a program and add its edges to those of all images
runs=0
chosen=" $* "
ran()
{
	local program

	[ "$chosen" = "  " ] || [[ "$chosen" == *" ${1##*/} "* ]] || return 0

	program=$(command -v "$1") || return 0
	program=$(readlink -f "$program")
	shift
	runs=$((runs + 1))
	within qemu-x86_64 -plugin "$plugin,out=$scratch/counts,edges=$scratch/run.$runs,threads=on" "$program" "$@" \
		> "$scratch/output" 2>&1 < "$scratch/text"
}

ran python3 -S "$scratch/program.py"
ran perl "$scratch/program.pl"
ran sqlite3 :memory: ".read $scratch/program.sql"
ran mawk -f "$scratch/program.awk"
ran gawk -f "$scratch/program.awk"
ran sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g; /fox/{h;y/abc/xyz/}; 3,5d; $!N; P; s/\n.*//'
ran grep -cE '(qu|l)[ia]+.*(fox|dog)|[0-9]{2}'
ran sort -k2,2r -n
ran gzip -9c
ran xz -c
ran bzip2 -c
ran zstd -c
ran tar cf - "$scratch/text"
ran find /usr/share/doc -maxdepth 1 -name 'lib*' -newer /etc/passwd -printf '%f %s %TY\n'
# shellcheck disable=SC2016 # for the other shell to expand
ran bash -c 'for i in {1..9}; do case $i in [135]) x+=a;; 2|4) x=${x/a/b};; *) ((y += i ** 2));; esac; done; printf "%s %d %q\n" "$x" $y "a b"; a=(1 2); echo ${a[@]^^} $((0x1f & ~3))'
ran bc -l "$scratch/program.bc"
ran lua5.3 -e 'local t={} for i=1,50 do t[i]=(i*7)%13 .. "x" end table.sort(t) print(table.concat(t,","), ("a1b22"):gsub("%d+", function(d) return #d end), string.format("%5.2f %q", 3.14159, "a\n"), 7//2, 2^10, t[1]>t[2] and 1 or 0)'
ran date -d '2024-02-29 12:34:56 +1 month' '+%A %d %B %Y %j %U %s'
ran od -A x -t x1z -t d4 -t f8
ran nm -C build/tests/unit_cfg
ran objdump -d --no-show-raw-insn --stop-address=0x3000 build/tests/unit_cfg
ran openssl dgst -sha256
ran "$(gcc -print-prog-name=cc1)" -quiet -O2 -o "$scratch/out.s" "$scratch/program.c"
ran as -o "$scratch/out.o" "$scratch/out.s"
ran jq -c '.key? // empty'

cat "$scratch"/run.* | grep -v '^edges' | cut -f 2 | sort -u |
	grep '^/' > "$scratch/images"
: > build/jump_tables.json
: > build/trip_counts.json
while read -r image; do
	[ -r "$image" ] || continue
	tests/eval/truth/image_edges.sh "$image" "$scratch"/run.* > "$scratch/edges" || continue
	build/tests/cfg_edges "$image" "$scratch/edges" > "$scratch/result"
	status=$?
	tail -n 1 "$scratch/result" >> build/jump_tables.json
	if [ $status -eq 0 ]; then
		ok "$image"
	else
		not_ok "$image" "$(cat "$scratch/result")"
	fi
	build/tests/cfg_trips "$image" "$scratch/edges" > "$scratch/result" ||
		not_ok "$image: trip counts" "$(cat "$scratch/result")"
	tail -n 1 "$scratch/result" >> build/trip_counts.json
done < "$scratch/images"
jq -s -r '"# \(length) images, \(map(.edges) | add) edges, \(map(.marked) | add) of them marked; " +
	"\(map(.tables_ran) | add) tables ran, \(map(.unresolved_ran) | add) unresolved jumps ran; " +
	"in their graphs \(map(.jump_tables) | add) tables, \(map(.unresolved) | add) unresolved; " +
	"\(map(.entered) | add) entries inside"' build/jump_tables.json
jq -s -r '"# \(map(.loops) | add) loops of known turns, \(map(.ran) | add) ran, \(map(.wrong) | add) " +
	"of them wrong, \(map(.off) | add) averages off; \(map(.known) | add) of " +
	"\(map(.branches) | add) executions of branches are theirs"' build/trip_counts.json
tap_done
