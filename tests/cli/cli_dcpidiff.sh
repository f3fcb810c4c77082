#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpidiff as users run it. With UPDATE=1 golden output is written, not compared.
set -u
tool=dcpidiff
. "$(dirname "$0")/../lib/stats_cli.sh"

check "a database of the paper's runs is made" make_db "$db" figure_3.txt
check "a database of several hosts is made" make_db "$sets" sets.txt

golden runs.txt "$db" --normalize none 1 8 -n 6
golden rest.txt "$db" --normalize rest 1-4 5-8 -n 4 --min 0.5
golden builds.csv "$sets" --csv 1 2
golden builds.json "$sets" --json 1 2 -n 2 --normalize time
golden instruction.csv "$sets" --csv --by-instruction 1 2
golden hosts.txt "$sets" --by host --by-image --epoch 1-3
is "text fits 80 columns" "$(run "$db" 1 8 | awk 'length > 80' | wc -l)" 0
cp "$db" "$scratch/same.db"
is "nothing differs from itself" "$(run "$db" 3 "$scratch/same.db@3" --csv | tail -n +2 |
	cut -d, -f3,10 | tr -d '\r' | sort | uniq -c | tr -s ' ')" " 54 0,no"
is "the other way around, signs change" "$(run "$db" 8 1 --csv --sort procedure | cut -d, -f3 |
	tr -d - | md5sum)" "$(run "$db" 1 8 --csv --sort procedure | cut -d, -f3 | tr -d - | md5sum)"
is "instructions add up to procedures" "$(run "$sets" --csv --by-instruction 1 2 |
	tail -n +2 | awk -F , '{ a += $6; b += $7 } END { print a, b }')" "$(run "$sets" --csv 1 2 |
	tail -n +2 | awk -F , '{ a += $6; b += $7 } END { print a, b }')"
escapes 1 2
valid "runs" "$tool" run "$db" 1 8
valid "builds" "$tool" run "$sets" 1 2
valid "instructions" "$tool" run "$sets" --by-instruction 1 2
valid "images" "$tool" run "$sets" --by-image 1 2 --against others

refused 2 'needs two sets, not 8' "$db"
refused 2 'needs two sets, not 1' "$db" --epoch 3
refused 2 "unexpected argument '3'" "$db" 1 2 3
refused 2 'is also in another set' "$db" 1-4 4-8
refused 2 'are mutually exclusive' "$db" --by-image --by-instruction 1 2
refused 2 'no such column' "$db" 1 2 --sort color
refused 2 "unknown normalization 'color'" "$db" --normalize color 1 2
refused 2 'no samples in images' "$db" -i 'no*such' 1 2
refused 2 "no epoch matches '9'" "$db" 1 9
refused 2 'No such file' "$scratch/none.db" 1 2

# Live data: a program that spends its time in another way, and the same build twice.
if ! "${CC:-gcc}" -O2 -g -o "$scratch/varies" tests/fixtures/programs/varies.c; then
	not_ok "a program is made"
	tap_done
	exit
fi
for kb in 16 8192; do
	TABLE_KB=$kb "$bin/dcpirun" -q -e cpu-clock --db "$scratch/live.db" --label "$kb kB" -- \
		"$scratch/varies" 600
done
live=$scratch/live.db
is "what became slower comes first" "$(run "$live" --csv -i varies | sed -n 2p |
	cut -d, -f10,11)" "yes,follow_chain"
is "its instructions, too" "$(run "$live" --by label --by-instruction --csv -i varies |
	sed -n 2p | cut -d, -f10,11)" "yes,follow_chain"
like "and it gained" "$(run "$live" --csv -i varies | sed -n 2p | cut -d, -f5)" '^[1-9][0-9]+'
valid "of live data" "$tool" run "$live"

