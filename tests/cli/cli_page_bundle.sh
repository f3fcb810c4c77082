#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test that web/dist/page.html, which dcpireport embeds, is the result of a build of web/.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

is "the lockfile names no registry" "$(grep -c '"resolved"' web/package-lock.json)" 0
for library in d3-hierarchy uplot; do
	like "LICENSES has that of $library" "$(cat web/LICENSES)" "^$library $(
		jq -r ".packages[\"node_modules/$library\"].version" web/package-lock.json | sed 's/\./\\./g') "
done
if ! command -v npm > /dev/null; then
	not_measured "the bundle is that of the sources" "no npm"
	tap_done
	exit
fi
cp -r web/package.json web/package-lock.json web/build.mjs web/src web/dist web/LICENSES "$scratch"
if ! (cd "$scratch" && within npm ci --ignore-scripts --no-audit --no-fund > npm.log 2>&1); then
	not_measured "the bundle is that of the sources" "npm cannot install: $(tail -n 1 "$scratch/npm.log")"
	tap_done
	exit
fi
# shellcheck disable=SC2016 # that shell expands it
check "the bundle is that of the sources" sh -c 'cd "$1" && node build.mjs --check' - "$scratch"
echo 'console.log("another page");' >> "$scratch/src/main.js"
like "another source is noticed" "$(cd "$scratch" && node build.mjs --check 2>&1)" 'page.html is not what'
tap_done
