#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# The commands of docs/tutorial.md work, and show the results that its text describes.
cd "$(dirname "$0")/../.." || exit 2
exec docs/gen/tutorial.py --check docs/tutorial.md
