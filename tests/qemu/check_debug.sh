#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the module's tests on a debug kernel, for tests/run.sh.
exec make --no-print-directory -s -C "$(dirname "$0")/../.." debug-check
