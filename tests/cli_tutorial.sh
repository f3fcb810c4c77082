#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The commands of docs/tutorial.md work, and show the results that its text describes.
cd "$(dirname "$0")/.." || exit 2
exec tests/tutorial.py --check docs/tutorial.md
