#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Static checks; "make lint" calls this with the sources of the user space programs. Needs
# compile_commands.json. Exit status 1 if there is a finding.
#
#	LINT_JOBS	number of parallel jobs (default: number of CPUs)
# shellcheck disable=SC2317 # lint() calls these functions
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
jobs=${LINT_JOBS:-$(nproc)}
failed=0

# lint: run a checker, which prints nothing if all is well.
lint()
{
	local name=$1 output

	shift
	if output=$("$@" 2>&1) && [ -z "$output" ]; then
		printf '  %-12s clean\n' "$name"
	else
		printf '  %-12s findings:\n%s\n' "$name" "$output"
		failed=1
	fi
}

# One file at a time: with several files, clang-tidy 14 mixes up their state.
tidy()
{
	printf '%s\n' "$@" | xargs -P "$jobs" -n 1 clang-tidy --quiet -p . 2>&1 |
		{ grep -vE '^[0-9]+ warnings? generated' || true; }
}

check_c()
{
	cppcheck --quiet --std=c11 -j "$jobs" --enable=warning,portability,performance --inline-suppr \
		--suppressions-list=tests/cppcheck.suppressions --suppress=missingIncludeSystem \
		--error-exitcode=1 -I. "$@"
}

# Ignore warnings that are due to scdoc's output; titles and long lines are a matter of style.
manuals()
{
	local output

	output=$(mandoc -T lint -W warning "$@")
	! printf '%s' "$output" | grep -v 'WARNING: skipping paragraph macro: PP'
}

format()
{
	clang-format --dry-run -Werror "$@"
}

# A document identifies kernels by version, or by a release of Debian, but not by a private build.
releases()
{
	! git grep -nE '\b[0-9]+\.[0-9]+\.[0-9]+-[a-z]' -- '*.md' '*.scd' |
		grep -vE -- '-(amd64|arm64)'
}

mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh')
mapfile -t c_files < <(git ls-files -co --exclude-standard '*.c' '*.h')
lint clang-format format "${c_files[@]}"
lint shellcheck shellcheck "${scripts[@]}"
lint prose tests/prose_lint.py --change
lint releases releases
lint mandoc manuals build/man/*
lint cppcheck check_c "$@"
lint clang-tidy tidy "$@"
exit $failed
