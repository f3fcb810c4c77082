#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the page of dcpireport in Chromium, and in Firefox if its driver is installed.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. tests/lib/pages.sh

if ! command -v chromium > /dev/null || ! command -v chromedriver > /dev/null; then
	skip "the page in a browser" "no chromium, or no chromedriver"
	tap_done
	exit
fi
check "pages are made" make_pages
# expect NAME ARGUMENT...: write what dcpiprof lists to $scratch/timed.NAME
expect()
{
	"$bin/dcpiprof" --db "$scratch/timed.db" -e cpu-clock --json "${@:2}" |
		jq -r '.rows[] | [.["cpu-clock"], .["cpu-clock_percent"], .["cpu-clock_cumulative_percent"], .procedure] | @tsv' |
		awk -F '\t' '{ printf "%d|%.1f%%|%.1f%%|%s\n", $1, $2, $3, $4 }' > "$scratch/timed.$1"
}
"$bin/dcpiprof" --db "$scratch/idle.db" | awk '$6 == "walk" || $4 == "walk" { print $2 }' > "$scratch/idle.share"
"$bin/dcpiprof" --db "$scratch/idle.db" --idle | awk '$6 == "walk" || $4 == "walk" { print $2 }' >> "$scratch/idle.share"
expect whole
expect range --since @1700001400 --until @1700002600
# The page has no business with a network: the browser gets none that works.
export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9
while IFS='|' read -r result name why; do
	case $result in
	ok) ok "$name" ;;
	"not measured") not_measured "$name" "$why" ;;
	*) not_ok "$name" "$why" ;;
	esac
done < <(/usr/bin/python3 tests/cli/page/browser_test.py "$scratch" "$(patience)" 2>&1)
[ "$tap_count" -gt 20 ] || not_ok "the test ran to its end"
tap_done
