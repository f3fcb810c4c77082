# SPDX-License-Identifier: GPL-2.0-only
# kmod/core once more, for user space: perf source, tests, benchmarks.
ARCHIVES += core
core-src := kmod/core/period.c kmod/core/sample_store.c
