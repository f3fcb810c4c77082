# SPDX-License-Identifier: GPL-2.0-only
# The images, and the addresses at which processes map them.
ARCHIVES += image
image-src := $(addprefix daemon/image/, address_spaces.c build_id_process.c file_reader.c generation.c image_file.c image_map.c \
	image_identify.c image_place.c image_system.c image_table.c image_verifier.c image_verify.c jit_file.c \
	kallsyms.c kernel_image.c kernel_module.c loss_list.c mapping_list.c quota.c space_change.c symbol_list.c) \
	daemon/base/sandbox_process.c
image-needs := hook
image-pkgs := libelf
image-tests := unit_build_id_process unit_generation unit_image_system unit_image_identity unit_image_live unit_image_map unit_image_map_late unit_image_map_losses \
	unit_image_table unit_kernel_image unit_mapping_list unit_quota
image-benches := bench_image_map

# User-space stacks: tables of call frame information, and the walk over frames.
ARCHIVES += unwind
unwind-src := $(addprefix daemon/unwind/, unwind_build.c unwind_cache.c unwind_elf.c unwind_encode.c \
	unwind_expression.c unwind_frames.c unwind_machine.c unwind_page.c unwind_program.c \
	unwind_select.c unwind_step.c unwind_table.c)
unwind-needs := util
unwind-tests := unit_unwind_cache unit_unwind_table
unwind-benches := bench_unwind
unit_unwind_table-pkgs := libdw libelf
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
unwind-tests += unit_unwind_walk
endif
unit_unwind_walk-with := tests/fixtures/unwind_target.c

# Collection of samples, from the sources to the database.
ARCHIVES += collect
collect-src := $(addprefix daemon/, config.c control.c control_verbs.c notify.c)
collect-src += $(addprefix daemon/base/, cgroup.c descriptor_limit.c directory.c local_group.c \
	heap.c log.c loop.c secure_exec.c counter_set.c)
collect-src += $(addprefix daemon/source/, arrival_cache.c bpf_sampler.c bpf_slot.c bpf_stacks.c bpf_store.c off_cpu.c stack_copy_read.c \
	branch_history.c probe_queue.c branch_probe.c branch_probes.c reference_branches.c branch_snapshots.c event_ring.c kernel_types.c \
	file_mapping.c perf_branch.c perf_edges.c perf_registers.c perf_slot.c perf_stack.c probe_guarantee.c probe_holder.c probe_measurement.c probe_places.c probe_results.c branch_ahead.c register_pairs.c source_bpf.c \
	source_chunk.c kmod_snapshots.c source_kmod.c source_perf.c source_replay.c source_select.c store_drain.c trace.c \
	trace_reader.c trace_writer.c)
collect-src += $(addprefix daemon/event/, event.c event_alias.c event_catalog.c event_code.c \
	event_name.c event_pfm.c event_pmu.c event_spec.c multiplex.c)
collect-src += $(addprefix daemon/archive/, image_copier.c archive_policy.c archive_dir.c \
	per_process.c)
collect-src += $(addprefix daemon/jit/, jit_children.c jit_code.c jit_image.c jit_memory.c \
	jit_parser.c jit_program.c jit_reading.c jit_shape.c jit_table.c kernel_code.c)
collect-src += $(addprefix daemon/code/, code_capture.c code_mask.c code_mask_arm64.c code_mask_x86.c \
	code_source.c code_source_bpf.c code_source_kcore.c)
collect-src += $(addprefix daemon/collect/, accumulate.c bin_queue.c collector.c \
	collector_cost.c collector_counters.c collector_database.c collector_drain.c collector_epoch.c collector_merge.c collector_retention.c collector_slices.c collector_stacks.c thread_recording.c thread_store.c \
	core_clock.c edge_accumulate.c label_table.c match_cache.c matcher.c merge.c offset_counts.c \
	data_spaces.c distinct_sketch.c footprint_recording.c footprint_store.c pair_recording.c pair_store.c \
	keyed_hash.c region_store.c \
	image_names.c image_unwind.c stack_recording.c stack_store.c stack_unwinder.c symbol_reader.c unwind_builder.c unwind_tables.c \
	overhead.c process_label.c rate_limit.c scan_queue.c)
collect-needs := image core db unwind
# Debian's libpfm4-dev has no .pc file.
pfm-libs := $(shell $(PKG_CONFIG) --silence-errors --libs libpfm || echo -lpfm)
collect-ldlibs := $(pfm-libs)

