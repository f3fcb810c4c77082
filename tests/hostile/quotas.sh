#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# A user floods the daemon with image events, images, mappings and files to identify.
#
#	FEEDS	sources of image events to attack (default: perf)
#	ALL	not empty: test the variants, and times, too
set -u
. "$(dirname "$0")/../lib/hostile_cli.sh"
hostile_needs
hostile_build

FEEDS=${FEEDS:-perf}
for feed in $FEEDS; do
	hostile_baseline "$feed"
	hostile_case "files mapped one after the other" "$feed" numbers "$work/a" 60000
	hostile_case "sparse files" "$feed" holes "$work/a" 300
	hostile_case "files with slow call frame information" "$feed" tables "$work/a" "$seconds"
	hostile_case "processes of many mappings" "$feed" mappings "$work/a/file" 5 60000
	[ -n "${ALL:-}" ] || continue
	hostile_case "files that stay mapped" "$feed" held "$work/a" 140000
	hostile_case "a file of many names" "$feed" names "$work/a" 60000
	hostile_case "very many processes of many mappings" "$feed" mappings "$work/a/file" 25 60000
	hostile_case "mappings replaced in place" "$feed" remap "$work/a/file" "$seconds"
	hostile_case "perf maps that grow" "$feed" perfmaps 400 "$seconds"
	hostile_case "files replaced while they are mapped" "$feed" swap "$work/a" "$seconds"
done

# The daemon starts while processes with very many mappings run.
attack_begin mappings "$work/a/file" 5 60000
sleep 2
if hostile_start "${FEEDS%% *}"; then
	ok "starts beside processes of many mappings"
	time_bound "milliseconds to the start, beside processes of many mappings" "$start_ms" \
		"$START_MS"
	# shellcheck disable=SC2119 # with the usual signal
	daemon_stop
else
	not_started "a start beside processes of many mappings"
fi
attack_end
tap_done
