# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += image
image-src := $(addprefix daemon/image/, address_spaces.c generation.c image_file.c image_map.c \
	image_place.c image_table.c jit_file.c kallsyms.c kernel_image.c loss_list.c mapping_list.c symbol_list.c)

UNIT_TESTS += unit_generation
unit_generation-src := tests/unit_generation.c
unit_generation-archives := image

UNIT_TESTS += unit_image_live unit_image_map unit_image_table unit_kernel_image
unit_image_live-src := tests/unit_image_live.c
unit_image_live-archives := image hook util
unit_image_live-pkgs := libelf libxxhash
unit_image_map-src := tests/unit_image_map.c
unit_image_map-archives := image hook util
unit_image_map-pkgs := libelf libxxhash
UNIT_TESTS += unit_image_map_losses unit_mapping_list
unit_image_map_losses-src := tests/unit_image_map_losses.c
unit_image_map_losses-archives := image hook util
unit_image_map_losses-pkgs := libelf libxxhash
unit_mapping_list-src := tests/unit_mapping_list.c
unit_mapping_list-archives := image
unit_image_table-src := tests/unit_image_table.c
unit_image_table-archives := image hook util
unit_image_table-pkgs := libelf libxxhash
unit_kernel_image-src := tests/unit_kernel_image.c
unit_kernel_image-archives := image hook util
unit_kernel_image-pkgs := libelf libxxhash

BENCHES += bench_image_map
bench_image_map-src := tests/bench_image_map.c
bench_image_map-archives := image hook util
bench_image_map-pkgs := libelf libxxhash

ARCHIVES += collect
collect-src := $(addprefix daemon/, config.c control.c control_verbs.c notify.c)
collect-src += $(addprefix daemon/base/, cgroup.c cpu_list.c directory.c heap.c log.c \
	loop.c online_cpus.c tally.c)
collect-src += $(addprefix daemon/source/, bpf_sampler.c bpf_slot.c bpf_store.c \
	branch_snapshots.c event_ring.c perf_branch.c perf_slot.c source_bpf.c source_chunk.c \
	source_kmod.c source_perf.c source_replay.c source_select.c store_drain.c trace.c \
	trace_reader.c trace_writer.c)
collect-src += $(addprefix daemon/event/, event.c event_alias.c event_catalog.c event_code.c \
	event_name.c event_pfm.c event_pmu.c event_spec.c multiplex.c)
collect-src += $(addprefix daemon/archive/, image_copier.c image_keeper.c image_shelf.c \
	per_process.c)
collect-src += $(addprefix daemon/jit/, jit_code.c jit_image.c jit_program.c jit_shape.c \
	jit_table.c kernel_code.c)
collect-src += $(addprefix daemon/collect/, accumulate.c bin_queue.c collector.c \
	collector_counters.c collector_drain.c collector_epoch.c collector_merge.c collector_retention.c \
	core_clock.c edge_accumulate.c label_table.c match_cache.c matcher.c merge.c offset_counts.c \
	overhead.c process_label.c rate_limit.c)

# Debian's libpfm4-dev has no .pc file.
pfm-libs := $(shell $(PKG_CONFIG) --silence-errors --libs libpfm || echo -lpfm)

collect-pkgs := libbpf libxxhash
collect-ldlibs := $(pfm-libs)

daemon-archives := collect image hook db core util
daemon-pkgs := libelf libxxhash sqlite3 zlib

PROGRAMS += dcpid dcpirun dcpictl
dcpid-src := daemon/dcpid.c
dcpid-archives := $(daemon-archives)
dcpid-pkgs := $(daemon-pkgs)
dcpirun-src := daemon/dcpirun.c
dcpirun-archives := $(daemon-archives)
dcpirun-pkgs := $(daemon-pkgs)
dcpictl-src := daemon/dcpictl.c daemon/database_merge.c daemon/metrics.c daemon/status_text.c
dcpictl-archives := collect db util
dcpictl-pkgs := json-c sqlite3 zlib

# perf.data files: dcpiimport collects from them, as dcpirun does from a command.
ARCHIVES += import
import-src := $(addprefix daemon/import/, import.c import_images.c import_survey.c \
	perfdata_event.c perfdata_file.c perfdata_header.c perfdata_unpack.c record_queue.c)
import-pkgs := libzstd

