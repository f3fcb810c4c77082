#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Causes of stalls that dcpicalc finds in profiles of small programs: page faults, and calls through a
# pointer to procedures in random order.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"

gcc -O2 -g -o "$scratch/outside" tests/eval/kernels/outside.c -pthread || exit 2

# profile NAME: profile a program in $scratch/db
profile()
{
	rm -rf "$scratch"/db*
	"$bin/dcpirun" -q --db "$scratch/db" -- "$scratch/outside" "$1" 2 > /dev/null
}

# samples_of_faults: the samples that stacks in page faults stand for. Without any there is no evidence:
# the kernel is not sampled, or its symbols are hidden.
samples_of_faults()
{
	"$bin/dcpiprof" --db "$scratch/db" --inclusive --json 2> /dev/null |
		jq '[.rows[]? | select(.procedure == "asm_exc_page_fault" or .procedure == "el0_da") |
			.total] | add // 0 | floor'
}

profile fresh_blocks || exit 2
if [ "$(samples_of_faults)" -lt 500 ]; then
	not_measured "page faults" "no call stacks in the kernel's handler"
else
	text=$("$bin/dcpicalc" --db "$scratch/db" fresh_blocks)
	like "the report begins with the page faults" "$text" \
		'^[0-9]+% \([0-9]+% to [0-9]+%\) of the time of the procedure and of its page faults is '
	like "with the kernel's part" "$text" ': the kernel maps pages for it in [0-9]+ samples, by [0-9]+ call'
	json=$("$bin/dcpicalc" --db "$scratch/db" --json fresh_blocks)
	is "the cause in JSON" "$(jq -c .finding.causes <<< "$json")" '["page_fault"]'
	is "the kernel has most of the time" "$(jq '.finding.kernel_samples >
		([.instructions[].own_samples] | add)' <<< "$json")" true
	is "no operand is necessary: the faults make the procedure the hottest one" \
		"$("$bin/dcpicalc" --db "$scratch/db" --json | jq -r .procedure)" fresh_blocks
	is "the short answer" "$("$bin/dcpicalc" --db "$scratch/db" --why --json fresh_blocks |
		jq -c '[.why.kind, .why.causes[0].evidence.basis]')" '["page_faults","call_stacks"]'
fi
if [ "$(uname -m)" != x86_64 ]; then
	not_measured "calls through a pointer" "only x86-64 has samples of their targets"
	tap_done
	exit
fi
profile total_area || exit 2
is "varying targets of calls are a possible cause in callees" "$("$bin/dcpicalc" --db "$scratch/db" \
	--json area_triangle | jq '[.finding.causes[]?, .instructions[].culprits[].cause] |
	index("branch") != null')" true
tap_done
exit
