# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Common code of the tests of the tools. Sets $bin, $helpers and $scratch (removed at the end). With
# UPDATE=1 golden output is written, not compared.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
. tests/lib/tap.sh

# shellcheck disable=SC2034 # used by the scripts that source this
bin=${BIN:-build/bin}
# shellcheck disable=SC2034
helpers=${HELPERS:-build/tests}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export TZ=UTC LC_ALL=C.UTF-8 XDG_CACHE_HOME=$scratch/cache
unset DCPI_DB NO_COLOR COLUMNS DEBUGINFOD_URLS

# tool_golden FILE LABEL COMMAND...: test that the output equals tests/golden/FILE, without errors
tool_golden()
{
	local file=tests/golden/$1 label=$2 status
	shift 2

	# Without the parts that differ between machines.
	"$@" 2> "$scratch/err" | sed "s,$scratch,DIR,g" > "$scratch/out"
	status=${PIPESTATUS[0]}
	if [ "${UPDATE:-}" = 1 ]; then
		cp "$scratch/out" "$file"
	fi
	if [ "$status" -eq 0 ] && [ ! -s "$scratch/err" ] && cmp -s "$scratch/out" "$file"; then
		ok "output of $label"
	else
		not_ok "output of $label" \
			"status $status $(cat "$scratch/err"; diff "$file" "$scratch/out" | head -n 30)"
	fi
}

# tool_refused TOOL STATUS PATTERN COMMAND...: test that it fails, with one line on stderr and no
# output
tool_refused()
{
	local tool=$1 want=$2 pattern=$3 status name
	shift 3

	name="${*:2}"
	name="status $want: $tool ${name//$scratch/.}"
	"$@" > "$scratch/out" 2> "$scratch/err"
	status=$?
	if [ $status -eq "$want" ] && [ ! -s "$scratch/out" ] &&
		[ "$(wc -l < "$scratch/err")" -eq 1 ] &&
		grep -qE "^$tool: .*$pattern" "$scratch/err"; then
		ok "$name"
	else
		not_ok "$name" \
			"status $status, want /$pattern/; $(head -c 2000 "$scratch/out" "$scratch/err")"
	fi
}

# no_reader COMMAND...: test that the command ends without a message when its reader exits
no_reader()
{
	{
		sleep 0.3
		exec "$@" 2> "$scratch/err"
	} | true
	is "$(basename "$1"): a reader that has gone" "${PIPESTATUS[0]} $(cat "$scratch/err")" "141 "
}

# valid LABEL TOOL COMMAND...: test that the JSON of a report is valid by docs/reports.schema.json
valid()
{
	if ! python3 -c 'import jsonschema' 2> /dev/null; then
		skip "$1: as the schema has it" "no python3-jsonschema"
		return
	fi
	"${@:3}" --json > "$scratch/json"
	check "$1: as the schema has it" tests/lib/validate_json.py "$2" < "$scratch/json"
}
