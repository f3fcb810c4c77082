# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += hook
hook-src := $(addprefix loader-hook/, audit_feed.c audit_record.c bpf/bpf_hook.c \
	bpf/bpf_machine.c build_id.c build_id_notes.c bpf/hook_losses.c bpf/hook_record.c \
	bpf/hook_ring.c image_feed.c jit/jit_dump.c jit/jit_map.c perf/perf_ring.c \
	proc/process_command.c proc/process_gone.c proc/process_list.c proc/process_maps.c proc/process_owner.c \
	proc/process_scan.c proc/process_stat.c proc/process_watch.c perf/ring_reader.c \
	perf/side_band.c perf/side_band_record.c perf/thread_count.c vdso.c)
hook-needs := util
hook-pkgs := libbpf libelf

include loader-hook/bpf/bpf.mk
include loader-hook/audit/audit.mk

hook-tests := unit_audit_feed unit_audit_record unit_bpf_machine unit_hook_losses unit_hook_record \
	unit_image_feed unit_jit_files unit_perf_ring unit_process_scan unit_side_band \
	unit_side_band_cpus
unit_side_band-ldlibs := -ldl -lpthread -Wl,--wrap=perf_ring_dropped,--wrap=perf_ring_open,--wrap=ring_reader_add
unit_side_band_cpus-ldlibs := -Wl,--wrap=pread,--wrap=read
# The library's sources, compiled like those of other programs.
unit_audit_feed-with := loader-hook/audit/datagram.c
unit_audit_record-with := $(addprefix loader-hook/audit/, datagram.c host_process.c loaded_object.c)

FUZZERS += fuzz_audit_record
fuzz_audit_record-with := loader-hook/audit_record.c
