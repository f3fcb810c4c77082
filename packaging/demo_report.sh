#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Print the reports of the demonstration, in at most 60 lines together with the other lines of
# packaging/demo.sh, and write the page of dcpireport:
#
#   packaging/demo_report.sh DATABASE FOLDER
set -u
bin=${BIN:-build/bin}
db=$1 folder=$2
# Lines for a procedure, the beginning of its listing, and the sentences that explain it. The procedure
# has more lines if its callers are known.
hottest_lines=17

# Reports write into pipes here, and fit the terminal anyhow.
if [ -t 1 ]; then
	read -r _ COLUMNS < <(stty size <&1)
	export COLUMNS
fi

# table PATTERN COMMAND...: print the table of a report, whose headings match the pattern
table()
{
	local pattern=$1
	shift

	echo
	echo "== $*"
	"$bin/$1" --db "$db" --brief "${@:2}" > "$folder/report" || exit 2
	sed -n "/$pattern/,/^\$/p" "$folder/report" | sed '/^$/d'
}

# Print the procedure, the beginning of the listing, and the sentences that explain it.
hottest()
{
	echo
	echo "== dcpicalc -n 1    (the hottest procedure of this machine)"
	"$bin/dcpicalc" --db "$db" --brief -n 1 > "$folder/report" || return
	awk -v most="$hottest_lines" 'BEGIN { RS = ""; FS = "\n" }
		NR == 1 { next }
		{ paragraph[NR] = $0 }
		END {
			print paragraph[2] "\n"
			most -= split(paragraph[2], line, "\n") + split(paragraph[NR], line, "\n")
			for (i = 3; i < NR && most > 0; i++) {
				lines = split(paragraph[i], line, "\n")
				for (j = 1; j <= lines && most-- > 0; j++)
					print line[j]
			}
			if (i < NR || most < 0)
				print "..."
			print "\n" paragraph[NR]
		}' "$folder/report"
}

echo
echo "== dcpiprof -n 12"
"$bin/dcpiprof" --db "$db" --brief -n 12 || exit 2
table cum% dcpiprof --by image -n 5
table range% dcpistats --normalize total -n 3
hottest
page=$folder/report.html
"$bin/dcpireport" --db "$db" -n 20 -o "$page" || exit 2
cat << EOF

The profile is in $db. Next, for example:
    $bin/dcpicalc --db $db PROCEDURE        $bin/dcpirun --db my.db -- COMMAND
This page, for a browser, has all of this and more:
$(realpath "$page")
EOF