# A rebuilt program, with one more procedure before the others, and one more instruction in one.
again=$scratch/again.db
build()
{
	"${CC:-gcc}" -O2 -g "$@" -o "$program" "$scratch/program.c"
}
# symbol NAME: print the mangled name as by rustc, different in each build, if $kind is rust
symbol()
{
	if [ "$kind" = rust ]; then
		echo "_ZN1p${#1}${1}17h$(sha1sum < "$scratch/program.c" | cut -c 1-16)E"
	else
		echo "$1"
	fi
}
# sample EPOCHS-LABEL NAME:OFFSET:COUNT...: print an epoch of the program as built
sample()
{
	local id name offset count address copy renames=()

	id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
	mkdir -p "$again-images/${id:0:2}"
	copy=$again-images/${id:0:2}/${id:2}.elf
	for name in follow_chain steady_large steady_small; do
		renames+=("--redefine-sym" "$name=$(symbol "$name")")
	done
	case $kind in
	plain | moved) cp "$program" "$copy" ;;
	stripped) strip -o "$copy" "$program" ;;
	rust) objcopy "${renames[@]}" "$program" "$copy" ;;
	esac
	printf 'event cycles cycles 60000 64000\nepoch x86\nimage file %s %s\n' "$id" \
		"$program"
	for name; do
		IFS=: read -r name offset count <<< "$name"
		address=$(nm "$program" | awk -v n="$name" '$3 == n { print "0x" $1 }')
		echo "sample 0 $((address + offset)) $count"
	done
	echo end
}
# last_of NAME: print the offset of its return instruction
last_of()
{
	objdump -d --no-show-raw-insn "$program" | awk -v n="<$1>:" '$2 == n { on = 1; next }
		NF == 0 { on = 0 } on && first == "" { first = $1 } on && $2 == "ret" { last = $1 }
		END { sub(":", "", first); sub(":", "", last); print "0x" first, "0x" last }' | {
		read -r first last
		echo $((last - first))
	}
}
mkdir "$scratch/before" "$scratch/after"
for kind in plain stripped rust moved; do
	rm -rf "$again"*
	program=$scratch/before/program
	cp tests/fixtures/programs/varies.c "$scratch/program.c"
	build -no-pie -Wl,-z,noseparate-code -Wl,-Ttext-segment=0
	last=$(last_of follow_chain)
	sample follow_chain:0:100 "follow_chain:$last:50" steady_large:0:70 steady_small:0:30 \
		> "$scratch/lines"
	sed -i 's/^STEADY(steady_large)/__attribute__((noinline)) long more(long a);\n&/
		s/x = steady_small(/x += (uint64_t)more((long)x); &/
		s/return line;/__asm__ volatile("nop"); return line;/' "$scratch/program.c"
	echo 'long more(long a) { return 3 * a; }' >> "$scratch/program.c"
	[ "$kind" != moved ] || program=$scratch/after/program
	build -no-pie -Wl,-z,noseparate-code -Wl,-Ttext-segment=0
	moved=$(last_of follow_chain)
	is "the instruction has moved" $((moved - last)) 1
	sample follow_chain:0:90 "follow_chain:$moved:60" steady_large:0:70 steady_small:0:30 \
		>> "$scratch/lines"
	check "$kind: a database of two builds is made" \
		"$helpers/make_profile_db" "$again" < "$scratch/lines"
	rm "$scratch"/*/program*
	is "$kind: procedures are matched by name, or by code" \
		"$(run "$again" --csv | tail -n +2 | cut -d, -f1,2 | sort | paste -sd ' ')" \
		"$([ "$kind" = stripped ] && echo 0,150 150,0 || echo 150,150) 30,30 70,70"
	[ "$kind" = stripped ] || is "$kind: instructions are aligned" "$(run "$again" --csv \
		--by-instruction | tail -n +2 | cut -d, -f1,2 | sort | paste -sd ' ')" \
		"100,90 30,30 50,60 70,70"
	[ "$kind" != rust ] || is "rust: names are readable" "$(run "$again" --csv |
		tail -n +2 | tr -d '\r' | cut -d, -f11 | sort | paste -sd ' ')" \
		"p::follow_chain p::steady_large p::steady_small"
done
is "what is matched by its name only is told" "$(run "$again" --json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["programs"])')" \
	"[{'path': '$scratch/after/program', 'program': '$scratch/before/program'}]"
valid "programs" "$tool" run "$again"

# images IMAGE...: print an epoch with 10 samples of each, IDENTITY=PATH
images()
{
	printf 'event cycles cycles 60000 64000\nepoch x86\n'
	for image; do
		printf 'image file %s %s\nsample 0 0 10\n' "${image%=*}" "${image#*=}"
	done
	echo end
}
images 01=/both/prog 02=/v1/prog 04=/v1/tool 07=/v1/same 08=/x/same 0a=/v1/lib.so.1 |
	"$helpers/make_profile_db" "$scratch/v1.db"
images 01=/both/prog 03=/v2/prog 05=/v2/tool 06=/v3/tool 07=/v2/same 09=/y/same 0b=/v2/lib.so.2 |
	"$helpers/make_profile_db" "$scratch/v2.db"
is "programs are told by path, identity, and a name that is clear" \
	"$(run "$scratch/v1.db" --db "$scratch/v2.db" --by-image --csv --normalize none |
		tail -n +2 | tr -d '\r' | awk -F , '{ print $1 ":" $2 ":" $NF }' | sort | paste -sd ' ')" \
	"0:10:/v2/lib.so.2 0:10:/v2/tool 0:10:/v3/tool 10:0:/v1/lib.so.1 10:0:/v1/tool \
10:10:/both/prog 10:10:/v1/prog 10:10:/v1/same 10:10:/x/same"
is "the heading tells those that are told by name" "$(run "$scratch/v1.db" --db "$scratch/v2.db" \
	--by-image | sed -n '/^programs/,/^normalized/p' | head -n -1 | tr -s ' ')" \
	"programs /v2/prog is assumed to be /v1/prog
 /y/same is assumed to be /x/same"

tap_done
