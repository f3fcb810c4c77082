# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that link the archive "hook" also need the pkg-config modules
# libelf and libxxhash.
ARCHIVES += hook
hook-src := loader-hook/build_id.c loader-hook/perf_ring.c loader-hook/process_scan.c \
	loader-hook/side_band.c loader-hook/side_band_record.c loader-hook/thread_count.c loader-hook/vdso.c
