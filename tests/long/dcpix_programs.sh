#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Real programs, rewritten by dcpix, do real work: their output and exit status are unchanged. For
# each program the script prints how much of its code was rewritten, the reasons for the rest, and
# the share of executed instructions in counted blocks. The share is measured in an emulator in a
# separate run, so blocks that only the emulator reached are missing.
#
# NAMES: names of programs; test these only.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
plugin=$PWD/build/tests/count_plugin.so
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
make --no-print-directory -s count-plugin || exit 2
mkdir "$work/bin" "$work/out"
cat docs/*.md > "$work/text"
head -c 1000000 "$(readlink -f "$(command -v perl)")" > "$work/bytes"

wanted()
{
	[ -z "${NAMES:-}" ] && return
	case " $NAMES " in
	*" $1 "*) ;;
	*) false ;;
	esac
}

# executed OLD NEW ARGUMENT...: print the share of the program's instructions that was counted. Both
# runs are in the emulator, since a static program's libc selects string functions by processor
executed()
{
	local old=$1 new=$2

	shift 2
	rm -f "$work"/counts.*
	env -i PATH="$PATH" DCPIX_OUT="$work/counts" qemu-x86_64 -cpu max -0 "$old" "$new" "$@" \
		< "$work/text" 2>&1 | cat > /dev/null
	env -i PATH="$PATH" DCPIX_OUT="$work/counts" qemu-x86_64 -cpu max -0 "$old" \
		-plugin "$plugin,out=$work/truth" "$old" "$@" < "$work/text" 2>&1 | cat > /dev/null
	"$dcpix" --by block --csv counts "$new" "$work"/counts.* > "$work/blocks" 2> /dev/null
	echo "$(tests/lib/dcpix_exact.py "$old" "$work/truth" "$work/blocks")% of what it executed is counted"
}

# program NAME FILE HOW ARGUMENT...: test a program. HOW: "emulated" to run it in the emulator, too,
# or the reason why that is useless
program()
{
	local name=$1 old=$2 emulated=$3 new=$work/bin/$1 report want got

	shift 3
	wanted "$name" || return
	old=$(readlink -f "$(command -v "$old")") || { not_ok "$name" "it is not here" && return; }
	if ! report=$("$dcpix" -o "$new" "$old" 2>&1); then
		not_ok "$name: it is rewritten" "$report"
		return
	fi
	echo "# $name: ${report//$'\n'/$'\n'# $name: }"
	want=$("$old" "$@" 2>&1 < "$work/text" | filter | md5sum; echo "${PIPESTATUS[0]}")
	# shellcheck disable=SC2030 # here alone
	got=$(export DCPIX_OUT=$work/out/$name; exec -a "$old" "$new" "$@" 2>&1 < "$work/text" |
		filter | md5sum; echo "${PIPESTATUS[0]}")
	is "$name: $(basename "$old") $(echo "$*" | head -n 1 | cut -c 1-50)" "$got" "$want"
	check "$name: it counted" [ -n "$(ls "$work/out")" ]
	rm -f "$work"/out/*
	if [ "$emulated" = emulated ]; then
		echo "# $name: $(executed "$old" "$new" "$@")"
	fi
}

# Select the part of the output that is compared.
filter()
{
	cat
}

program gzip gzip emulated -9c "$work/text"
program gunzip gzip emulated -c "$work/text"
program bzip2 bzip2 emulated -c "$work/text"
program xz xz emulated -1c "$work/text"
program zstd zstd emulated -q -c --single-thread "$work/text"
program sqlite3 sqlite3 emulated :memory: "create table t(a integer primary key, b, c);
	with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000)
		insert into t select x, x * x % 97, hex(x) from n;
	create index i on t(b); select b, count(*), max(c) from t group by b order by 2, 1;
	select sum(a), group_concat(c) from t where b in (select b from t where c like '%3')"
cat > "$work/work.lua" << 'END'
local t, s = {}, 0
for i = 1, 20000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
for i, v in ipairs(t) do s = (s * 31 + v) % 1000000007 end
print(s, pcall(error, "x"), ("abc"):rep(3):gsub("b", string.upper))
print(coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)())
END
program lua lua5.4 emulated "$work/work.lua"
# shellcheck disable=SC2016 # perl's
program perl perl emulated -ne 'while (/(\w+)/g) { $c{lc $1}++ }
	END { printf "%s %d\n", $_, $c{$_} for sort keys %c; eval { die "x\n" }; print $@ }'
cat > "$work/work.py" << 'END'
import collections, json, re, sys, threading
words = collections.Counter(re.findall(r"\w+", sys.stdin.read()))
print(json.dumps(words.most_common(50)))
out = []
threads = [threading.Thread(target=lambda n=n: out.append(sum(range(n)))) for n in (10, 1000, 50000)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(out))
try:
    raise ValueError("x")
except ValueError as error:
    print(error, [n for n in range(1000) if all(n % d for d in range(2, n))][-1])
END
program python3 /usr/bin/python3.11 threads -S "$work/work.py"
# shellcheck disable=SC2016 # awk's
program mawk mawk emulated '{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ }
	END { print n; for (w in c) if (c[w] > 20) print w, c[w] | "sort" }'
# shellcheck disable=SC2016 # awk's
program gawk gawk emulated '{ n += NF; gsub(/[aeiou]/, "<&>"); l[NR] = $0 }
	END { print n, length(l); for (i = NR; i > NR - 50; i--) print toupper(l[i]) }'
program sed sed emulated -E 's/([a-z]+) ([a-z]+)/\2 \1/g; /^$/d; y/abc/xyz/'
program grep grep emulated -noE '(in|on|at)[a-z]+ing|[A-Z]{3,}'
program sort sort emulated --parallel=1 -k2,2 -k1r
program uniq uniq emulated -c -w 3
program dgst openssl emulated dgst -sha512 "$work/bytes"
# Only compare that times are printed, not the times.
# shellcheck disable=SC2317 # called by program
filter()
{
	sed -E 's/[0-9]+(\.[0-9]+)?k?/N/g; s/ +/ /g'
}
program speed openssl timed speed -seconds 1 -bytes 1024 sha256
filter()
{
	cat
}
${CC:-gcc} -E -I. -D_GNU_SOURCE instrument/elf/elf_image.c -o "$work/work.i"
program cc1 "$(${CC:-gcc} -print-prog-name=cc1)" emulated -quiet -O2 "$work/work.i" -o -
for flags in "-O2" "-O2 -static"; do
	# shellcheck disable=SC2086 # words
	g++ -pthread $flags tests/fixtures/programs/throws.cc -o "$work/throws"
	program "throws${flags// /}" "$work/throws" emulated
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -pthread $flags tests/fixtures/programs/ways.c -o "$work/ways"
	program "threads${flags// /}" "$work/ways" threads threads 8
	program "switch${flags// /}" "$work/ways" emulated switch 5000
done
cat > "$work/work.go" << 'END'
package main

import ("fmt"; "sort"; "strings")

func main() {
	c := make(chan int)
	for i := 0; i < 8; i++ {
		go func(n int) {
			s := 0
			for j := 0; j < 100000; j++ { s = (s*31 + j*n) % 1000003 }
			c <- s
		}(i)
	}
	var all []int
	for i := 0; i < 8; i++ { all = append(all, <-c) }
	sort.Ints(all)
	defer func() { fmt.Println(recover(), strings.Repeat("x", 3)) }()
	fmt.Println(all)
	panic("p")
}
END
if wanted go; then
	(cd "$work" && HOME=$work GO111MODULE=off go build -o work.go.x work.go)
	like "go: it is refused" "$("$dcpix" -o "$work/bin/go" "$work/work.go.x" 2>&1)" \
		"^dcpix: .* is a Go program: "
fi
cat > "$work/work.rs" << 'END'
use std::collections::BTreeMap;
fn main() {
    std::panic::set_hook(Box::new(|_| println!("panics")));
    let mut c: BTreeMap<u64, u64> = BTreeMap::new();
    for i in 0..20000u64 { *c.entry(i * i % 97).or_insert(0) += i; }
    let t: Vec<_> = (0..4u64).map(|n| std::thread::spawn(move || (0..n * 1000).sum::<u64>())).collect();
    println!("{:?}", t.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
    println!("{:?}", c);
    println!("{:?}", std::panic::catch_unwind(|| { panic!("p") }).is_err());
}
END
if wanted rust; then
	rustc -O -o "$work/work.rs.x" "$work/work.rs"
	program rust "$work/work.rs.x" threads
fi
tap_done
