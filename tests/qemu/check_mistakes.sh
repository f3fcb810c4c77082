#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A run with a module that makes a mistake must fail for exactly that reason, and a run without a
# mistake must pass. Otherwise the runs with dcpi.ko prove nothing. Each mistake gets a new machine,
# since many checks of the kernel report only once.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

# The kernel's report for each mistake.
declare -A report=(
	[heap_overrun]='KASAN: slab-out-of-bounds in heap_overrun'
	[vmalloc_overrun]='KASAN: vmalloc-out-of-bounds in vmalloc_overrun'
	[use_after_free]='KASAN: (slab-)?use-after-free in use_after_free'
	[leak]='^not ok .* kmemleak: nothing has leaked'
	[sleep_in_atomic]='BUG: (scheduling while atomic|sleeping function|Invalid wait)'
	[lock_order]='WARNING: possible circular locking'
	[lock_in_interrupt]='WARNING: inconsistent lock state'
	[rcu_without_lock]='suspicious RCU usage|suspicious rcu_dereference'
	[cpu_while_preemptible]='BUG: using __this_cpu_add'
	[shift_too_far]='UBSAN: shift-out-of-bounds'
	[index_out_of_bounds]='UBSAN: array-index-out-of-bounds'
	[list_corrupted]='list_del corruption'
	[freed_while_active]='ODEBUG: free active'
	[data_race]='KCSAN: data-race in racer'
)

for mistake in $(make --no-print-directory -s debug-mistakes); do
	output=$(make --no-print-directory -s "debug-mistake-$mistake" 2>&1)
	status=$?
	if [ "$mistake" = none ]; then
		is "a module without a mistake passes" $status 0
	elif [ $status -ne 0 ] && grep -qE "${report[$mistake]}" <<< "$output"; then
		ok "$mistake is found"
	else
		not_ok "$mistake is found" "$output"
	fi
done
tap_done
