# SPDX-License-Identifier: GPL-2.0-only
# Packages: libelf-dev, libdw-dev, liblzma-dev, libxxhash-dev, libzstd-dev, libcurl4-openssl-dev, libzydis-dev, libsuitesparse-dev, libcapstone-dev, liblbfgs-dev, libiberty-dev
ARCHIVES += analysis
analysis-src := $(sort $(wildcard analysis/*.c analysis/*/*.c))
analysis-needs := util
analysis-pkgs := libdw libelf liblzma libxxhash libzstd
# None of these has a pkg-config file in Debian: decoders, solvers.
analysis-ldlibs := -lZydis -lZycore -lcapstone -lklu -llbfgs -lldl -lamd -liberty -lm

# Images and their procedures.
analysis-tests := unit_exact_scale unit_image_analysis unit_image_code unit_image_lines unit_image_use \
	unit_inlines unit_landing_pads unit_near_symbols unit_procedure_analysis unit_procedure_index unit_procedure_table \
	unit_procedure_truth
unit_exact_scale-with := tests/fixtures/made_up_samples.c
unit_image_analysis-with := tests/fixtures/made_up_samples.c
unit_image_code-with := tests/fixtures/cfg_check.c
unit_landing_pads-with := tests/fixtures/cfg_check.c

# Control-flow graphs.
analysis-tests += unit_cfg unit_noreturn_blocks unit_frequency_class unit_induction unit_loop_clock unit_loop_nest \
	unit_strong_components unit_trip_count unit_trip_series
unit_cfg-with := tests/fixtures/cfg_check.c
unit_frequency_class-with := tests/fixtures/cfg_fixture.c
unit_loop_nest-with := tests/fixtures/cfg_fixture.c

# Decoders. The Alpha decoder is compared with binutils-alpha-linux-gnu, the arm64 decoder with
# the tables of one LLVM version.
analysis-tests += unit_insn_alpha unit_insn_arm64 unit_insn_x86
unit_insn_alpha-with := tests/eval/truth/sim_isa_alpha.c
insn-checks := tests/fixtures/elf_text.c tests/fixtures/insn_check.c tests/fixtures/insn_examples.c tests/fixtures/insn_objdump.c
unit_insn_x86-with := $(insn-checks)
unit_insn_arm64-with := $(insn-checks)
LLVM_HOME := /usr/lib/llvm-14
unit_insn_arm64-ldlibs := -L$(LLVM_HOME)/lib -lLLVM-14
$(OBJ)/tests/unit/analysis/unit_insn_arm64.o compile_commands.json: CPPFLAGS += -isystem $(LLVM_HOME)/include
# Executes instructions, so it runs only on a machine of the same architecture.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
analysis-tests += unit_caller_clock unit_insn_x86_effect
endif
unit_insn_x86_effect-with := tests/fixtures/elf_text.c tests/fixtures/x86_tracee.c

# Machine models and schedules.
analysis-tests += unit_issue_queue unit_schedule unit_throughput

# Frequencies.
analysis-tests += unit_call_network unit_flow_fit unit_flow_gaps unit_flow_prior unit_flow_trips unit_flow_shadow unit_flow_lower_bounds unit_gap_pool \
	unit_frequency \
	unit_frequency_bound unit_frequency_flow unit_frequency_joint unit_probe_pairs unit_probe_worth unit_skid \
	unit_sparse_factor unit_stall_exposure
unit_flow_fit-with := tests/fixtures/cfg_fixture.c
unit_flow_gaps-with := tests/fixtures/cfg_fixture.c
unit_flow_shadow-with := tests/fixtures/cfg_fixture.c
unit_flow_lower_bounds-with := tests/fixtures/cfg_fixture.c
unit_frequency-with := tests/fixtures/cfg_fixture.c
unit_frequency_bound-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c
unit_frequency_joint-with := tests/fixtures/profile_generator.c tests/fixtures/cfg_fixture.c
unit_skid-with := tests/fixtures/cfg_fixture.c
unit_stall_exposure-with := tests/fixtures/cfg_fixture.c

# Culprits.
analysis-tests += unit_code_footprint unit_culprit unit_culprit_copy_loop unit_culprit_data unit_culprit_memory \
	unit_stall_summary
unit_code_footprint-with := tests/fixtures/cfg_fixture.c
unit_culprit-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c
unit_culprit_data-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c
unit_culprit_memory-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c
unit_stall_summary-with := tests/fixtures/culprit_scene.c tests/fixtures/cfg_fixture.c

# Variation between sets of samples.
analysis-tests += unit_distribution unit_significance

analysis-benches := bench_cfg bench_flow_fit bench_frequency bench_frequency_class bench_insn \
	bench_procedure_table bench_schedule
bench_flow_fit-with := tests/fixtures/cfg_fixture.c
bench_frequency-with := tests/fixtures/profile_generator.c tests/fixtures/cfg_fixture.c
bench_insn-with := tests/fixtures/elf_text.c

analysis-helpers := block_cycles cfg_edges cfg_trips schedule_check

FUZZERS += fuzz_cfg fuzz_dead_lines fuzz_insn fuzz_procedure_index fuzz_procedure_table
fuzz_cfg-with := tests/fixtures/cfg_check.c
fuzz_cfg-whole := analysis
fuzz_dead_lines-whole := analysis
fuzz_dead_lines-seeds := tests/fixtures/line_fixtures.sh
fuzz_insn-with := tests/fixtures/insn_check.c $(filter analysis/insn/%,$(analysis-src))
fuzz_insn-ldlibs := -lZydis -lZycore -lcapstone
fuzz_procedure_index-whole := analysis
fuzz_procedure_table-whole := analysis
fuzz_procedure_table-seeds := tests/fixtures/procedure_fixtures.sh
fuzz_procedure_table-flags := -max_len=32768

.PHONY: jump-tables
jump-tables: ## graphs of real programs against the edges that they execute
	@$(MAKE) --no-print-directory count-plugin build/tests/cfg_edges build/tests/cfg_trips \
		build/tests/unit_cfg
	@tests/long/jump_tables.sh

# Compare the machine models with those of LLVM.
.PHONY: compare-models
compare-models: $(TEST_BIN)/block_cycles $(TEST_BIN)/schedule_check ## machine models against others
	$(Q)tests/eval/truth/compare_models.sh $(TEST_BIN)
