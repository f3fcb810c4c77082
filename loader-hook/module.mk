# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that link the archive "hook" also need the pkg-config module libelf.
ARCHIVES += hook
hook-src := loader-hook/build_id.c loader-hook/perf_ring.c loader-hook/process_scan.c \
	loader-hook/side_band.c loader-hook/side_band_record.c loader-hook/thread_count.c \
	loader-hook/vdso.c

UNIT_TESTS += unit_perf_ring unit_process_scan unit_side_band
unit_perf_ring-src := tests/unit_perf_ring.c
unit_perf_ring-archives := hook util
unit_process_scan-src := tests/unit_process_scan.c
unit_process_scan-archives := hook util
unit_process_scan-pkgs := libelf
unit_side_band-src := tests/unit_side_band.c
unit_side_band-archives := hook util
unit_side_band-ldlibs := -ldl -lpthread
