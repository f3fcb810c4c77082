# SPDX-License-Identifier: GPL-2.0-only
#
# One makefile for everything in user space; each folder's module.mk lists the parts in
# the folder. The kernel module is built by kbuild from kmod/Kbuild.
#
#   make VARIANT=asan        the same programs and tests under ASan and UBSan
#   make CROSS=arm64         for another architecture; see tests/qemu/cross.mk
#   make V=1                 show the commands
#   make DEPS=no             install no packages

# The packages that the goals need are installed first, because the parts below run the compiler
# to determine its target. With DEPS=no, the caller has to install them.
DEPS ?= $(if $(MAKELEVEL:0=)$(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),no,yes)
ifneq ($(DEPS),no)
$(if $(filter done,$(shell packaging/deps.sh $(or $(MAKECMDGOALS),all) $(CROSS:%=check) >&2 && echo done)),,\
	$(error packages are missing))
endif

.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

VERSION := 0.1.0

VARIANT ?= release
ifeq ($(VARIANT),release)
OUT := build
else
OUT := build/$(VARIANT)
endif

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config

ifneq ($(CROSS),)
include tests/qemu/cross.mk
endif
BIN := $(OUT)/bin
OBJ := $(OUT)/obj
LIB := $(OUT)/lib
TEST_BIN := $(OUT)/tests

PREFIX ?= /usr/local
DESTDIR ?=

# Sanitizers need line numbers and names only: compilation takes 60% of the time of -O2 -g.
ifeq ($(VARIANT),asan)
OPTIMIZE ?= -O1
DEBUG_INFO ?= -g1
endif
OPTIMIZE ?= -O2
DEBUG_INFO ?= -g
CFLAGS ?= $(OPTIMIZE) $(DEBUG_INFO)
CPPFLAGS += -I. -D_GNU_SOURCE -DDCPI_VERSION='"$(VERSION)"'
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wpointer-arith -Wcast-qual -Wundef -Wwrite-strings -Werror
ALL_CFLAGS = -std=gnu17 $(WARNINGS) $(CFLAGS) -fno-strict-overflow -fPIC -fvisibility=hidden
ALL_LDFLAGS = $(LDFLAGS) -Wl,--as-needed

# It links a test in half the CPU time.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
ifeq ($(VARIANT),asan)
# Warnings that depend on the value analysis of -O2 are reported by the release build.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-Wno-format-truncation -Wno-maybe-uninitialized
ALL_CFLAGS += $(SANITIZE)
ALL_LDFLAGS += $(SANITIZE) $(GOLD)
else ifeq ($(VARIANT),tsan)
SANITIZE := -fsanitize=thread -fno-omit-frame-pointer
ALL_CFLAGS += $(SANITIZE)
ALL_LDFLAGS += $(SANITIZE) $(GOLD)
else
ALL_CFLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong
ALL_LDFLAGS += -Wl,-z,relro,-z,now
endif

Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

# The parts and their sources. module.mk files define, for each name in ARCHIVES:
#    <archive>-src       sources
#    <archive>-needs     archives that it calls
#    <archive>-pkgs      pkg-config modules that it needs; <archive>-ldlibs: other libraries
#    <archive>-programs  programs that are linked with it
#    <archive>-tests     unit tests that are linked with it and cmocka
#    <archive>-benches   benchmarks that are linked with it
#    <archive>-helpers   programs that are linked with it and run by tests
# In addition, they extend these lists:
#    PLUGINS             shared objects (lib/<name>.so)
#    FUZZERS             fuzz targets
#    GENERATED           generated headers, under $(OBJ)/gen
# Each program, plugin or fuzz target is built from the file with its name, unless one of these
# variables is set:
#    <name>-src          sources to use instead of that file
#    <name>-with         sources to use in addition to that file
#    <name>-archives     archives to link instead of the archive of the list that names it
#    <name>-pkgs, <name>-ldlibs  additional libraries
#    <name>-whole        fuzz targets: compile the sources of these archives into the target
#    <name>-seeds        fuzz targets: command that creates initial inputs in a folder
#    <name>-flags        fuzz targets: arguments
#    <name>-objects, <name>-link  plugins: objects and command to link them
ARCHIVES :=
FUZZERS :=
GENERATED :=
PLUGINS :=

include $(wildcard */module.mk)

PROGRAMS := $(foreach a,$(ARCHIVES),$($(a)-programs))
UNIT_TESTS := $(foreach a,$(ARCHIVES),$($(a)-tests))
BENCHES := $(foreach a,$(ARCHIVES),$($(a)-benches))
TEST_HELPERS := $(foreach a,$(ARCHIVES),$($(a)-helpers))
$(foreach a,$(ARCHIVES),$(foreach n,$($(a)-programs) $($(a)-tests) $($(a)-benches) $($(a)-helpers),\
	$(eval $(n)-archives ?= $(a))))

