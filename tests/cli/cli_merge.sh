#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test "dcpictl merge" as users run it: two hosts in one database.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

bin=${BIN:-build/bin}
helpers=${HELPERS:-build/tests}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export TZ=UTC LC_ALL=C.UTF-8
unset DCPI_DB DEBUGINFOD_URLS

# source_make NAME SAMPLES: make the database of a host
source_make()
{
	"$helpers/make_profile_db" "$scratch/$1.db" <<-END
		host $1
		event cycles cycles 60000 64000
		epoch Model 1
		image file 0102030405 /usr/lib/shared.so
		sample 0 64 $2
		end
	END
}

merge()
{
	"$bin/dcpictl" --db "$scratch/out.db" merge "$@"
}

# total HOST: print its samples, from dcpiprof
total()
{
	"$bin/dcpiprof" --db "$scratch/out.db" --host "$1" --by image --csv |
		awk -F , 'NR > 1 { sum += $1 } END { print sum }'
}

# refused PATTERN ARGUMENT...: test for status 2 and one line on stderr
refused()
{
	local pattern=$1 status
	shift

	merge "$@" > "$scratch/stdout" 2> "$scratch/err"
	status=$?
	is "status of a refusal: $pattern" "$status $(wc -l < "$scratch/err")" "2 1"
	like "which says why: $pattern" "$(cat "$scratch/err")" "^dcpictl: .*$pattern"
}

source_make alpha 30
source_make beta 12
refused 'No such file' "$scratch/alpha.db" "$scratch/none.db"
is "and nothing is made" "$(ls "$scratch/out.db" 2> /dev/null)" ""
like "two hosts are merged" "$(merge "$scratch/alpha.db" "$scratch/beta.db" | tail -n 1)" \
	'^total: 2 epochs merged, 0 skipped .* 1 new images$'
is "samples of the one" "$(total alpha)" 30
is "samples of the other" "$(total beta)" 12
like "merging again adds nothing" "$(merge "$scratch/beta.db" | tail -n 1)" \
	'^total: 0 epochs merged, 1 skipped \(1 known'
is "and samples stay" "$(total beta)" 12
refused 'itself' "$scratch/out.db"
refused 'needs databases'
echo text > "$scratch/text.db"
refused 'text.db' "$scratch/text.db"
exec 9<> "$scratch/out.db-lock"
flock -n 9
refused 'being written by another process' "$scratch/alpha.db"
exec 9>&-

tap_done