PROGRAMS += dcpiimport
dcpiimport-src := daemon/dcpiimport.c
dcpiimport-archives := import $(daemon-archives)
dcpiimport-pkgs := $(daemon-pkgs)

UNIT_TESTS += unit_import
unit_import-src := tests/unit_import.c tests/perfdata_writer.c
unit_import-archives := import $(daemon-archives)
unit_import-pkgs := $(daemon-pkgs)

FUZZERS += fuzz_perfdata
fuzz_perfdata-src := tests/fuzz_perfdata.c loader-hook/side_band_record.c \
	$(addprefix daemon/event/event_, code.c name.c) \
	$(addprefix daemon/import/, import_survey.c perfdata_event.c perfdata_file.c \
	perfdata_header.c perfdata_unpack.c) \
	$(addprefix lib/, array.c bounded_reader.c error.c file_read.c u64_map.c)
fuzz_perfdata-pkgs := libzstd

UNIT_TESTS += unit_bpf_store
unit_bpf_store-src := tests/unit_bpf_store.c
unit_bpf_store-archives := collect
unit_bpf_store-ldlibs := -lpthread

UNIT_TESTS += unit_event unit_overhead unit_source_kmod unit_config unit_accumulate unit_control
unit_event-src := tests/unit_event.c
unit_event-archives := collect util
unit_source_kmod-src := tests/unit_source_kmod.c
unit_source_kmod-archives := collect hook core util
unit_source_kmod-ldlibs := -Wl,--wrap=open,--wrap=ioctl,--wrap=mmap,--wrap=munmap

UNIT_TESTS += unit_source_chunk
unit_source_chunk-src := tests/unit_source_chunk.c
unit_source_chunk-archives := collect core util
unit_overhead-src := tests/unit_overhead.c
unit_overhead-archives := collect hook util
unit_config-src := tests/unit_config.c
unit_config-archives := collect hook core util
FUZZERS += fuzz_config
fuzz_config-src := tests/fuzz_config.c daemon/config.c
fuzz_config-archives := collect hook core util
unit_accumulate-src := tests/unit_accumulate.c
unit_accumulate-archives := collect util
FUZZERS += fuzz_control
fuzz_control-src := tests/fuzz_control.c daemon/control.c daemon/archive/per_process.c \
	daemon/base/cpu_list.c lib/error.c lib/local_socket.c tools/base/time_spec.c
unit_control-src := tests/unit_control.c
unit_control-archives := collect util

UNIT_TESTS += unit_image_copier
unit_image_copier-src := tests/unit_image_copier.c
unit_image_copier-archives := collect hook util
unit_image_copier-pkgs := libelf libxxhash

UNIT_TESTS += unit_log
unit_log-src := tests/unit_log.c
unit_log-archives := collect util

UNIT_TESTS += unit_cgroup unit_process_label
unit_cgroup-src := tests/unit_cgroup.c
unit_cgroup-archives := collect util
unit_cgroup-pkgs := libxxhash
unit_process_label-src := tests/unit_process_label.c
unit_process_label-archives := collect util
unit_process_label-pkgs := libxxhash

FUZZERS += fuzz_cgroup
fuzz_cgroup-src := tests/fuzz_cgroup.c daemon/base/cgroup.c

UNIT_TESTS += unit_core_clock
unit_core_clock-src := tests/unit_core_clock.c
unit_core_clock-archives := collect util

UNIT_TESTS += unit_event_pmu unit_event_spec unit_multiplex
unit_event_pmu-src := tests/unit_event_pmu.c
unit_event_pmu-archives := collect util
unit_event_spec-src := tests/unit_event_spec.c
unit_event_spec-archives := collect util
unit_multiplex-src := tests/unit_multiplex.c
unit_multiplex-archives := collect util

# What a name comes to, for tests/cli_events.sh.
TEST_HELPERS += event_attr
event_attr-src := tests/event_attr.c
event_attr-archives := collect util

FUZZERS += fuzz_event_spec
fuzz_event_spec-src := tests/fuzz_event_spec.c lib/error.c \
	$(addprefix daemon/event/event_, alias.c catalog.c code.c name.c pfm.c pmu.c spec.c)
fuzz_event_spec-ldlibs := $(pfm-libs)

