# SPDX-License-Identifier: GPL-2.0-only
#
# Tests in a virtual machine; see run.sh. To add a test, add its script to QEMU_SCRIPTS, and the
# programs that it runs to QEMU_PROGRAMS (<name>-src). These programs are linked statically, and are
# found in the machine's PATH.
#
#   QEMU_RELEASE   kernel, default that of KDIR

QEMU_RELEASE ?= $(KMOD_RELEASE)
QEMU_ARCH ?= x86_64
QEMU_TIMEOUT ?= 900

include tests/eval/truth/truth.mk

qemu_common := tests/qemu/tap.c tests/qemu/device.c tests/qemu/load.c \
	daemon/source/source_chunk.c
kmod_tests := kmod_exercise kmod_events kmod_mmap kmod_edges kmod_abuse kmod_lifetime kmod_readers \
	kmod_hotplug kmod_reload kmod_fuzz
QEMU_PROGRAMS := $(kmod_tests) kmod_turns still stop_profiler
still-src := tests/qemu/still.c
stop_profiler-src := tests/fixtures/stop_profiler.c
$(foreach t,$(kmod_tests) kmod_turns,$(eval $(t)-src := tests/qemu/$(t).c))
QEMU_SCRIPTS := tests/qemu/bpf_source.sh tests/qemu/end_to_end.sh tests/qemu/image_events.sh \
	tests/qemu/images.sh tests/qemu/loop_clocks.sh \
	tests/qemu/store_selftest.sh $(kmod_tests:%=tests/qemu/%.sh)
ifeq ($(QEMU_ARCH),arm64)
QEMU_SCRIPTS += tests/qemu/pmu.sh
else
QEMU_SCRIPTS += tests/qemu/edges.sh tests/qemu/kernel_code.sh
endif

QEMU_PAYLOAD := $(OUT)/qemu/payload
qemu_programs = $(QEMU_PROGRAMS:%=$(QEMU_PAYLOAD)/bin/%)

$(qemu_programs): $(QEMU_PAYLOAD)/bin/%: $$($$*-src) $(qemu_common) \
		tests/qemu/tap.h tests/qemu/device.h kmod/uapi/dcpi_uapi.h | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) -O2 -g $(CPPFLAGS) -static -o $@ $(filter %.c,$^) -lm

.PHONY: qemu-image
qemu-image: ## fetch and unpack the kernel for the test machine
	@tests/qemu/image.sh $(QEMU_ARCH) $(QEMU_RELEASE)

# The programs as users have them, and the commands that end_to_end.sh runs together with them.
$(QEMU_PAYLOAD)/bin/split: tests/fixtures/programs/split.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -o $@ $<

$(QEMU_PAYLOAD)/bin/kinds-static: tests/fixtures/programs/kinds.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static -DKINDS_STATIC -o $@ $<

$(QEMU_PAYLOAD)/bin/loop_kernels: tests/fixtures/programs/loop_kernels.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -o $@ $< -lm

# Built with 32-bit addresses.
$(QEMU_PAYLOAD)/bin/moved: tests/fixtures/programs/moved.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static -no-pie -o $@ $<

$(QEMU_PAYLOAD)/bin/bpf_spin: tests/fixtures/programs/bpf_spin.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -static -o $@ $<

# In lib, where initramfs.sh finds their libraries.
.PHONY: qemu-storm
qemu-storm: | $(SYSROOT_READY)
	@$(MAKE) --no-print-directory -f tests/fixtures/programs/storm.mk CC='$(CC)' \
		STORM_DIR=$(QEMU_PAYLOAD)/lib storm

# The programs that the machine gets. Without debug information, which no script reads, its file
# system is unpacked in a quarter of the time.
QEMU_USER_PROGRAMS ?= $(PROGRAMS)

.PHONY: qemu-payload
qemu-payload: qemu-storm $$(addprefix $$(BIN)/,$$(QEMU_USER_PROGRAMS)) \
		$$(addsuffix .so,$$(addprefix $$(LIB)/,$$(PLUGINS))) kmod kmod-selftest $(TEST_BIN)/kernel_addresses $(qemu_programs) $(addprefix $(QEMU_PAYLOAD)/bin/, \
		split kinds-static bpf_spin moved loop_kernels)
	@mkdir -p $(QEMU_PAYLOAD)/lib
	@rm -f $(QEMU_PAYLOAD)/lib/storm.seconds
	@cp $(KMOD_OUT)/dcpi.ko $(SELFTEST_OUT)/dcpi_selftest.ko $(PLUGINS:%=$(LIB)/%.so) $(QEMU_PAYLOAD)/lib/
	@cp $(TEST_BIN)/kernel_addresses $(or $(SYSROOT:%=%/usr/bin/sqlite3),$$(command -v sqlite3)) $(QEMU_PAYLOAD)/bin/
	@for program in $(QEMU_USER_PROGRAMS); do \
		$(CROSS_TRIPLE:%=%-)strip --strip-debug -o $(QEMU_PAYLOAD)/bin/$$program \
			$(BIN)/$$program || exit 1; \
	done

