# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that link the archive "hook" also need the pkg-config module libelf.
ARCHIVES += hook
hook-src := $(addprefix loader-hook/, audit_feed.c audit_record.c bpf_hook.c bpf_machine.c \
	build_id.c build_id_notes.c hook_losses.c hook_record.c hook_ring.c image_feed.c jit_dump.c jit_map.c \
	perf_ring.c process_list.c process_scan.c process_stat.c process_watch.c side_band.c \
	side_band_record.c thread_count.c vdso.c)
hook-pkgs := libbpf

include loader-hook/bpf/bpf.mk
include loader-hook/audit/audit.mk

UNIT_TESTS += unit_image_feed
unit_image_feed-src := tests/unit_image_feed.c
unit_image_feed-archives := hook util

UNIT_TESTS += unit_hook_losses
unit_hook_losses-src := tests/unit_hook_losses.c
unit_hook_losses-archives := hook util

UNIT_TESTS += unit_hook_record unit_perf_ring unit_process_scan unit_side_band
unit_hook_record-src := tests/unit_hook_record.c
unit_hook_record-archives := hook util
unit_perf_ring-src := tests/unit_perf_ring.c
unit_perf_ring-archives := hook util
unit_process_scan-src := tests/unit_process_scan.c
unit_process_scan-archives := hook util
unit_process_scan-pkgs := libelf
unit_side_band-src := tests/unit_side_band.c
unit_side_band-archives := hook util
unit_side_band-ldlibs := -ldl -lpthread

UNIT_TESTS += unit_jit_files
unit_jit_files-src := tests/unit_jit_files.c
unit_jit_files-archives := hook util

# The library's parts, as programs like any other.
audit-parts := $(addprefix loader-hook/audit/, datagram.c host_process.c loaded_object.c)
UNIT_TESTS += unit_audit_feed unit_audit_record
unit_audit_feed-src := tests/unit_audit_feed.c loader-hook/audit/datagram.c
unit_audit_feed-archives := hook util
unit_audit_record-src := tests/unit_audit_record.c $(audit-parts)
unit_audit_record-archives := hook util

FUZZERS += fuzz_audit_record
fuzz_audit_record-src := tests/fuzz_audit_record.c loader-hook/audit_record.c
