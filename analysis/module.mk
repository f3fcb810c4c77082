# SPDX-License-Identifier: GPL-2.0-only
# Packages: libelf-dev, libdw-dev, liblzma-dev, libxxhash-dev, libzydis-dev, libsuitesparse-dev, libcapstone-dev, liblbfgs-dev
ARCHIVES += analysis
analysis-src := $(sort $(wildcard analysis/*.c analysis/*/*.c))
ANALYSIS_PKGS := libdw libelf liblzma libxxhash

UNIT_TESTS += unit_procedure_table
unit_procedure_table-src := tests/unit_procedure_table.c
unit_procedure_table-archives := analysis util
unit_procedure_table-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_procedure_index
unit_procedure_index-src := tests/unit_procedure_index.c
unit_procedure_index-archives := analysis util
unit_procedure_index-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_procedure_truth
unit_procedure_truth-src := tests/unit_procedure_truth.c
unit_procedure_truth-archives := analysis util
unit_procedure_truth-pkgs := $(ANALYSIS_PKGS)

BENCHES += bench_procedure_table
bench_procedure_table-src := tests/bench_procedure_table.c
bench_procedure_table-archives := analysis util
bench_procedure_table-pkgs := $(ANALYSIS_PKGS)

FUZZERS += fuzz_procedure_index
fuzz_procedure_index-src = tests/fuzz_procedure_index.c $(analysis-src) $(util-src)
fuzz_procedure_index-pkgs := $(ANALYSIS_PKGS)
fuzz_procedure_index-ldlibs = $(analysis-ldlibs)

FUZZERS += fuzz_procedure_table
fuzz_procedure_table-src = tests/fuzz_procedure_table.c $(analysis-src) $(util-src)
fuzz_procedure_table-pkgs := $(ANALYSIS_PKGS)
fuzz_procedure_table-ldlibs = $(analysis-ldlibs)

# Images and control-flow graphs.
UNIT_TESTS += unit_cfg
unit_cfg-src := tests/unit_cfg.c tests/cfg_check.c
unit_cfg-archives := analysis util
unit_cfg-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_image_code
unit_image_code-src := tests/unit_image_code.c tests/cfg_check.c
unit_image_code-archives := analysis util
unit_image_code-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_landing_pads
unit_landing_pads-src := tests/unit_landing_pads.c tests/cfg_check.c
unit_landing_pads-archives := analysis util
unit_landing_pads-pkgs := $(ANALYSIS_PKGS)

TEST_HELPERS += cfg_edges
cfg_edges-src := tests/truth/cfg_edges.c
cfg_edges-archives := analysis util
cfg_edges-pkgs := $(ANALYSIS_PKGS)

.PHONY: jump-tables
jump-tables: deps-jump-tables ## graphs of real programs against the edges that they execute
	@$(MAKE) --no-print-directory count-plugin build/tests/cfg_edges
	@tests/jump_tables.sh

BENCHES += bench_cfg
bench_cfg-src := tests/bench_cfg.c
bench_cfg-archives := analysis util
bench_cfg-pkgs := $(ANALYSIS_PKGS)

FUZZERS += fuzz_cfg
fuzz_cfg-src = tests/fuzz_cfg.c tests/cfg_check.c $(analysis-src) $(util-src)
fuzz_cfg-pkgs := $(ANALYSIS_PKGS)
fuzz_cfg-ldlibs = $(analysis-ldlibs)

# Frequencies.
analysis-ldlibs += -lldl -lamd -lm

UNIT_TESTS += unit_frequency_class
unit_frequency_class-src := tests/unit_frequency_class.c tests/cfg_fixture.c
unit_frequency_class-archives := analysis util

UNIT_TESTS += unit_frequency
unit_frequency-src := tests/unit_frequency.c tests/cfg_fixture.c
unit_frequency-archives := analysis util

UNIT_TESTS += unit_frequency_joint
unit_frequency_joint-src := tests/unit_frequency_joint.c tests/profile_generator.c \
	tests/cfg_fixture.c
unit_frequency_joint-archives := analysis util

UNIT_TESTS += unit_stall_exposure
unit_stall_exposure-src := tests/unit_stall_exposure.c tests/cfg_fixture.c
unit_stall_exposure-archives := analysis util

UNIT_TESTS += unit_sparse_factor
unit_sparse_factor-src := tests/unit_sparse_factor.c
unit_sparse_factor-archives := analysis util

BENCHES += bench_frequency_class
bench_frequency_class-src := tests/bench_frequency_class.c
bench_frequency_class-archives := analysis util

BENCHES += bench_frequency
bench_frequency-src := tests/bench_frequency.c tests/profile_generator.c tests/cfg_fixture.c
bench_frequency-archives := analysis util

# The Alpha decoder; its test compares with binutils-alpha-linux-gnu.
UNIT_TESTS += unit_insn_alpha
unit_insn_alpha-src := tests/unit_insn_alpha.c tests/truth/sim_isa_alpha.c
unit_insn_alpha-archives := analysis

# Machine models and schedules.
UNIT_TESTS += unit_schedule
unit_schedule-src := tests/unit_schedule.c
unit_schedule-archives := analysis util
unit_schedule-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_issue_queue
unit_issue_queue-src := tests/unit_issue_queue.c
unit_issue_queue-archives := analysis util
unit_issue_queue-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_throughput
unit_throughput-src := tests/unit_throughput.c
unit_throughput-archives := analysis util
unit_throughput-pkgs := $(ANALYSIS_PKGS)