.PHONY: qemu-release
qemu-release:
	@echo $(QEMU_RELEASE)

qemu_run = tests/qemu/run.sh --arch $(QEMU_ARCH) --release $(QEMU_RELEASE) \
	--payload $(QEMU_PAYLOAD) --timeout $(QEMU_TIMEOUT) $(QEMU_SILENCE:%=--silence %)

# PMU interrupts pile up in a machine that the host does not run. So in tests that compare counts,
# the machine's clock counts instructions (8 ns each, QEMU_ICOUNT=3), and a busy host changes
# nothing. The CPUs of such a machine alternate, and QEMU 7.2 may run only one of them. It ends a
# CPU's time slice at a timer, and the other CPU's slice is then empty (fixed in 8.1). A CPU that
# came back online never proceeds there. So the other tests run on CPUs in parallel, as those of
# x86-64 do.
STEADY_SCRIPTS := $(patsubst %,tests/qemu/%.sh,kmod_exercise kmod_mmap kmod_edges loop_clocks pmu)
PARALLEL_SCRIPTS := $(filter-out $(STEADY_SCRIPTS),$(QEMU_SCRIPTS))

# The edges of two programs: one whose branches are all known, and a real one. The build ID of the
# latter is changed, so that its edges are not mixed with those of the machine's busybox.
EDGE_ROUNDS ?= $(if $(SYSROOT),1500,3000)
EDGE_PROGRAMS := branches busybox-truth
edge_files := $(EDGE_PROGRAMS:%=$(QEMU_PAYLOAD)/lib/%.edges)
edge_qemu = $(if $(SYSROOT),qemu-aarch64 -cpu cortex-a53 -L $(SYSROOT),qemu-x86_64 -cpu max)
edge_program = $(QEMU_PAYLOAD)/bin/$*
edge_input := $(QEMU_PAYLOAD)/lib/edges.input

$(QEMU_PAYLOAD)/bin/branches: tests/fixtures/programs/branches.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g --param case-values-threshold=4 -o $@ $<

$(QEMU_PAYLOAD)/bin/busybox-truth: tests/qemu/qemu.mk | $(SYSROOT_READY)
	@mkdir -p $(@D)
	$(Q)$(CROSS_TRIPLE:%=%-)objcopy --remove-section=.note.gnu.build-id \
		$(or $(SYSROOT:%=%/bin/busybox),$$(command -v busybox)) $@

$(edge_input): tests/qemu/qemu.mk
	@mkdir -p $(@D)
	$(Q)awk 'BEGIN { for (x = 1; n < 16000; n++) { x = (x * 16807) % 2147483647; print x, n % 97, "line" } }' >$@

$(QEMU_PAYLOAD)/lib/branches.edges: edge_runs = $(EDGE_ROUNDS)
$(QEMU_PAYLOAD)/lib/busybox-truth.edges: edge_runs = sort gzip
$(edge_files): $(QEMU_PAYLOAD)/lib/%.edges: $(QEMU_PAYLOAD)/bin/% $(COUNT_PLUGIN) $(edge_input) \
		tests/eval/truth/image_edges.sh tests/qemu/qemu.mk
	$(call say,EDGES,$@)
	$(Q)for run in $(edge_runs); do \
		env -i $(edge_qemu) \
			-plugin $(COUNT_PLUGIN),out=/dev/null,edges=$@.$$run $(edge_program) $$run \
			<$(edge_input) >/dev/null || exit 1; \
	done
	$(Q)tests/eval/truth/image_edges.sh $(abspath $(edge_program)) $(edge_runs:%=$@.%) >$@
	@rm $(edge_runs:%=$@.%)
	@echo $(EDGE_ROUNDS) >$(QEMU_PAYLOAD)/lib/branches.rounds

.PHONY: qemu-check
qemu-check: qemu-payload $(if $(filter %/edges.sh,$(QEMU_SCRIPTS)),$(edge_files)) ## test the module in a virtual machine
	$(Q)$(qemu_run) $(QEMU_ICOUNT:%=--icount %) --log $(OUT)/qemu/console.log $(QEMU_SCRIPTS:%=--script %)

.PHONY: steady-check parallel-check
steady-check:
	$(Q)$(MAKE) --no-print-directory QEMU_ICOUNT=3 QEMU_SCRIPTS='$(STEADY_SCRIPTS)' qemu-check