collect-programs := dcpictl dcpid dcpirun
dcpictl-with := daemon/database_merge.c daemon/metrics.c daemon/status_text.c
dcpictl-pkgs := json-c
dcpirun-with := daemon/run_cost.c daemon/run_counts.c daemon/run_process.c

collect-tests := unit_accumulate unit_stack_unwinder unit_stack_copy unit_thread_store unit_bpf_store unit_probe_queue unit_cgroup unit_code_mask unit_collector unit_collector_cost \
	unit_collector_failures unit_config unit_control unit_core_clock unit_edge_accumulate \
	unit_event unit_event_pmu unit_event_spec unit_file_mapping unit_image_claim unit_image_copier \
	unit_jit_code unit_jit_parser unit_jit_program unit_jit_reading unit_kernel_code unit_kernel_types unit_log unit_matcher unit_matcher_profiler \
	unit_multiplex \
	unit_offset_counts unit_overhead unit_perf_slot unit_probe_places unit_probe_results \
	unit_data_footprint unit_process_label unit_symbol_reader unit_unwind_builder unit_register_pairs unit_branch_ahead unit_source_chunk unit_stack_store unit_source_kmod unit_source_perf
unit_bpf_store-ldlibs := -lpthread
unit_data_footprint-with := analysis/machine/data_footprint.c
unit_data_footprint-ldlibs := -lm
unit_branch_probes-ldlibs := -lm
# The test's own source_select.c and matcher.c replace those of the archive.
unit_collector-with := tests/fixtures/collector_fixture.c tests/fixtures/fake_matcher.c
unit_collector_failures-with := $(unit_collector-with)
unit_collector_failures-ldlibs := -Wl,--wrap=overhead_again,--wrap=profile_writer_epoch_next
unit_matcher-with := tests/fixtures/fake_feed.c tests/fixtures/fake_machine.c
unit_image_copier-ldlibs := -Wl,--wrap=copy_file_range
unit_matcher-ldlibs := -Wl,--wrap=clock_gettime
unit_matcher_profiler-with := $(unit_matcher-with)
unit_matcher_profiler-ldlibs := $(unit_matcher-ldlibs)
unit_perf_slot-ldlibs := -Wl,--wrap=read,--wrap=perf_ring_open,--wrap=perf_ring_close \
	-Wl,--wrap=perf_ring_fd
unit_source_kmod-ldlibs := -Wl,--wrap=open,--wrap=ioctl,--wrap=mmap,--wrap=munmap \
	-Wl,--wrap=pid_namespace_is_initial
unit_source_perf-ldlibs := -Wl,--wrap=online_cpus_follow
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
collect-tests += unit_branch_probes unit_perf_branch unit_perf_edges
endif
unit_perf_branch-with := tests/fixtures/x86_program.c tests/fixtures/x86_tracee.c

# The benchmark's own image feed, scan and kernel images replace those of the archives.
collect-benches := bench_scale
bench_scale-with := tests/fixtures/fake_feed.c

collect-helpers := branch_loop event_attr spin_pieces stop_profiler

# Traces: the replay source, and the policy simulator (tests/eval/policy/policy_simulator.c).
collect-tests += unit_policy unit_source_replay unit_trace
collect-helpers += policy_simulator
policy-src := tests/eval/policy/policy_cost.c tests/eval/policy/policy_hash.c tests/eval/policy/policy_model.c \
	tests/eval/policy/policy_pattern.c tests/eval/policy/policy_run.c tests/eval/policy/policy_steps.c
unit_policy-with := $(policy-src)
policy_simulator-with := $(policy-src)

.PHONY: policy-traces
policy-traces: all ## record traces for make policy (root, POLICY_SECONDS a workload)
	@tests/eval/policy/policy_traces.sh build/policy

.PHONY: policy
policy: $(TEST_BIN)/policy_simulator ## docs/results/policy.md from the traces in build/policy
	@docs/gen/policy_md.sh build/policy > build/policy.md && mv build/policy.md docs/results/policy.md

# perf.data files: dcpiimport collects from them, as dcpirun does from a command.
ARCHIVES += import
import-src := $(addprefix daemon/import/, branch_stack.c import.c import_branches.c import_images.c import_jit.c \
	import_lives.c import_stacks.c import_survey.c \
	$(addprefix perfdata_, event.c file.c header.c input.c stack.c swap.c unpack.c) \
	record_queue.c recording.c recording_reader.c)
