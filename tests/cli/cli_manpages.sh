#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test properties of all programs: --help, --version, one line for each error. Help text and manual
# page must describe the same options.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

bin=${BIN:-build/bin}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# run CMD...: run the command; sets $status, $out, $errors
run()
{
	within "$@" > "$scratch/out" 2> "$scratch/err" < /dev/null
	status=$?
	out=$(cat "$scratch/out")
	errors=$(cat "$scratch/err")
}

# Print the options of a help text on stdin: "-e --event", one per line.
options_of_help()
{
	sed -nE 's/^  ((-[a-zA-Z]), |    )(--[a-z-]+).*/\2 \3/p' | sed 's/^ //' | sort
}

# Print the options of a manual page: words in bold before the text of each paragraph.
options_of_page()
{
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$1" | grep -E '^\*-' | sed 's/[;] /\n/g; s/_, \*/_\n*/g' |
		sed -nE 's/^(\*(-[a-zA-Z])\*, )?\*(--[a-z-]+)\*.*/\2 \3/p' | sed 's/^ //' | sort
}

programs=0
for path in "$bin"/*; do
	program=${path##*/}
	programs=$((programs + 1))

	run "$path" --help
	is "$program --help succeeds and says nothing on stderr" "$status$errors" 0
	like "$program --help begins with the usage" "$(head -n 1 "$scratch/out")" \
		"^Usage: $program( |$)"
	is "$program: no line is wider than 80" "$(awk 'length > 80' "$scratch/out")" ""
	help=$out
	run "$path" -h
	is "$program -h is the same" "$status $out" "0 $help"
	run "$path" --version
	like "$program --version" "$status $out" \
		"^0 $program \(DCPI for Linux\) [0-9]+\.[0-9]+\.[0-9]+$"

	run "$path" --no-such-option
	is "$program: an unknown option" "$status $out$errors" \
		"2 $program: unknown option '--no-such-option' (see '$program --help')"
	run "$path" -?
	is "$program: an unknown letter" "$status $out$errors" \
		"2 $program: unknown option '-?' (see '$program --help')"
	with_value=$(sed -nE 's/.* --([a-z-]+) [A-Z]+ .*/\1/p' <<< "$help" | head -n 1)
	run "$path" "--$with_value"
	is "$program: an option without its value" "$status $out$errors" \
		"2 $program: option '--$with_value' needs a value"
	run "$path" --help=yes
	is "$program: a value too many" "$status $out$errors" \
		"2 $program: option '--help' takes no value"

	pages=(docs/man/"$program".?.scd)
	is "$program has one manual page" "${#pages[@]} $(head -c 6 "${pages[0]}" 2>&1)" \
		"1 $(printf %s "$program(" | head -c 6)"
	is "$program: help and manual page tell of the same options" \
		"$(printf '%s\n' "$help" | options_of_help)" "$(options_of_page "${pages[0]}")"
done
check "there are programs" [ $programs -gt 0 ]

# Ignore mandoc's warnings that are due to scdoc's output.
for page in docs/man/*.scd; do
	name=$(basename "$page" .scd)
	if ! command -v scdoc > /dev/null || ! command -v mandoc > /dev/null; then
		skip "$name: mandoc has no complaint" "no scdoc or no mandoc"
		continue
	fi
	# mandoc takes the text after the last dot of a path for the section.
	made=$scratch/page.${name##*.}
	is "$name is a manual page" "$(scdoc < "$page" 2>&1 > "$made")" ""
	is "$name: mandoc has no complaint" "$(mandoc -T lint -W warning "$made" |
		grep -v 'WARNING: skipping paragraph macro: PP')" ""
done

# Keys of the configuration, as "KEY DEFAULT" lines: the daemon, its header and the manual page must
# agree.
keys=$(sed -nE 's/^\t\{(TEXT|NUMBER)\(([a-z_]+)\),.*/\2/p' daemon/config.c | sort)
page=docs/man/dcpid.conf.5.scd
like "there are keys" "$(echo "$keys" | wc -l)" '^[2-9][0-9]$'
is "every key is in the daemon's header" \
	"$(sed -nE '/ Keys:$/,/\*\//s/^ \*\t([a-z_]+) .*/\1/p' daemon/config.h | sort)" "$keys"
is "every key is in dcpid.conf(5)" "$(sed -n '/^# KEYS/,/^# LOADER/p' $page |
	grep -E '^\*[a-z_]+\*' | grep -oE '[a-z_]+' | sort)" "$keys"
# Keys that are described together have one paragraph, which contains the default as a word.
while read -r key default; do
	text=$(awk -v key="*$key*" '/^[*]/ { mine = index($0, key) } mine' $page)
	like "dcpid.conf(5) has the default of $key" "$(echo "$text" | tr '\n\t' '  ')" \
		"(^|[^0-9a-z])$default([^0-9a-z]|\$)"
done < <(tr '\n' ' ' < daemon/config.c | grep -oE '\{(TEXT|NUMBER)\([a-z_]+\),[^}]*\.initial = ("[^"]+"|[A-Z_]+)' |
	sed -E 's/^.*\(([a-z_]+)\).*initial = "?([^"]*)"?$/\1 \2/' | while read -r key default; do
		case $default in
		[A-Z]*) default=$(printf '#include "%s"\n' daemon/config.h \
				loader-hook/audit/audit_message.h | cat - <(echo "$default") |
				"${CC:-gcc}" -E -P -I. - | tail -n 1 | tr -d '"') ;;
		esac
		[ "$default" = "" ] || echo "$key $default"
	done)

tap_done
