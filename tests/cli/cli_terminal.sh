#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test reports on a terminal: one header line, rows that fit, shortened names; and that nothing is
# shortened elsewhere.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. "$(dirname "$0")/../lib/calc_db.sh"

# on_terminal COLUMNS COMMAND...: print the output of a command on a terminal, without colours
on_terminal()
{
	script -qec "stty cols $1; ${*:2}" /dev/null < /dev/null |
		sed 's/\x1b\[[0-9;]*[mK]//g' | tr -d '\r'
}

check "programs are made" tests/fixtures/calc_fixtures.sh "$scratch"
both_db | make_db both
# One name with template arguments, one without, both longer than a terminal.
plain=begin_$(printf 'x%.0s' $(seq 120))_end
template=_ZN5store3MapISt6vectorISt4pairIllESaIS2_EESt4lessIlESaISt4pairIKlS4_EEE6insertERKS2_
printf '%s\n' "event cycles cycles 1 1" "epoch CPU" "image jit - [jit]" "symbols $template $plain main" \
	"sample 0 0x0 70" "sample 0 0x1000 20" "sample 0 0x2000 10" \
	"loss nested 3" end | make_db long

reports=("dcpiprof --db $scratch/long.db" "dcpiprof --by image --db $scratch/long.db"
	"dcpilist --db $scratch/both.db walk" "dcpicalc --db $scratch/both.db walk"
	"dcpicalc --summary --db $scratch/both.db walk" "dcpisumm --db $scratch/both.db"
	"dcpitopstalls --db $scratch/both.db" "dcpistats --db $scratch/both.db"
	"dcpidiff --db $scratch/both.db 1 2")
for report in "${reports[@]}"; do
	name=${report/--db * /} name=${name%% --db*}
	read -ra command <<< "$bin/$report"
	on_terminal 100 "${command[*]}" > "$scratch/terminal"
	like "$name: a terminal gets one header line" "$(head -n 1 "$scratch/terminal")" \
		'^[0-9]+ samples of [a-z, -]+.* [0-9]+ lost.*, [0-9.]+% unknown'
	is "$name: and an empty line after it" "$(sed -n 2p "$scratch/terminal")" ""
	is "$name: no other header" "$(grep -cE '^(epochs|host|cpu|kernel|accounting) ' \
		"$scratch/terminal")" 0
	is "$name: --header prints all" "$(on_terminal 100 "${command[*]} --header" |
		grep -cE '^(epochs|cpu|source|accounting|unknown) ')" 5
	is "$name: so does a pipe" \
		"$("${command[@]}" | grep -cE '^(epochs|cpu|source|accounting|unknown) ')" 5
	like "$name: unless it is --brief" "$("${command[@]}" --brief | head -n 1)" \
		'^[0-9]+ samples of .* on host, 2023-11-14 22:13 \([0-9.]+ [a-z]+\); [0-9]+ lost'
done

prof="$bin/dcpiprof --db $scratch/long.db"
for columns in 132 80 60 40 24; do
	is "$columns columns: rows fit" "$(on_terminal $columns "$prof" | awk -v most=$columns \
		'NR > 1 && length > most')" ""
done
on_terminal 80 "$prof" > "$scratch/terminal"
is "template arguments are shortened first" "$(grep -c 'store::Map<.*\.\.\.>.*::insert(' \
	"$scratch/terminal")" 1
is "other names in the middle" "$(grep -cE 'begin_x+\.\.\.x+_end  ' "$scratch/terminal")" 1
is "--wide prints all of a name" "$(on_terminal 80 "$prof --wide" | grep -c " $plain ")" 1
is "a pipe gets all of a name" "$($prof | grep -c "${plain}\|std::pair<long const, ")" 2
is "COLUMNS is the width of a terminal" \
	"$(COLUMNS=50 on_terminal 80 "$prof" | awk 'NR > 1 && length > 50')" ""
is "the line fits, too" "$(on_terminal 40 "$prof" | head -n 1)" \
	"100 samples of cycles; 3 lost, 0.0% unknown"
is "JSON has the full header" "$($prof --json --brief | jq -c '[.epochs[0].host, .interrupts, .losses]')" \
	'["host",103,{"nested":3}]'

# Interrupts that are not accounted for are in the line.
sqlite3 "$scratch/long.db" "UPDATE epoch SET interrupts = interrupts + 1"
like "an inexact account is in the line" "$($prof --brief | head -n 1)" '; 3 lost, NOT EXACT, '
tap_done
