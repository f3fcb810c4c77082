# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The scripts that a machine runs when tests/run.sh repeats its tests: see FIRST_LOG there.

# first_run_scripts: print the scripts that had failures in the first run. Status 1 if other tests
# failed: those of the kernel's log and of the machine are not repeated.
first_run_scripts()
{
	local names name

	names=$(sed -nE 's/^not ok [0-9]+ - (([a-z_0-9]+): )?.*/\2/p' "$FIRST_LOG" | sort -u)
	[ -n "$names" ] || return 1
	while read -r name; do
		[ -f "tests/qemu/$name.sh" ] || return 1
		echo "tests/qemu/$name.sh"
	done <<< "$names"
}

# first_run_select VARIABLE: set $scripts to the assignment with which make runs only these scripts; empty in
# a first run. If they cannot be repeated, print the log of the first run and exit.
first_run_select()
{
	local names

	scripts=()
	[ -n "${FIRST_LOG:-}" ] || return 0
	names=$(first_run_scripts) || { cat "$FIRST_LOG"; exit 1; }
	# shellcheck disable=SC2034 # for the caller
	scripts=("$1=${names//$'\n'/ }")
}
