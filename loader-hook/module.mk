# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += hook
hook-src := loader-hook/perf_ring.c
