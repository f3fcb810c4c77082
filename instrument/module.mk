# SPDX-License-Identifier: GPL-2.0-only
# Packages: those of analysis
#
# For x86-64, where it also has to run: what it makes are programs of this machine.
ARCHIVES += instrument
# What reads contexts that another machine's programs recorded runs anywhere.
instrument-src := $(addprefix instrument/calls/, call_map.c call_profile.c call_recording.c \
	call_thread.c context_tree.c) \
	$(addprefix instrument/counts/, counts_map.c) \
	$(addprefix instrument/paths/, path_graph.c path_register.c paths_listing.c paths_map.c \
	paths_profile.c paths_recording.c) \
	$(addprefix instrument/profile/, map_coding.c profile_file.c recording_builder.c) \
	$(addprefix instrument/variation/, variation_listing.c variation_profile.c \
	variation_recording.c)
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
# What runs in rewritten programs is not in the archive; what writes the database is the
# program's alone.
instrument-src := instrument/mode_table.c instrument/program_cache.c instrument/runnable.c \
	instrument/needed_libraries.c instrument/library_set.c \
	$(filter-out instrument/runtime/% %_store.c,$(sort $(wildcard instrument/*/*.c)))
instrument-ldlibs := -lm

# What is put into rewritten programs: bytes that run anywhere, without libc.
RUNTIME_BLOB := $(OBJ)/gen/runtime.bin
RUNTIME_CFLAGS := -std=gnu17 $(WARNINGS) -O2 -ffreestanding -fno-stack-protector -fcf-protection=none \
	-mgeneral-regs-only -mno-red-zone -fPIE -fvisibility=hidden -fno-asynchronous-unwind-tables \
	-fno-tree-loop-distribute-patterns -ffunction-sections
RUNTIME_OBJECTS := $(patsubst %.c,$(OBJ)/gen/%.o,$(sort $(wildcard instrument/runtime/*.c)))
$(RUNTIME_OBJECTS): $(OBJ)/gen/%.o: %.c
	$(call say,RUNTIME,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(RUNTIME_CFLAGS) -I. -MMD -MP -c -o $@ $<
-include $(RUNTIME_OBJECTS:.o=.d)
$(RUNTIME_BLOB): $(RUNTIME_OBJECTS) instrument/runtime/runtime.ld
	$(call say,RUNTIME,$@)
	$(Q)$(CROSS_TRIPLE:%=%-)ld -nostdlib -static --gc-sections -T instrument/runtime/runtime.ld \
		--oformat=binary -o $@ $(RUNTIME_OBJECTS)
$(OBJ)/instrument/code/runtime_blob.o: $(RUNTIME_BLOB)
$(OBJ)/instrument/code/runtime_blob.o: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'

PROGRAMS += dcpix
dcpix-src := instrument/dcpix.c instrument/mode_store.c instrument/counts/counts_store.c \
	instrument/profile/epoch_store.c
dcpix-archives := instrument analysis db util
dcpix-pkgs = $(ANALYSIS_PKGS) sqlite3 zlib

UNIT_TESTS += unit_point
unit_point-src := tests/unit_point.c
unit_point-archives := instrument analysis util
unit_point-pkgs = $(ANALYSIS_PKGS)

PROGRAMS += dcpipaths
dcpipaths-src := tools/dcpipaths.c
dcpipaths-archives := tool instrument analysis db util
dcpipaths-pkgs = $(TOOL_PKGS)
dcpipaths-ldlibs := -lm

PROGRAMS += dcpicct
dcpicct-src := tools/dcpicct.c tools/calls/context_listing.c tools/calls/call_names.c tools/calls/call_source.c \
	tools/calls/call_report.c
dcpicct-archives := tool instrument analysis db util
dcpicct-pkgs = $(TOOL_PKGS)
dcpicct-ldlibs := -lm

PROGRAMS += dcpicalls
dcpicalls-src := tools/dcpicalls.c tools/calls/call_listing.c tools/calls/call_names.c tools/calls/call_source.c \
	tools/calls/call_report.c
dcpicalls-archives := tool instrument analysis db util
dcpicalls-pkgs = $(TOOL_PKGS)
dcpicalls-ldlibs := -lm

PROGRAMS += dcpibursts
dcpibursts-src := tools/dcpibursts.c
dcpibursts-archives := tool instrument analysis db util
dcpibursts-pkgs = $(TOOL_PKGS)
dcpibursts-ldlibs := -lm

PROGRAMS += dcpivpp
dcpivpp-src := tools/dcpivpp.c $(sort $(wildcard tools/variation/*.c))
dcpivpp-archives := tool instrument analysis db util
dcpivpp-pkgs = $(TOOL_PKGS)
dcpivpp-ldlibs := -lm

UNIT_TESTS += unit_path_times
unit_path_times-src := tests/unit_path_times.c
unit_path_times-archives := instrument analysis util
unit_path_times-pkgs = $(ANALYSIS_PKGS)
unit_path_times-ldlibs := -lm

UNIT_TESTS += unit_bursts_map
unit_bursts_map-src := tests/unit_bursts_map.c
unit_bursts_map-archives := instrument analysis util
unit_bursts_map-pkgs = $(ANALYSIS_PKGS)

UNIT_TESTS += unit_sequitur
unit_sequitur-src := tests/unit_sequitur.c
unit_sequitur-archives := instrument analysis util
unit_sequitur-pkgs = $(ANALYSIS_PKGS)

UNIT_TESTS += unit_data_streams
unit_data_streams-src := tests/unit_data_streams.c
unit_data_streams-archives := instrument analysis util
unit_data_streams-pkgs = $(ANALYSIS_PKGS)

UNIT_TESTS += unit_turns
unit_turns-src := tests/unit_turns.c
unit_turns-archives := instrument analysis util
unit_turns-pkgs = $(ANALYSIS_PKGS)

UNIT_TESTS += unit_handler_table unit_machine_code unit_liveness unit_count_graph unit_counts_map
unit_handler_table-src := tests/unit_handler_table.c
unit_handler_table-archives := instrument analysis util
unit_handler_table-pkgs = $(ANALYSIS_PKGS)
unit_liveness-src := tests/unit_liveness.c
unit_liveness-archives := instrument analysis util
unit_liveness-pkgs = $(ANALYSIS_PKGS)
unit_machine_code-src := tests/unit_machine_code.c
unit_machine_code-archives := instrument analysis util
unit_machine_code-pkgs = $(ANALYSIS_PKGS)
unit_count_graph-src := tests/unit_count_graph.c
unit_count_graph-archives := instrument analysis util
unit_count_graph-pkgs = $(ANALYSIS_PKGS)
unit_counts_map-src := tests/unit_counts_map.c
unit_counts_map-archives := instrument analysis util
unit_counts_map-pkgs = $(ANALYSIS_PKGS)

UNIT_TESTS += unit_paths_map
unit_paths_map-src := tests/unit_paths_map.c
unit_paths_map-archives := instrument analysis util
unit_paths_map-pkgs = $(ANALYSIS_PKGS)
UNIT_TESTS += unit_recordings
unit_recordings-src := tests/unit_recordings.c
unit_recordings-archives := instrument analysis util
unit_recordings-pkgs = $(ANALYSIS_PKGS)
UNIT_TESTS += unit_recordings_sampled
unit_recordings_sampled-src := tests/unit_recordings_sampled.c
unit_recordings_sampled-archives := instrument analysis util
unit_recordings_sampled-pkgs = $(ANALYSIS_PKGS)
UNIT_TESTS += unit_path_graph
unit_path_graph-src := tests/unit_path_graph.c
unit_path_graph-archives := instrument analysis util
unit_path_graph-pkgs = $(ANALYSIS_PKGS)
UNIT_TESTS += unit_call_automaton
unit_call_automaton-src := tests/unit_call_automaton.c instrument/runtime/call_automaton.c
unit_call_automaton-archives := instrument analysis util
unit_call_automaton-pkgs = $(ANALYSIS_PKGS)

TEST_HELPERS += call_ranges
call_ranges-src := tests/call_ranges.c
call_ranges-archives := instrument analysis util
call_ranges-pkgs = $(ANALYSIS_PKGS)

FUZZERS += fuzz_rewriter fuzz_counts fuzz_recordings fuzz_variation fuzz_bursts
fuzz_recordings-src = tests/fuzz_recordings.c db/recording_blob.c db/profile_blob.c \
	$(instrument-src) $(analysis-src) $(util-src)
fuzz_recordings-pkgs := $(ANALYSIS_PKGS) zlib
fuzz_recordings-ldlibs = $(analysis-ldlibs)
build/fuzz/fuzz_recordings: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'
build/fuzz/fuzz_recordings: | $(RUNTIME_BLOB)
fuzz_variation-src = tests/fuzz_variation.c $(instrument-src) $(analysis-src) $(util-src)
fuzz_variation-pkgs := $(ANALYSIS_PKGS)
fuzz_variation-ldlibs = $(analysis-ldlibs)
build/fuzz/fuzz_variation: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'
build/fuzz/fuzz_variation: | $(RUNTIME_BLOB)
fuzz_bursts-src = tests/fuzz_bursts.c $(instrument-src) $(analysis-src) $(util-src)
fuzz_bursts-pkgs := $(ANALYSIS_PKGS)
fuzz_bursts-ldlibs = $(analysis-ldlibs)
build/fuzz/fuzz_bursts: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'
build/fuzz/fuzz_bursts: | $(RUNTIME_BLOB)
fuzz_counts-src = tests/fuzz_counts.c $(instrument-src) $(analysis-src) $(util-src)
fuzz_counts-pkgs := $(ANALYSIS_PKGS)
fuzz_counts-ldlibs = $(analysis-ldlibs)
build/fuzz/fuzz_counts: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'
build/fuzz/fuzz_counts: | $(RUNTIME_BLOB)
fuzz_rewriter-src = tests/fuzz_rewriter.c $(instrument-src) $(analysis-src) $(util-src)
fuzz_rewriter-pkgs := $(ANALYSIS_PKGS)
fuzz_rewriter-ldlibs = $(analysis-ldlibs)
build/fuzz/fuzz_rewriter: CPPFLAGS += -DRUNTIME_BLOB='"$(RUNTIME_BLOB)"'
build/fuzz/fuzz_rewriter: | $(RUNTIME_BLOB)

.PHONY: check-paths
check-paths: ## paths of real programs against an emulator
	@$(MAKE) --no-print-directory all
	@tests/check_paths.sh

.PHONY: check-bursts
check-bursts: ## bursts of real programs against all that they refer to
	@$(MAKE) --no-print-directory all
	@tests/check_bursts.sh

.PHONY: check-calls
check-calls: ## calls and contexts of real programs, as an emulator sees them
	@$(MAKE) --no-print-directory all tests call-plugin
	@tests/calls_exact.sh

.PHONY: check-dcpix-programs
check-dcpix-programs: deps-dcpix-programs ## real programs, rewritten, do what they did; how much of each
	@$(MAKE) --no-print-directory all
	@tests/dcpix_programs.sh

.PHONY: check-dcpix-self
check-dcpix-self: deps-check ## this project's own tests by its own programs, rewritten
	@$(MAKE) --no-print-directory all tests
	@tests/dcpix_self.sh $(UNIT_TESTS:%=build/tests/%)

.PHONY: check-dcpix
check-dcpix: deps-dcpix ## COUNT (1000) random programs, from SEED (1) on, rewritten
	@$(MAKE) --no-print-directory all
	@tests/dcpix_random.sh

.PHONY: check-dcpix-counts
check-dcpix-counts: all count-plugin ## counts of rewritten programs against an emulator's
	@tests/dcpix_counts.sh
endif
