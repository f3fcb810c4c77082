#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpicfg as users run it. With UPDATE=1 golden output is written, not compared. The golden
# graphs are of the paper's own estimator, as for dcpicalc.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
copy_id=00112233445566778899aabbccddeeff00112233
list_id=0102030405060708090a0b0c0d0e0f1011121314

# graph DB ARGUMENT...: run dcpicfg on a database
graph()
{
	"$bin/dcpicfg" --db "$scratch/$1.db" "${@:2}"
}

golden()
{
	tool_golden "dcpicfg_$1" "dcpicfg ${*:3}" graph "${@:2}"
}

# refused STATUS PATTERN DB ARGUMENT...: test that it fails, with one line on stderr and no output
refused()
{
	tool_refused dcpicfg "$1" "$2" graph "${@:3}"
}

# plain DB ARGUMENT...: let graphviz read the graph; print its nodes and edges, one per line
plain()
{
	graph "$@" | dot -Tplain | sed ':a; /\\$/ { N; s/\\\n//; ba }'
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"

{
	echo "event cycles cycles 60000 64000"
	echo "epoch Alpha 21164"
	echo "image file $copy_id $scratch/copy"
	printf 'sample 0 0x%x %d\n' 0x9810 3126 0x9818 1636 0x981c 390 0x9820 1482 0x9828 27766 \
		0x9830 1493 0x9834 174727 0x9838 1548 0x9840 1586
	echo end
} | "$helpers/make_profile_db" "$scratch/copy.db"
golden copy.dot copy --as-published
golden copy_no_code.dot copy --as-published --no-code
golden copy_left_out.dot copy --as-published -n 1

# A jump through a register, names with special characters, an edge in each direction.
cat > "$scratch/odd.s" << 'END'
	.text
	.globl odd, tail
	.type odd, @function
	.type tail, @function
odd:
	testq %rdi, %rdi
	je tail
	pushq %rbx
	jmp *(%rax)
	addl %ecx, %eax
	ret
	.size odd, . - odd
tail:
	ud2
	.size tail, . - tail
	.section .note.GNU-stack, "", @progbits
END
odd=$'odd<&>"\\N\\l</table>\033[31m'
tail=$'tail>\\"]; x -> y [label=<'
# shellcheck disable=SC2016 # it is that shell which expands
check "a program of odd names is made" sh -c '
	cd "$1" && as -o odd.o odd.s && ld --build-id="0x$2" -Ttext=0x401000 -e odd -o odd odd.o &&
	objcopy --redefine-sym odd="$3" --redefine-sym tail="$4" odd "odd&<b>"' \
	- "$scratch" $list_id "$odd" "$tail"
{
	echo "event cycles cycles 60000 64000"
	echo "epoch Some CPU"
	echo "image file $list_id $scratch/odd&<b>"
	printf 'sample 0 0x%x %d\n' 0x1000 400 0x1003 5 0x1005 300 0x1008 200
	echo end
} | "$helpers/make_profile_db" "$scratch/odd.db"
text=$(graph odd)
like "jumps with unknown targets are marked" "$text" \
	'fontcolor="#c0001a", label="to an unknown target"'
like "and reported" "$text" '1 jump with an unknown target'
is "no control characters" "$(printf %s "$text" | LC_ALL=C tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')" 0
is "no node but blocks and ends, whatever names are" \
	"$(plain odd | sed -n 's/^node \([^ ]*\) .*/\1/p' | tr -d '0-9' | sort -u | paste -sd ' ')" "b e"
is "names arrive whole" "$(graph odd -f svg | python3 -c '
import sys, xml.etree.ElementTree as E
texts = [t.text for t in E.parse(sys.stdin).iter("{http://www.w3.org/2000/svg}text")]
print([t.replace("\xa0", " ") for t in texts if "odd" in t or "tail" in t][:2])')" \
	"['odd<&>\"\\\\N\\\\l</table>?[31m', '$scratch/odd&<b>']"

# Output formats that graphviz makes.
for format in svg ps pdf png; do
	graph copy -o "$scratch/copy.$format" 2> "$scratch/err"
	is "$format by the file's name" "$? $(cat "$scratch/err")" "0 "
done
is "PostScript, PDF and PNG" "$(for format in ps pdf png; do head -c 4 "$scratch/copy.$format" |
	tail -c 3; done | tr -d '\0')" "!PSPDFPNG"
