#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The tutorial's matrix product: an inner loop of 1,024 iterations that waits for memory, in two
# others of 512 and 256, so that its body ran 134,217,728 times in each run. The samples are from
# three real runs in which no probe measured any time: then the frequency is estimated from samples.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
id=00112233445566778899aabbccddeeff00998877
runs=134217728

as -o "$scratch/matrix.o" - <<-'END'
	.text
	.globl main
	.type main, @function
	main:
		lea left(%rip), %rdi
		lea 0x200000(%rdi), %rbx
		lea product(%rip), %r11
		lea right(%rip), %rax
		lea 0x2000(%rax), %r10
	1:	mov %r11, %rdx
		lea right(%rip), %rax
	2:	movapd (%rdx), %xmm0
		mov %rdi, %rsi
		mov %rax, %rcx
		lea 0x800000(%rax), %r8
	body:	movsd (%rsi), %xmm1
		add $0x2000, %rcx
		add $0x8, %rsi
		unpcklpd %xmm1, %xmm1
		mulpd -0x2000(%rcx), %xmm1
		addpd %xmm1, %xmm0
		cmp %r8, %rcx
		jne body
	after:	add $0x10, %rax
		movaps %xmm0, (%rdx)
		add $0x10, %rdx
		cmp %r10, %rax
		jne 2b
		add $0x2000, %rdi
		add $0x2000, %r11
		cmp %rbx, %rdi
		jne 1b
		ret
		.size main, . - main
		.bss
	left:	.skip 0x200000
	right:	.skip 0x800000
	product: .skip 0x200000
END
check "the program is made" ld -o "$scratch/matrix" --build-id="0x$id" -Ttext=0x401000 \
	-e main "$scratch/matrix.o"
body=$((0x$(nm "$scratch/matrix" | awk '$3 == "body" { print $1 }') - 0x400000))

# epoch SAMPLES...: print the samples of one run: of the loop's 1st, 2nd, 3rd, 5th, 6th, 7th and 8th
# instruction, of the first two before it, and of the first after it
epoch()
{
	local place

	echo "event cpu-clock ns 180288 192307"
	echo "counter stat core_clock_min_khz 4152578"
	echo "counter stat core_clock_max_khz 4322384"
	echo "counter stat edges_handed 20000"
	echo "epoch Some CPU"
	echo "image file $id $scratch/matrix"
	for place in 0 4 11 19 27 31 34 -17 -13 36; do
		[ "$1" = 0 ] || echo "sample 0 $((body + place)) $1"
		shift
	done | sort -n -k 3
	echo "branch $((body + 34)) $body 20000"
	echo "branch $((body + 34)) $((body + 36)) 15"
	[ -z "${gaps:-}" ] || echo "gaps $((body + 50)) $gaps"
	echo end
}

{
	epoch 23 39 316 1953 128 42 1 6 3 2
} | "$helpers/make_profile_db" "$scratch/one.db"
{
	epoch 23 39 316 1953 128 42 1 6 3 2
	epoch 17 30 272 1690 118 41 1 11 5 2
	epoch 30 36 340 2010 140 40 2 7 3 3
} | "$helpers/make_profile_db" "$scratch/three.db"

# judge NAME EXECUTIONS: test the estimated number of executions
judge()
{
	"$bin/dcpicalc" --db "$scratch/$1.db" --json main > "$scratch/$1.json"
	is "$1: the interval holds the executions" "$(jq --argjson truth "$2" --argjson body \
		$((body + 0x400000)) '.instructions[] | select(.address == $body) |
		.frequency_low <= $truth and $truth <= .frequency_high' "$scratch/$1.json")" true
	is "$1: the estimate is within a factor of two" "$(jq --argjson truth "$2" --argjson body \
		$((body + 0x400000)) '.instructions[] | select(.address == $body) |
		.frequency > $truth / 2 and .frequency < $truth * 2' "$scratch/$1.json")" true
	is "$1: no block is faster than its best case" "$(jq '[.blocks[] |
		select(.actual_cpi != null and .actual_cpi < .best_cpi * 0.9999)] | length' \
		"$scratch/$1.json")" 0
}

# In two epochs, probes of the branch of the middle loop measured time: 4 us and 1 us per execution.
# The slow epoch has 2,500 samples of 186,297.5 ns, the fast one has 625. Adding up the gaps of both
# epochs would give 1.6 us per execution.
{
	gaps="5000 20000000"
	epoch 23 39 316 1953 128 42 1 0 0 0
	gaps="40000 40000000"
	epoch 6 10 79 488 32 11 0 0 0 0
} | "$helpers/make_profile_db" "$scratch/rates.db"

judge one $runs
judge three $((3 * runs))
judge rates $(((2502 * 1862975 / 40000 + 626 * 1862975 / 10000) * 1024))
is "rates: the error is a fifth at most" "$(jq --argjson truth \
	$(((2502 * 1862975 / 40000 + 626 * 1862975 / 10000) * 1024)) --argjson body \
	$((body + 0x400000)) '.instructions[] | select(.address == $body) |
	(.frequency / $truth - 1) | . > -0.2 and . < 0.2' "$scratch/rates.json")" true
tap_done
