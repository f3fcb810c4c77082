#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine with a PMU, for tests/run.sh.
exec make --no-print-directory -s -C "$(dirname "$0")/../.." qemu-check-arm64