check "SVG is XML" xmllint --nonet --noout "$scratch/copy.svg"
like "browsers keep the spaces of SVG" "$(cat "$scratch/copy.svg")" '<svg xml:space="preserve" '
is "each block and each edge is in the picture" "$(python3 - "$scratch/copy.svg" << 'END'
import collections, sys, xml.etree.ElementTree as E
svg = "{http://www.w3.org/2000/svg}"
kinds = collections.Counter(g.get("class") for g in E.parse(sys.argv[1]).iter(svg + "g"))
print(kinds["node"], kinds["edge"])
END
)" "5 5"
is "the widest line is the loop" "$(graph copy | sed -n 's/.*\(b[0-9]* -> b[0-9]*\) \[penwidth=6.00.*/\1/p')" \
	"b1 -> b1"
is "dashed is what confidence is low in" \
	"$(graph copy | grep -c 'style="[a-z,]*dashed"')" "$(graph copy | grep -c '^  [be].*low confidence)')"
is "nothing is left behind on a full disk" \
	"$(graph copy -o /dev/full 2>&1 | cut -d: -f1)" dcpicfg
cp "$bin/dcpicfg" "$scratch/tool"
mkdir "$scratch/empty"
PATH="$scratch/empty" "$scratch/tool" --db "$scratch/copy.db" -o "$scratch/none.svg" 2> "$scratch/err"
is "no graphviz: one line, and no file" "$? $(wc -l < "$scratch/err") $(ls "$scratch/none.svg" 2> /dev/null)" \
	"2 1 "
like "which says what is missing" "$(cat "$scratch/err")" 'dot.*is not installed: install the package graphviz'
printf '#!/bin/sh\necho "Error: no memory" >&2\nexit 1\n' > "$scratch/empty/dot"
chmod +x "$scratch/empty/dot"
is "what dot says is told" "$(PATH="$scratch/empty" "$scratch/tool" --db "$scratch/copy.db" -f svg 2>&1)" \
	"dcpicfg: dot: Error: no memory"

refused 2 "unknown format 'gif'" copy -f gif
refused 2 'percentage' copy --min-percent 101
refused 2 'number of blocks' copy -n 0
refused 2 "unknown model 'z80'" copy --model z80
refused 2 'are mutually exclusive' copy --as-published --estimator avg
refused 2 "unknown estimator 'guess'" copy --estimator guess
refused 2 "no procedure 'nothing'" copy nothing
refused 2 'No such file' none
refused 2 "unknown event 'imiss'" copy -e imiss
rm "$scratch/odd&<b>"
refused 2 'cannot open .*odd&<b>' odd

# A real program: the blocks are always those of dcpicalc, with any options.
"$bin/dcpirun" -q --db "$scratch/live.db" -- "$bin/dcpicalc" --db "$scratch/copy.db" --all --json > /dev/null
for _ in 1 2 3 4 5 6; do
	"$bin/dcpirun" -q --db "$scratch/live.db" -- python3 -c 'print(sum(i * i for i in range(10**6)))'
done > /dev/null
blocks=$("$bin/dcpicalc" --db "$scratch/live.db" --json 2> /dev/null |
	jq '[.blocks[] | select((.successors | length) > 0)] | length')
if [ -n "$blocks" ]; then
	is "all blocks of live data" "$(graph live -n 100000 | grep -c '^  b[0-9]* \[')" "$blocks"
	check "live data can be drawn" graph live -n 20 -o "$scratch/live.svg"
	check "and is XML" xmllint --nonet --noout "$scratch/live.svg"
	is "no more blocks than wanted" \
		"$(graph live -n 7 | grep -c '^  b[0-9]* \[')" "$((blocks < 7 ? blocks : 7))"
else
	skip "live data can be drawn" "no procedure was sampled"
fi

tap_done