BENCHES += bench_schedule
bench_schedule-src := tests/bench_schedule.c
bench_schedule-archives := analysis util
bench_schedule-pkgs := $(ANALYSIS_PKGS)

TEST_HELPERS += schedule_check
schedule_check-src := tests/truth/schedule_check.c
schedule_check-archives := analysis util
schedule_check-pkgs := $(ANALYSIS_PKGS)

TEST_HELPERS += block_cycles
block_cycles-src := tests/truth/block_cycles.c
block_cycles-archives := analysis util
block_cycles-pkgs := $(ANALYSIS_PKGS)

# How far our models differ from LLVM's.
.PHONY: compare-models
compare-models: $(TEST_BIN)/block_cycles $(TEST_BIN)/schedule_check ## machine models against others
	$(Q)packaging/deps.sh models
	$(Q)tests/truth/compare_models.sh $(TEST_BIN)

# Decoders. Zydis and Zycore have no pkg-config files in Debian.
analysis-ldlibs += -lZydis -lZycore -lcapstone

UNIT_TESTS += unit_insn_x86
unit_insn_x86-src := tests/unit_insn_x86.c tests/elf_text.c tests/insn_check.c \
	tests/insn_examples.c tests/insn_objdump.c
unit_insn_x86-archives := analysis

# Instructions are executed, so on their own machine only.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
UNIT_TESTS += unit_insn_x86_effect
endif
unit_insn_x86_effect-src := tests/unit_insn_x86_effect.c tests/elf_text.c tests/x86_tracee.c
unit_insn_x86_effect-archives := analysis

# LLVM, version and all: its tables of arm64 are what ours are compared with.
LLVM_HOME := /usr/lib/llvm-14
UNIT_TESTS += unit_insn_arm64
unit_insn_arm64-src := tests/unit_insn_arm64.c tests/elf_text.c tests/insn_check.c \
	tests/insn_examples.c tests/insn_objdump.c
unit_insn_arm64-archives := analysis
unit_insn_arm64-ldlibs := -L$(LLVM_HOME)/lib -lLLVM-14
$(OBJ)/tests/unit_insn_arm64.o compile_commands.json: CPPFLAGS += -isystem $(LLVM_HOME)/include

BENCHES += bench_insn
bench_insn-src := tests/bench_insn.c tests/elf_text.c
bench_insn-archives := analysis

FUZZERS += fuzz_insn
fuzz_insn-src = tests/fuzz_insn.c tests/insn_check.c $(filter analysis/insn/%,$(analysis-src))
fuzz_insn-ldlibs = -lZydis -lZycore -lcapstone

# Procedures and images as a whole.
UNIT_TESTS += unit_image_analysis
unit_image_analysis-src := tests/unit_image_analysis.c
unit_image_analysis-archives := analysis util
unit_image_analysis-pkgs := $(ANALYSIS_PKGS)

# Culprits.
UNIT_TESTS += unit_culprit
unit_culprit-src := tests/unit_culprit.c tests/culprit_scene.c tests/cfg_fixture.c
unit_culprit-archives := analysis util

UNIT_TESTS += unit_culprit_memory
unit_culprit_memory-src := tests/unit_culprit_memory.c tests/culprit_scene.c tests/cfg_fixture.c
unit_culprit_memory-archives := analysis util

UNIT_TESTS += unit_code_footprint
unit_code_footprint-src := tests/unit_code_footprint.c tests/cfg_fixture.c
unit_code_footprint-archives := analysis util

UNIT_TESTS += unit_strong_components
unit_strong_components-src := tests/unit_strong_components.c
unit_strong_components-archives := analysis util

UNIT_TESTS += unit_culprit_copy_loop
unit_culprit_copy_loop-src := tests/unit_culprit_copy_loop.c
unit_culprit_copy_loop-archives := analysis util
unit_culprit_copy_loop-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_stall_summary
unit_stall_summary-src := tests/unit_stall_summary.c tests/culprit_scene.c tests/cfg_fixture.c
unit_stall_summary-archives := analysis util

# Frequencies on out-of-order machines; klu has no pkg-config file in Debian.
analysis-ldlibs += -lklu -llbfgs

UNIT_TESTS += unit_frequency_flow
unit_frequency_flow-src := tests/unit_frequency_flow.c
unit_frequency_flow-archives := analysis util
unit_frequency_flow-pkgs := $(ANALYSIS_PKGS)

UNIT_TESTS += unit_flow_fit
unit_flow_fit-src := tests/unit_flow_fit.c tests/cfg_fixture.c
unit_flow_fit-archives := analysis util

UNIT_TESTS += unit_call_network
unit_call_network-src := tests/unit_call_network.c
unit_call_network-archives := analysis util

BENCHES += bench_flow_fit
bench_flow_fit-src := tests/bench_flow_fit.c tests/cfg_fixture.c
bench_flow_fit-archives := analysis util

# What varies between sets of samples.
UNIT_TESTS += unit_distribution
unit_distribution-src := tests/unit_distribution.c
unit_distribution-archives := analysis
unit_distribution-ldlibs := -lm

UNIT_TESTS += unit_variation
unit_variation-src := tests/unit_variation.c
unit_variation-archives := analysis util
unit_variation-ldlibs := -lm
