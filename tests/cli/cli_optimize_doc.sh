#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The commands of docs/optimize.md work, and show the results that its text describes.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
if [ "$(uname -m)" = x86_64 ] && compgen -c llvm-bolt > /dev/null; then
	exec docs/gen/tutorial.py --check docs/optimize.md
fi
not_measured "the commands of docs/optimize.md" "no llvm-bolt for this machine"
tap_done
