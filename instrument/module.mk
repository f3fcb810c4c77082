# SPDX-License-Identifier: GPL-2.0-only
# The rewriter is built only for x86-64, since it makes programs of the machine that it runs on.
ARCHIVES += instrument
instrument-needs := analysis
# The readers of recordings run on any machine.
instrument-src := $(addprefix instrument/calls/, call_map.c call_profile.c call_recording.c \
	call_thread.c context_tree.c) \
	$(addprefix instrument/counts/, counts_map.c) instrument/flow/flow_map.c \
	$(addprefix instrument/paths/, path_graph.c path_register.c paths_cost.c paths_listing.c paths_map.c \
	paths_profile.c paths_recording.c) \
	$(addprefix instrument/profile/, map_coding.c profile_file.c recording_builder.c) \
	$(addprefix instrument/variation/, variation_listing.c variation_profile.c \
	variation_recording.c)
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
# The archive does not contain the runtime of rewritten programs. Files that write the database
# are linked into dcpix only.
instrument-src := instrument/mode_table.c instrument/program_cache.c instrument/runnable.c \
	instrument/needed_libraries.c instrument/library_set.c \
	$(filter-out instrument/runtime/% %_store.c,$(sort $(wildcard instrument/*/*.c)))

# The runtime of rewritten programs: position-independent code without libc, and its unwind
# information.
RUNTIME_ELF := $(OBJ)/gen/runtime.elf
RUNTIME_BLOB := $(OBJ)/gen/runtime.bin
RUNTIME_FRAMES := $(OBJ)/gen/runtime.frames
RUNTIME_CFLAGS := -std=gnu17 $(WARNINGS) -O2 -ffreestanding -fno-stack-protector -fcf-protection=none \
	-mgeneral-regs-only -mno-red-zone -fPIE -fvisibility=hidden -fasynchronous-unwind-tables \
	-fno-tree-loop-distribute-patterns -ffunction-sections
RUNTIME_OBJECTS := $(patsubst %.c,$(OBJ)/gen/%.o,$(sort $(wildcard instrument/runtime/*.c)))
$(RUNTIME_OBJECTS): $(OBJ)/gen/%.o: %.c instrument/module.mk
	$(call say,RUNTIME,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RUNTIME_CFLAGS) -I. -MMD -MP -c -o $@ $<
-include $(RUNTIME_OBJECTS:.o=.d)
$(RUNTIME_ELF): $(RUNTIME_OBJECTS) instrument/runtime/runtime.ld
	$(call say,RUNTIME,$@)
	$(Q)$(CROSS_TRIPLE:%=%-)ld -nostdlib -static --gc-sections -T instrument/runtime/runtime.ld \
		-o $@ $(RUNTIME_OBJECTS)
$(RUNTIME_BLOB) $(RUNTIME_FRAMES): $(RUNTIME_ELF)
	$(Q)$(CROSS_TRIPLE:%=%-)objcopy -O binary \
		-j $(if $(filter %.bin,$@),.text,.eh_frame) $< $@
# The runtime is embedded in dcpix and in its fuzzer.
RUNTIME_USERS := $(addsuffix /instrument/codegen/runtime_blob.o,$(OBJ) build/fuzz/obj)
$(RUNTIME_USERS): $(RUNTIME_BLOB) $(RUNTIME_FRAMES)
$(RUNTIME_USERS): CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"' -DRUNTIME_FRAMES='"$(RUNTIME_FRAMES)"'

instrument-programs := dcpibursts dcpicalls dcpicct dcpipaths dcpivpp dcpix
dcpix-with := instrument/mode_store.c instrument/counts/counts_store.c \
	instrument/profile/epoch_store.c
dcpix-archives := instrument db
$(foreach p,$(filter-out dcpix,$(instrument-programs)),$(eval $(p)-archives := tool instrument))
call-report := $(addprefix tools/calls/, call_names.c call_report.c call_source.c)
dcpicalls-with := tools/calls/call_listing.c $(call-report)
dcpicct-with := tools/calls/context_listing.c tools/calls/context_paths.c $(call-report)
dcpivpp-with := $(sort $(wildcard tools/variation/*.c))

instrument-tests := unit_bursts_map unit_call_automaton unit_reg_summary_flow unit_count_graph \
	unit_counts_map unit_data_streams unit_epoch_store unit_flow_guess unit_handler_table \
	unit_liveness unit_machine_code unit_path_graph unit_path_times unit_path_webs unit_paths_cost \
	unit_paths_map unit_point unit_context_paths \
	unit_recordings unit_recordings_sampled unit_sequitur unit_burst_switch_strides unit_burst_switch_checks
unit_call_automaton-with := instrument/runtime/call_automaton.c
unit_context_paths-with := instrument/runtime/call_automaton.c
unit_epoch_store-with := instrument/profile/epoch_store.c
unit_epoch_store-archives := instrument db
unit_flow_guess-with := tests/fixtures/cfg_fixture.c
unit_path_times-with := instrument/runtime/variation_slow.c
unit_burst_switch_strides-with := tests/fixtures/random_graph.c
unit_burst_switch_checks-with := tests/fixtures/random_graph.c
instrument-helpers := call_ranges

rewriter-fuzzers := fuzz_bursts fuzz_counts fuzz_recordings fuzz_rewriter fuzz_variation
FUZZERS += $(rewriter-fuzzers)
$(foreach f,$(rewriter-fuzzers),$(eval $(f)-whole := instrument))
fuzz_rewriter-seeds := tests/fixtures/procedure_fixtures.sh
fuzz_rewriter-flags := -max_len=32768
fuzz_recordings-with := db/blob_header.c db/recording_blob.c db/profile_blob.c db/profile_pairs.c
fuzz_recordings-pkgs := zlib

.PHONY: check-paths
check-paths: ## paths of real programs against an emulator
	@$(MAKE) --no-print-directory all
	@tests/long/check_paths.sh

.PHONY: check-bursts
check-bursts: ## bursts of real programs against all that they refer to
	@$(MAKE) --no-print-directory all
	@tests/long/check_bursts.sh

.PHONY: check-calls
check-calls: ## calls and contexts of real programs, as an emulator sees them
	@$(MAKE) --no-print-directory all tests call-plugin
	@tests/long/calls_exact.sh

.PHONY: check-dcpix-programs
check-dcpix-programs: ## real programs, rewritten, print the same; the share of each that is rewritten
	@$(MAKE) --no-print-directory all
	@tests/long/dcpix_programs.sh

.PHONY: check-dcpix-debian
check-dcpix-debian: ## 300 commands of programs of Debian, rewritten in all modes, do the same
	@$(MAKE) --no-print-directory all
	@tests/long/dcpix_debian.sh

.PHONY: check-dcpix-self
check-dcpix-self: ## this project's own tests by its own programs, rewritten
	@$(MAKE) --no-print-directory all tests
	@tests/long/dcpix_self.sh $(UNIT_TESTS:%=build/tests/%)

.PHONY: check-dcpix
check-dcpix: ## COUNT (1000) random programs, from SEED (1) on, rewritten
	@$(MAKE) --no-print-directory all
	@tests/long/dcpix_random.sh

.PHONY: check-dcpix-counts
check-dcpix-counts: all count-plugin ## counts of rewritten programs against an emulator's
	@tests/long/dcpix_counts.sh
endif