# Archives and their dependencies: each once, before its dependencies.
last_of_each = $(if $(1),$(if $(filter $(firstword $(1)),$(wordlist 2,$(words $(1)),$(1))),,$(firstword \
	$(1))) $(call last_of_each,$(wordlist 2,$(words $(1)),$(1))))
with_needs = $(call last_of_each,$(foreach a,$(1),$(a) $(call with_needs,$($(a)-needs))))
archive_names = $(call with_needs,$($(1)-archives))
archives = $(patsubst %,$(LIB)/lib%.a,$(archive_names))

NAMED_SOURCES := $(wildcard daemon/*.c instrument/*.c tools/*.c tests/unit/*/*.c tests/fuzz/*.c \
	tests/fixtures/*.c tests/qemu/*.c tests/hostile/*.c tests/eval/*/*.c)
sources = $(or $($(1)-src),$(filter %/$(1).c,$(NAMED_SOURCES))) $($(1)-with) \
	$(foreach a,$(call with_needs,$($(1)-whole)),$($(a)-src))
objects = $(or $($(1)-objects),$(patsubst %.c,$(OBJ)/%.o,$(sources)))

# A program is also linked with the libraries that its archives need.
with_archives = $(call with_needs,$($(1)-archives) $($(1)-whole))
all_pkgs = $(sort $($(1)-pkgs) $(foreach a,$(with_archives),$($(a)-pkgs)))
all_ldlibs = $($(1)-ldlibs) $(foreach a,$(with_archives),$($(a)-ldlibs))
pkg_libs = $(if $(all_pkgs),$(shell $(PKG_CONFIG) --libs $(all_pkgs)))
ALL_SOURCES := $(sort $(foreach n,$(ARCHIVES) $(PROGRAMS) $(UNIT_TESTS) $(BENCHES) \
	$(TEST_HELPERS) $(FUZZERS) $(PLUGINS),$(call sources,$(n))))

.PHONY: all
all: $(PROGRAMS:%=$(BIN)/%) $(PLUGINS:%=$(LIB)/%.so) ## build all programs (build/bin)

.PHONY: tests
tests: $(UNIT_TESTS:%=$(TEST_BIN)/%) $(TEST_HELPERS:%=$(TEST_BIN)/%)
ifeq ($(VARIANT),release)
tests: $(BENCHES:%=$(TEST_BIN)/%)
endif

# "make check" runs every unit test under the sanitizers. These tests it also runs as they are
# released, because sanitizers or the level of optimization change their subject: kernel code,
# code that is rewritten, generated or executed step by step, and limits of memory. "make check-unit"
# runs all tests both ways.
RELEASED_TESTS := $(filter $(core-tests) $(instrument-tests) unit_branch_probes unit_control \
	unit_image_table unit_insn_x86_effect unit_perf_branch unit_policy unit_profile_memory \
	unit_sandbox unit_trace unit_unwind_walk,$(UNIT_TESTS))

.PHONY: check-programs
check-programs: all $(patsubst %,$(TEST_BIN)/%,$(RELEASED_TESTS) $(TEST_HELPERS) $(BENCHES))

$(OBJ)/%.o: %.c | $(SYSROOT_READY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(ARCHIVES:%=$(LIB)/lib%.a): $(LIB)/lib%.a: $$(call objects,$$*)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

link = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(call objects,$*) $(call archives,$*) \
	$(call pkg_libs,$*) $(call all_ldlibs,$*)

$(PROGRAMS:%=$(BIN)/%): $(BIN)/%: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link)

$(patsubst %,$(TEST_BIN)/%,$(BENCHES) $(TEST_HELPERS)): $(TEST_BIN)/%: \
		$$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link)

$(UNIT_TESTS:%=$(TEST_BIN)/%): $(TEST_BIN)/%: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(link) $(shell $(PKG_CONFIG) --libs cmocka)

$(PLUGINS:%=$(LIB)/%.so): $(LIB)/%.so: $$(call objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(or $($*-link),$(link) -shared)

# Fuzz targets are compiled by clang. All code that they call is instrumented, except code in
# archives.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_OBJ := build/fuzz/obj
FUZZ_SANITIZE := address,undefined -fno-sanitize-recover=all
fuzz_objects = $(patsubst %.c,$(FUZZ_OBJ)/%.o,$(sources))

$(FUZZ_OBJ)/%.o: %.c
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -std=gnu17 $(WARNINGS) -O1 -g -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) \
		$(CPPFLAGS) -MMD -MP -c -o $@ $<

$(FUZZERS:%=build/fuzz/%): build/fuzz/%: $$(call fuzz_objects,$$*) $$(call archives,$$*)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_SANITIZE) -o $@ $^ $(call pkg_libs,$*) \
		$(call all_ldlibs,$*)