UNIT_TESTS += unit_perf_slot
unit_perf_slot-src := tests/unit_perf_slot.c
unit_perf_slot-archives := collect hook core util
unit_perf_slot-ldlibs := -Wl,--wrap=read,--wrap=perf_ring_open,--wrap=perf_ring_close \
	-Wl,--wrap=perf_ring_fd

UNIT_TESTS += unit_edge_accumulate unit_collector unit_matcher unit_offset_counts unit_online_cpus
unit_online_cpus-src := tests/unit_online_cpus.c
unit_online_cpus-archives := collect util
unit_matcher-src := tests/unit_matcher.c tests/fake_feed.c
unit_matcher-archives := $(daemon-archives)
unit_matcher-pkgs := $(daemon-pkgs)
unit_matcher-ldlibs := -Wl,--wrap=clock_gettime
unit_offset_counts-src := tests/unit_offset_counts.c
unit_offset_counts-archives := collect util
unit_edge_accumulate-src := tests/unit_edge_accumulate.c
unit_edge_accumulate-archives := collect util
# Their own source_select.c and matcher.c stand in for those of the archive.
unit_collector-src := tests/unit_collector.c tests/fake_matcher.c
unit_collector-archives := $(daemon-archives)
unit_collector-pkgs := $(daemon-pkgs)

# Traces: the replay source, and the policy simulator (tests/policy_simulator.c).
UNIT_TESTS += unit_trace unit_source_replay unit_policy
unit_trace-src := tests/unit_trace.c
unit_trace-archives := collect util
unit_source_replay-src := tests/unit_source_replay.c
unit_source_replay-archives := collect hook core util

policy-src := tests/policy_cost.c tests/policy_hash.c tests/policy_model.c \
	tests/policy_pattern.c tests/policy_run.c tests/policy_steps.c
unit_policy-src := tests/unit_policy.c $(policy-src)
unit_policy-archives := collect core util

TEST_HELPERS += policy_simulator
policy_simulator-src := tests/policy_simulator.c $(policy-src)
policy_simulator-archives := collect core util

FUZZERS += fuzz_trace
fuzz_trace-src := tests/fuzz_trace.c daemon/source/trace.c lib/bounded_reader.c
fuzz_trace-pkgs := libxxhash

.PHONY: policy-traces
policy-traces: all ## record traces for make policy (root, POLICY_SECONDS a workload)
	@tests/policy_traces.sh build/policy

.PHONY: policy
policy: $(TEST_BIN)/policy_simulator ## docs/policy.md from the traces in build/policy
	@tests/policy_md.sh build/policy > build/policy.md && mv build/policy.md docs/policy.md

ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
UNIT_TESTS += unit_perf_branch
endif
unit_perf_branch-src := tests/unit_perf_branch.c tests/x86_program.c tests/x86_tracee.c
unit_perf_branch-archives := collect hook core util

UNIT_TESTS += unit_jit_code
unit_jit_code-src := tests/unit_jit_code.c
unit_jit_code-archives := collect image core util

UNIT_TESTS += unit_kernel_code
unit_kernel_code-src := tests/unit_kernel_code.c
unit_kernel_code-archives := $(daemon-archives)
unit_kernel_code-pkgs := $(daemon-pkgs)

FUZZERS += fuzz_jit_files fuzz_image_sources
fuzz_jit_files-src := tests/fuzz_jit_files.c daemon/jit/jit_code.c daemon/jit/jit_shape.c \
	loader-hook/jit_dump.c loader-hook/jit_map.c kmod/core/x86_insn.c lib/array.c
fuzz_jit_files-pkgs := libxxhash
fuzz_image_sources-src := tests/fuzz_image_sources.c \
	daemon/image/image_file.c daemon/image/kallsyms.c \
	loader-hook/build_id.c loader-hook/build_id_notes.c loader-hook/hook_record.c \
	loader-hook/process_list.c loader-hook/side_band_record.c \
	lib/bounded_reader.c lib/error.c \
	lib/file_digest.c lib/file_read.c
fuzz_image_sources-pkgs := libelf libxxhash

# Its own image feed, scan and kernel images stand in for those of the archives.
BENCHES += bench_scale
bench_scale-src := tests/bench_scale.c tests/fake_feed.c
bench_scale-archives := $(daemon-archives)
bench_scale-pkgs := $(daemon-pkgs)

TEST_HELPERS += spin_pieces
spin_pieces-src := tests/spin_pieces.c