parallel-check:
	$(Q)$(MAKE) --no-print-directory QEMU_SCRIPTS='$(PARALLEL_SCRIPTS)' qemu-check

.PHONY: qemu-check-arm64
qemu-check-arm64: ## the same, and the PMU, in an arm64 machine
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 steady-check
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 parallel-check

# An instruction, a nanosecond and a cycle are the same: results do not depend on the host.
EXACT_SCRIPTS := tests/qemu/kmod_turns.sh tests/qemu/pmu_instructions.sh tests/qemu/placement.sh
PLACEMENT_ROUNDS ?= 2000

placement_program := $(QEMU_PAYLOAD)/bin/placement
placement_counts := $(QEMU_PAYLOAD)/lib/placement.counts

$(placement_program): tests/fixtures/programs/placement.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -o $@ $<

# The execution count of each instruction of the program, and the sum of each procedure.
$(placement_counts): $(placement_program) $(COUNT_PLUGIN) tests/qemu/qemu.mk
	$(call say,COUNT,$@)
	@mkdir -p $(@D)
	$(Q)qemu-aarch64 -L $(SYSROOT) -plugin $(COUNT_PLUGIN),out=$@.all $< $(PLACEMENT_ROUNDS)
	$(Q)tests/eval/truth/image_counts.sh $@.all $(abspath $<) >$@
	$(Q)tests/eval/truth/procedure_counts.sh $@.all $< >$(@:.counts=.procedures)
	@rm $@.all
	@echo $(PLACEMENT_ROUNDS) >$(@:.counts=.rounds)

.PHONY: edges-check
edges-check: qemu-payload $(edge_files)
	$(Q)$(qemu_run) --cpus 1 --icount 0 --log $(OUT)/qemu/edges.log --script tests/qemu/edges.sh

.PHONY: qemu-check-edges
qemu-check-edges: ## sampled edges against exact ones, on the same machine
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 edges-check

.PHONY: exact-check
exact-check: qemu-payload $(placement_counts)
	$(Q)$(qemu_run) --cpus 1 --icount 0 --log $(OUT)/qemu/exact.log $(EXACT_SCRIPTS:%=--script %)

.PHONY: qemu-check-exact
qemu-check-exact: ## exact checks on an arm64 machine that counts instructions
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 exact-check

.PHONY: rate-check
rate-check: qemu-payload
	@echo $(RATE_SECONDS) >$(QEMU_PAYLOAD)/lib/rate.seconds
	$(Q)$(qemu_run) --timeout 7200 --cpus 1 --icount 0 --log $(OUT)/qemu/rate.log --script tests/qemu/rate.sh

RATE_SECONDS ?= 60
.PHONY: check-rate
check-rate: ## 100,000 samples a second for a minute of an arm64 machine's time
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 rate-check

# The file is for this run only: other targets use the payload, too.
.PHONY: storm-check
storm-check: qemu-payload
	@echo $(STORM_SECONDS) >$(QEMU_PAYLOAD)/lib/storm.seconds
	$(Q)$(qemu_run) --timeout 7200 --cpus 1 --icount 0 --log $(OUT)/qemu/storm.log \
		--script tests/qemu/image_events.sh; status=$$?; \
		rm $(QEMU_PAYLOAD)/lib/storm.seconds; exit $$status

STORM_SECONDS ?= 60
.PHONY: check-storm
check-storm: ## 1,000 processes a second for a minute of an arm64 machine's time
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 storm-check

.PHONY: bench-cost
bench-cost: ## the cost of a sample in instructions, without noise
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 -s cost-run

.PHONY: floor-parts
floor-parts: ## instructions of an overflow interrupt before any profiler runs
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 -s floor-parts-run

ifeq ($(CROSS),arm64)
include tests/eval/cost/cost.mk
endif
include tests/qemu/debug.mk
include tests/qemu/blind.mk

.PHONY: check-kernels
check-kernels: ## the module on Debian 6.1 and 6.12, x86-64 and arm64
	@tests/run.sh kernels=tests/qemu/check_kernels.sh

.PHONY: check-systemd
check-systemd: ## the Debian packages in a machine with systemd: install, upgrade, purge
	@tests/run.sh systemd=tests/qemu/check_systemd.sh

# A disk with a write cache, for a machine whose power is cut.
core-helpers += power_cut_disk

.PHONY: check-power-cut
check-power-cut: ## POINTS (50) power failures of a machine while dcpid writes its database
	@$(MAKE) --no-print-directory -s qemu-payload $(TEST_BIN)/power_cut_disk
	@tests/qemu/check_power_cut.sh