import-needs := collect
import-pkgs := libzstd
import-programs := dcpiimport
import-tests := unit_branch_stack unit_import unit_import_stacks
unit_import-with := tests/fixtures/perfdata_writer.c
unit_import_stacks-with := tests/fixtures/perfdata_writer.c
import-helpers := make_perfdata make_branch_records
make_perfdata-with := tests/fixtures/perfdata_writer.c
make_branch_records-with := tests/fixtures/perfdata_writer.c

FUZZERS += fuzz_cgroup fuzz_config fuzz_control fuzz_event_spec fuzz_image_sources fuzz_jit_files \
	fuzz_jit_parser fuzz_perfdata fuzz_recording fuzz_trace fuzz_unwind
fuzz_cgroup-with := daemon/base/cgroup.c
fuzz_config-with := daemon/config.c
fuzz_config-archives := collect
fuzz_control-with := daemon/control.c daemon/archive/per_process.c daemon/base/local_group.c \
	$(addprefix lib/, broker.c cpu_list.c error.c local_socket.c path_match.c printable.c) \
	tools/base/time_spec.c
fuzz_event_spec-with := $(addprefix lib/, array.c error.c near_names.c printable.c) \
	$(addprefix daemon/event/event_, alias.c catalog.c code.c name.c pfm.c pmu.c spec.c)
fuzz_event_spec-ldlibs := $(pfm-libs)
fuzz_image_sources-with := daemon/image/file_reader.c daemon/image/image_file.c daemon/image/kallsyms.c \
	$(addprefix loader-hook/, build_id.c build_id_notes.c bpf/hook_record.c proc/process_gone.c \
	proc/process_command.c proc/process_list.c proc/process_maps.c proc/process_owner.c proc/process_stat.c \
	perf/side_band_record.c) \
	$(addprefix lib/, array.c bounded_reader.c error.c file_digest.c file_read.c printable.c u64_map.c)
fuzz_image_sources-pkgs := libelf libxxhash
fuzz_jit_files-with := daemon/jit/jit_code.c daemon/jit/jit_shape.c \
	loader-hook/jit/jit_dump.c loader-hook/jit/jit_map.c kmod/core/x86_insn.c lib/array.c
fuzz_jit_files-pkgs := libxxhash
fuzz_jit_parser-with := daemon/jit/jit_parser.c loader-hook/jit/jit_dump.c \
	loader-hook/jit/jit_map.c lib/array.c lib/broker.c
fuzz_perfdata-with := loader-hook/perf/side_band_record.c \
	$(addprefix daemon/event/event_, code.c name.c) \
	$(addprefix daemon/import/, import_lives.c import_survey.c perfdata_event.c perfdata_file.c \
	perfdata_header.c perfdata_stack.c perfdata_swap.c perfdata_unpack.c) \
	$(addprefix lib/, array.c bounded_reader.c error.c file_read.c printable.c u64_map.c)
fuzz_perfdata-pkgs := libzstd
fuzz_perfdata-seeds := tests/fixtures/perfdata_fixtures.sh
fuzz_recording-with := daemon/base/sandbox_process.c loader-hook/perf/side_band_record.c \
	$(addprefix daemon/event/event_, code.c name.c) \
	$(addprefix daemon/import/, branch_stack.c import_lives.c import_survey.c perfdata_event.c perfdata_file.c \
	perfdata_header.c perfdata_input.c perfdata_stack.c perfdata_swap.c perfdata_unpack.c record_queue.c recording.c \
	recording_reader.c) $(addprefix lib/, array.c bounded_reader.c broker.c error.c file_read.c \
	printable.c sandbox.c u64_map.c)
fuzz_recording-pkgs := libzstd libxxhash
fuzz_recording-seeds := tests/fixtures/perfdata_fixtures.sh
fuzz_trace-with := daemon/source/trace.c lib/bounded_reader.c
fuzz_trace-pkgs := libxxhash
fuzz_unwind-with := $(filter-out %/unwind_cache.c,$(unwind-src)) daemon/collect/symbol_reader.c \
	$(addprefix lib/, array.c bounded_reader.c encoded_pointer.c file_read.c symbol_name.c u64_map.c)
fuzz_unwind-pkgs := libxxhash
fuzz_unwind-seeds := tests/fixtures/unwind_fixtures.sh
