#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The documents agree with the tree: links, names of files, functions and make targets exist; each
# part has a DESIGN.md; dcpi(7) lists every page; the README gets to a result within 400 words.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

mapfile -t documents < <(git ls-files -co --exclude-standard -- '*.md' | grep -vE '^(tests|docs/gen)/.*/')
mapfile -t designs < <(git ls-files -co --exclude-standard -- '*/DESIGN.md' 'docs/extending.md' \
	'docs/overview.md' 'docs/glossary.md' 'docs/decisions/*.md')
files=$(git ls-files -co --exclude-standard)
bad=

# Print the links of a document to files of the tree.
links()
{
	grep -oE '\]\([^)]+\)' "$1" | sed -E 's/^\]\(//; s/\)$//; s/#.*//' |
		grep -vE '^(https?:|mailto:|$)'
}

for document in "${documents[@]}"; do
	# Pieces of generated documents have links that are relative to the result.
	case $document in docs/gen/*) continue ;; esac
	while read -r link; do
		[ -e "$(dirname "$document")/$link" ] || bad+="$document: $link"$'\n'
	done < <(links "$document")
done
is "every link leads to a file" "$bad" ""
check "there are links" [ "$(cat "${documents[@]}" | grep -c '](')" -gt 100 ]

# names PATTERN: print "DOCUMENT NAME" for each name in backquotes that matches
names()
{
	# shellcheck disable=SC2016 # backquotes of Markdown
	grep -oE "\`$1\`" /dev/null "${designs[@]}" | sed -E 's/:`/ /; s/`.*$//' | sort -u
}

bad=
while read -r document name; do
	grep -qE "(^|/)${name//./\\.}\$" <<< "$files" || bad+="$document: $name"$'\n'
done < <(names '[a-z0-9_./-]+\.(c|h|S|sh|py|awk|bpf\.c|sql|mk|scd|md)')
is "every file that a design names exists" "$bad" ""

bad=
while read -r document name; do
	git grep -qwF "${name%()}" -- '*.c' '*.h' || bad+="$document: $name"$'\n'
done < <(names '[a-z0-9_]+\(\)')
is "every function that a design names exists" "$bad" ""

bad=
while read -r document name; do
	git grep -qE "^struct ${name#struct } \{|^	?(static |const )*struct ${name#struct }\b" -- '*.c' '*.h' ||
		bad+="$document: $name"$'\n'
done < <(names 'struct [a-z0-9_]+')
is "every structure that a design names exists" "$bad" ""

bad=
while read -r document name; do
	git grep -qE "^(\.PHONY: .*)?\b${name#make }\b ?:|^${name#make }:|\.PHONY:.* ?${name#make }\b" -- \
		Makefile '*.mk' || bad+="$document: $name"$'\n'
done < <(names 'make [a-z-]+')
is "every target of make that a design names exists" "$bad" ""

for part in kmod daemon loader-hook db analysis tools instrument ship lib tests; do
	is "$part/DESIGN.md has its sections" "$(grep -oE \
		'^## (Problem|Data structures|Invariants|Alternatives|Size)$' "$part/DESIGN.md" | sort)" \
		"$(printf '## %s\n' Alternatives 'Data structures' Invariants Problem Size)"
done

for decision in docs/decisions/[0-9]*.md; do
	is "${decision##*/} has its sections" "$(grep '^## ' "$decision")" \
		"$(printf '## %s\n' Context Decision Consequences)"
	like "${decision##*/} has at most one page" "$(wc -w < "$decision")" '^[1-4]?[0-9]{1,2}$'
	check "${decision##*/} is listed" grep -qF "(${decision##*/})" docs/decisions/README.md
done

bad=
for page in docs/man/*.scd; do
	page=$(basename "$page" .scd)
	[ "$page" = dcpi.7 ] && continue
	grep -qF "*${page%.*}*(${page##*.})" docs/man/dcpi.7.scd || bad+="$page "
done
is "dcpi(7) lists every page" "$bad" ""

# The first result is the first indented line after the first command of make.
result='^    [0-9]+ samples of [a-z-]+.*; [0-9]+ lost, [0-9.]+% unknown$'
words=$(awk -v result="$result" '$0 ~ result { exit } { print }' README.md | wc -w)
check "the README has a result" grep -qE "$result" README.md
check "the README has at most 400 words before it ($words)" [ "$words" -le 400 ]
for document in docs/overview.md README.md; do
	check "$document links to the glossary" grep -q 'glossary\.md' "$document"
done
words=$(wc -w < docs/overview.md)
check "the overview has at most four pages ($words words)" [ "$words" -le 2200 ]

tap_done