.PHONY: fuzz $(FUZZERS:%=run-%)
$(FUZZERS:%=run-%): run-%: build/fuzz/%
	$(Q)mkdir -p $<.corpus $<.seeds
	$(Q)$(if $($*-seeds),$($*-seeds) $<.seeds)
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$<- -print_final_stats=1 \
		$($*-flags) $<.corpus $<.seeds
fuzz: $(FUZZERS:%=run-%) ## run every fuzz target for FUZZ_SECONDS (60); run-NAME: one

-include $(ALL_SOURCES:%.c=$(OBJ)/%.d) $(wildcard $(ALL_SOURCES:%.c=$(FUZZ_OBJ)/%.d))

# --- programs and targets around them -------------------------------------

# Install the packages that a goal needs, without making the goal.
.PHONY: deps-%
deps-%:
	@packaging/deps.sh $*

.PHONY: demo
demo: ## profile this whole machine for 15 s and show where the cycles went
	+@$(build_make) all
	@packaging/demo.sh

.PHONY: demo-vm
demo-vm: ## the same with the kernel module, in a QEMU machine
	+@$(build_make) all
	@packaging/demo_vm.sh

# Build with all processors, unless -j is given.
build_make = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# Test programs by label, for tests/run.sh.
UNIT_RUNS = $(foreach t,$(UNIT_TESTS),$(t)=build/tests/$(t))
# This test steps through itself: code of sanitizers would be in its stacks.
ASAN_RUNS = $(foreach t,$(filter-out unit_unwind_walk,$(UNIT_TESTS)),asan/$(t)=build/asan/tests/$(t))
CLI_RUNS = $(foreach t,$(wildcard tests/cli/cli_*.sh),$(basename $(notdir $(t)))=$(t))
# Tests with files, processes and requests of hostile users.
HOSTILE_RUNS = $(foreach t,$(wildcard tests/hostile/*.sh),hostile/$(basename $(notdir $(t)))=$(t))
# Each of these scripts has a line "# run: alone" or "# run: parallel". A program that runs alone changes
# settings of the machine or compares shares of its time, so no other program of that kind runs at
# the same time. The others can run at the same time as each other and as it.
PARALLEL_FILES := $(shell grep -l '^\# run: parallel$$' tests/cli/*.sh tests/hostile/*.sh)
PARALLEL_RUNS = $(filter $(addprefix %=,$(PARALLEL_FILES)),$(CLI_RUNS) $(HOSTILE_RUNS))
ALONE_RUNS = $(filter-out $(PARALLEL_RUNS),$(CLI_RUNS) $(HOSTILE_RUNS))

.PHONY: check
check: ## everything that must pass, the QEMU machine included; long loops are sampled (ALL=1: complete)
	+@$(build_make) check-programs man
	+@$(build_make) VARIANT=asan tests
	@PARALLEL_QUEUES=1 tests/run.sh --queue x86_64 qemu_x86_64=tests/qemu/check_x86_64.sh \
		--queue arm64 qemu_arm64=tests/qemu/check_arm64.sh \
		--queue arm64 qemu_exact=tests/qemu/check_exact.sh \
		$(PARALLEL_RUNS:%=--parallel %) --parallel includes=tests/check_includes.sh \
		--parallel commands=tests/check_commands.py $(ASAN_RUNS:%=--parallel %) \
		$(foreach t,$(RELEASED_TESTS),--parallel $(t)=build/tests/$(t)) $(ALONE_RUNS)

.PHONY: check-all
check-all: ## make check and make check-unit with every case: nothing is sampled (hours)
	+@$(MAKE) --no-print-directory check-unit
	+@ALL=1 $(MAKE) --no-print-directory check

.PHONY: check-hostile
check-hostile: all $(TEST_HELPERS:%=$(TEST_BIN)/%) ## attacks of other users, all of them
	@ALL=1 HOSTILE_SECONDS=30 FEEDS="perf bpf" tests/run.sh $(HOSTILE_RUNS)

.PHONY: check-fresh
check-fresh: ## README's commands on new, minimal Debian 12 systems (root)
	@tests/check_fresh.sh

.PHONY: check-unit
check-unit: ## unit tests alone, plain and under ASan and UBSan
	+@$(build_make) tests
	+@$(build_make) VARIANT=asan tests
	@tests/run.sh $(addprefix --parallel ,$(UNIT_RUNS) $(ASAN_RUNS))

.PHONY: check-cli
check-cli: all $(TEST_HELPERS:%=$(TEST_BIN)/%) ## tests of the programs alone
	@tests/run.sh $(addprefix --parallel ,$(filter $(PARALLEL_RUNS),$(CLI_RUNS))) \
		$(filter $(ALONE_RUNS),$(CLI_RUNS))

.PHONY: check-busy
check-busy: all ## make check, 3 times, with 4 busy loops and another dcpid (root)
	@tests/busy.sh $(MAKE) check

.PHONY: check-node
check-node: ## code that Node.js compiles, in its image and by name
	+@$(build_make) all
	@tests/run.sh node=tests/long/node.sh

.PHONY: check-consumers
check-consumers: ## exports, read by pprof, BOLT and AutoFDO
	@$(MAKE) --no-print-directory all $(TEST_BIN)/make_golden_db
	@tests/run.sh consumers=tests/long/consumers.sh

.PHONY: check-fleet check-fleet-long
check-fleet: all ## three hosts and a ClickHouse cluster of four servers, while 10 things fail (root)
	@tests/run.sh fleet=tests/long/fleet.sh
check-fleet-long: all ## the same with 100 failures
	@FAILURES=100 tests/run.sh fleet=tests/long/fleet.sh

.PHONY: check-tsan
check-tsan: ## unit tests under ThreadSanitizer
	+@$(build_make) VARIANT=tsan tests
	@tests/run.sh $(foreach t,$(UNIT_TESTS),tsan/$(t)=build/tsan/tests/$(t))

.PHONY: bench
bench: ## timings, also to build/bench.json
	+@$(build_make) all tests count-plugin
	+@tests/eval/bench/bench.py build/bench.json $(BENCHES:%=$(TEST_BIN)/%) $(wildcard tests/eval/*/bench_*.sh) \
		'$(MAKE) --no-print-directory -s bench-cost'
	@cat build/bench.json

.PHONY: bench-optimize
bench-optimize: ## gains of BOLT and clang by our profiles, also to build/bench.json (sources from Debian)
	+@$(build_make) all count-plugin
	@tests/eval/bench/bench.py build/optimize.json tests/eval/optimize/optimize.sh
	@touch build/bench.json
	@grep -v '"name": "optimizer_' build/bench.json > build/bench.json.new || true
	@cat build/optimize.json >> build/bench.json.new && mv build/bench.json.new build/bench.json
	@cat build/optimize.json

.PHONY: optimize-doc
optimize-doc: bench-optimize ## docs/results/optimize.md from a run of make bench-optimize
	@docs/gen/optimize_md.py build/optimize.json > docs/results/optimize.md

.PHONY: soak
soak: all ## dcpid for SOAK_SECONDS (3600) under mixed load: flat, exact (root)
	@tests/long/soak.sh

.PHONY: performance-doc
performance-doc: bench ## docs/results/performance.md and its picture from a run of make bench
	@docs/gen/performance_md.sh

.PHONY: overhead-doc
overhead-doc: ## docs/results/overhead.md: the measured cost of recording
	+@$(build_make) all count-plugin
	@tests/eval/bench/bench.py build/overhead.json 'ROUNDS=0 SCALE=1 tests/eval/overhead/bench_modes.sh' \
		'COUNTING=off SCALE=20 FIGURES="paths context calls bursts" tests/eval/overhead/bench_modes.sh' \
		'COUNTING=off SCALE=40 FIGURES=variation tests/eval/overhead/bench_modes.sh | sed "/^{.name.: .again_/d"'
	@docs/gen/overhead_md.sh

.PHONY: tutorial-doc
tutorial-doc: all ## docs/tutorial.md and docs/optimize.md with what their commands print now
	@docs/gen/tutorial.py docs/tutorial.md
	@docs/gen/tutorial.py docs/optimize.md

.PHONY: lint
lint: ## clang-tidy, cppcheck, shellcheck, mandoc, prose
	@$(MAKE) --no-print-directory compile_commands.json $(GENERATED) man
	@tests/lint.sh $(filter-out tests/fuzz/%,$(ALL_SOURCES))

.PHONY: format
format: ## apply .clang-format
	clang-format -i $(shell git ls-files '*.c' '*.h')

compile_commands.json: CPPFLAGS += -I$(OBJ)/gen
compile_commands.json: $(ALL_SOURCES) Makefile $(wildcard */module.mk)
	$(call say,GEN,$@)
	$(Q){ echo '['; sep=; for f in $(ALL_SOURCES); do \
		printf '%s{"directory": "%s", "file": "%s", "command": "%s"}\n' "$$sep" '$(CURDIR)' \
			"$$f" "$(CC) $(ALL_CFLAGS) $(subst ",\\\",$(CPPFLAGS)) -c $$f"; sep=,; \
	done; echo ']'; } > $@

.PHONY: clean
clean: ## remove built files (downloads stay)
	rm -rf build/bin build/obj build/lib build/tests build/asan build/clang build/tsan build/fuzz \
		build/arm64 build/kmod build/man build/qemu build/test-logs

.PHONY: distclean
distclean: ## remove build/ altogether, downloads too
	rm -rf build compile_commands.json

.PHONY: version
version:
	@echo $(VERSION)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)
