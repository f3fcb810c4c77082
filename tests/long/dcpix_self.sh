#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# This project's own tests, rewritten by dcpix: unit tests (paths as arguments) pass as before, and
# so do tests of programs with all programs rewritten. CLI: names of these tests.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
cli=${CLI:-cli_dcpiprof cli_dcpicalc cli_dcpilist cli_dcpisumm cli_units cli_merge cli_retention}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export DCPIX_OUT=$work/counts

# These tests examine their own code as it was compiled: the results of analysing it, and assembly
# that jumps with data below another stack, which no compiler generates.
own_code=' unit_image_analysis unit_point '

for test; do
	name=$(basename "$test")
	if [[ $own_code == *" $name "* ]]; then
		skip "$name" "it is about its own code"
		continue
	fi
	check "$name: it is rewritten" "$dcpix" -q -o "$work/$name" "$test"
	if timeout 300 "$test" > "$work/want" 2>&1 < /dev/null; then
		check "$name: it passes" timeout 600 "$work/$name"
		check "$name: it counted" compgen -G "$work/counts.*"
	else
		skip "$name" "it does not pass as it is"
	fi
	rm -f "$work"/counts.* "${work:?}/$name"
done

# In a copy of the tree, since tests expect programs at fixed paths.
mkdir "$work/tree"
git ls-files -z | xargs -0 cp --parents -Pt "$work/tree"
cp -a build "$work/tree"
for program in build/bin/*; do
	"$dcpix" -q -o "$work/tree/$program" "$program" 2> /dev/null || echo "# $program is not rewritten"
done
for test in $cli; do
	(cd "$work/tree" && timeout 900 "tests/cli/$test.sh") > "$work/got" 2>&1
	is "$test: passes with rewritten programs" "$?$(grep '^not ok' "$work/got")" 0
done
check "they counted" compgen -G "$work/counts.*"
tap_done
