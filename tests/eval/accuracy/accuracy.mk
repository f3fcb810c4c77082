# SPDX-License-Identifier: GPL-2.0-only
# Accuracy of the analysis: estimates compared with ground truth, for the programs of
# tests/eval/truth/programs/. Each arm is a program that prints JSON lines.
#
#   make truth              simulate all programs on all in-order machines
#   make accuracy           build/accuracy.json (QUICK=1: few programs, one seed)
#   make accuracy-doc       docs/results/accuracy.md from it
ALPHA_CC ?= alpha-linux-gnu-gcc-12
ARM64_CC ?= aarch64-linux-gnu-gcc
TRUTH_CFLAGS := -O2 -g -std=gnu17 -Wall -Wextra -ffp-contract=off -Wl,--build-id -I.

truth_programs := $(shell awk '/^[a-z]/ { print $$1 }' tests/eval/accuracy/manifest)
truth_quick := $(shell awk '/^[a-z]/ && $$3 == "quick" { print $$1 }' tests/eval/accuracy/manifest)
truth_arms := $(shell awk '/^[a-z]/ { print $$1 }' tests/eval/accuracy/arms)
truth_suffix = $(shell awk '$$1 == "$(1)" { print $$3 }' tests/eval/accuracy/arms)

# The simulated programs are analysed afterwards, so make must not remove them as intermediate
# files.
.PRECIOUS: build/truth/bin/%.alpha build/truth/bin/%.arm64

# As usual for programs of that time: floating-point operations do not trap. One program divides by
# zero on purpose.
alpha_traps := -mfp-trap-mode=n -mtrap-precision=p
build/truth/bin/divide.alpha: alpha_traps := -mieee

build/truth/bin/%.alpha: tests/eval/truth/programs/%.c tests/eval/truth/programs/program.h
	$(call say,ALPHACC,$@)
	@mkdir -p $(@D)
	$(Q)$(ALPHA_CC) $(TRUTH_CFLAGS) -mcpu=ev5 $(alpha_traps) -no-pie -o $@ $<

build/truth/bin/%.arm64: tests/eval/truth/programs/%.c tests/eval/truth/programs/program.h
	$(call say,ARM64CC,$@)
	@mkdir -p $(@D)
	$(Q)$(ARM64_CC) $(TRUTH_CFLAGS) -static -o $@ $<

# Programs of Debian's, and their inputs
TRUTH_SYSROOT := build/cache/truth-arm64
TRUTH_PACKAGES := libc6 gzip bzip2 xz-utils mawk lua5.4 sqlite3 busybox-static grep sed gawk perl-base \
	python3.11-minimal m4 bc tcl8.6 jq zstd
truth_debian := $(shell awk '/^[a-z]/ { print $$1 }' tests/eval/accuracy/debian)
truth_debian_arms := $(shell awk '/^[a-z]/ && $$3 == "arm64" { print $$1 }' tests/eval/accuracy/arms)

$(TRUTH_SYSROOT)/.complete: tests/eval/accuracy/accuracy.mk
	$(call say,SYSROOT,$(@D))
	$(Q)tests/qemu/sysroot.sh arm64 $(@D) $(TRUTH_PACKAGES) >/dev/null
	@touch $@

build/truth/input.txt: tests/eval/accuracy/make_input.awk
	@mkdir -p $(@D)
	$(Q)awk -f $< > $@

$(foreach a,$(truth_debian_arms),$(truth_debian:%=build/truth/$(a)/%.sim)): $(SIM_PLUGIN) \
		$(TRUTH_SYSROOT)/.complete build/truth/input.txt tests/eval/accuracy/simulate.sh \
		tests/eval/accuracy/arms tests/eval/accuracy/debian
	$(call say,SIM,$@)
	$(Q)tests/eval/accuracy/simulate.sh $(notdir $(@D)) $(basename $(@F))

define truth_arm
build/truth/$(1)/%.sim: build/truth/bin/%.$(call truth_suffix,$(1)) $(SIM_PLUGIN) \
		tests/eval/accuracy/simulate.sh tests/eval/accuracy/arms
	$$(call say,SIM,$$@)
	$$(Q)tests/eval/accuracy/simulate.sh $(1) $$*
endef
$(foreach arm,$(truth_arms),$(eval $(call truth_arm,$(arm))))

.PHONY: truth $(truth_arms:%=truth-%)
truth: $(truth_arms:%=truth-%) ## simulate the programs of the accuracy table
$(foreach arm,$(truth_arms),$(eval truth-$(arm): \
	$(patsubst %,build/truth/$(arm)/%.sim,$(if $(QUICK),$(truth_quick),$(truth_programs) \
		$(if $(filter $(arm),$(truth_debian_arms)),$(truth_debian))))))

# Arms: accuracy-<name> prints JSON lines; an arm that needs a target built first names it in
# accuracy-<name>-needs. Each may write build/accuracy/<name>.programs.json, too.
ACCURACY_ARMS += alpha21164 cortex-a53
accuracy-alpha21164 := tests/eval/accuracy/in_order.py alpha21164
accuracy-alpha21164-needs := truth-alpha21164
accuracy-cortex-a53 := tests/eval/accuracy/in_order.py cortex-a53
accuracy-cortex-a53-needs := truth-cortex-a53

# The other arms are measured only with the largest number of samples.
accuracy_others := alpha21164-perturbed cortex-a53-perturbed alpha21164-skid1 cortex-a53-skid1 \
	alpha21164-events cortex-a53-events alpha21164-edges cortex-a53-edges
accuracy_one := --budgets 1000000 --seeds 1 --estimators dcpi,paper
ACCURACY_ARMS += $(if $(QUICK),,$(accuracy_others))
accuracy-alpha21164-perturbed := tests/eval/accuracy/in_order.py alpha21164-perturbed $(accuracy_one)
accuracy-alpha21164-perturbed-needs := truth-alpha21164-perturbed
accuracy-cortex-a53-perturbed := tests/eval/accuracy/in_order.py cortex-a53-perturbed $(accuracy_one)
accuracy-cortex-a53-perturbed-needs := truth-cortex-a53-perturbed
define accuracy_variants
accuracy-$(1)-skid1 := tests/eval/accuracy/in_order.py $(1) late $(accuracy_one)
accuracy-$(1)-events := tests/eval/accuracy/in_order.py $(1) events $(accuracy_one)
accuracy-$(1)-edges := tests/eval/accuracy/in_order.py $(1) edges $(accuracy_one)
accuracy-$(1)-skid1-needs := truth-$(1)
accuracy-$(1)-events-needs := truth-$(1)
accuracy-$(1)-edges-needs := truth-$(1)
endef
$(foreach m,alpha21164 cortex-a53,$(eval $(call accuracy_variants,$(m))))

# The out-of-order arm: this machine, sampled by cpu-clock; needs root or perf_event_paranoid <= 2.
ACCURACY_ARMS += $(if $(filter x86_64,$(shell uname -m)),x86-64)
accuracy-x86-64 := tests/eval/accuracy/x86.py
accuracy-x86-64-needs := x86-samples $(TEST_BIN)/profi

# Loops whose execution counts are known by construction, on this machine.
ACCURACY_ARMS += known-loops
accuracy-known-loops := tests/eval/accuracy/known_loops.py
accuracy-known-loops-needs := $(TEST_BIN)/known_loops $(BIN)/dcpirun $(BIN)/dcpictl

# Kernels with known executions, in several builds and places; printed counts, without any scale.
ACCURACY_ARMS += kernels
accuracy-kernels := tests/eval/kernels/kernels.py
accuracy-kernels-needs := $(BIN)/dcpirun

# Causes of stalls of the same kernels.
ACCURACY_ARMS += causes
accuracy-causes := tests/eval/kernels/causes.py
accuracy-causes-needs := $(BIN)/dcpirun

# Work inserted into blocks of real programs. It needs their sources, so that make accuracy leaves it out.
accuracy-slowdown := tests/eval/slowdown/slowdown.py
accuracy-slowdown-needs := build/truth/input.txt $(BIN)/dcpirun $(BIN)/dcpiprof

.PHONY: slowdown
slowdown: accuracy-arm-slowdown ## time and cause of work inserted into real programs: build/accuracy/slowdown.json
	@tests/eval/accuracy/table.py build/accuracy/slowdown.json

# Cycles that dcpix measures, compared with sampled time of the unmodified program.
ACCURACY_ARMS += $(if $(filter x86_64,$(shell uname -m)),perturbation)
accuracy-perturbation := tests/eval/accuracy/perturbation.py
accuracy-perturbation-needs := $(addprefix $(BIN)/,dcpirun dcpix dcpipaths dcpicct dcpicalls \
	dcpiexport dcpiprof)

$(TEST_BIN)/known_loops: tests/eval/accuracy/known_loops.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O2 -g -Wall -Wextra -o $@ $<

$(TEST_BIN)/profi: tests/eval/accuracy/profi.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)g++ -std=c++17 -O2 -Wall -I/usr/lib/llvm-14/include -D__STDC_LIMIT_MACROS \
		-D__STDC_CONSTANT_MACROS -o $@ $< -L/usr/lib/llvm-14/lib -lLLVM-14

.PHONY: x86-samples
x86-samples: $(COUNT_PLUGIN) $(BIN)/dcpirun $(BIN)/dcpiprof ## sample and count the programs of the x86-64 arm
	$(Q)tests/eval/accuracy/x86_collect.sh $$(tests/eval/accuracy/x86.py --list $(if $(QUICK),--quick))

# The measured commit; "-dirty" if files differed from it.
accuracy_commit = $(or $(shell git describe --always --dirty --exclude '*' 2>/dev/null),-)

accuracy-arm-%: $$(accuracy-$$*-needs) $(BIN)/dcpicalc $(TEST_BIN)/make_profile_db
	$(call say,ACCURACY,$*)
	@mkdir -p build/accuracy
	$(Q)$(accuracy-$*) $(if $(QUICK),--quick --seeds 1) \
		--details build/accuracy/$*.programs.json > build/accuracy/$*.json.new
	@sed 's/^{/{"commit": "$(accuracy_commit)", /' build/accuracy/$*.json.new \
		> build/accuracy/$*.json
	@rm build/accuracy/$*.json.new

.PHONY: accuracy
accuracy: ## estimates against the truth: a table, and build/accuracy.json
	@$(MAKE) --no-print-directory $(ACCURACY_ARMS:%=accuracy-arm-%)
	@cat $(ACCURACY_ARMS:%=build/accuracy/%.json) \
		$(wildcard build/accuracy/stacks.json build/accuracy/slowdown.json) \
		> build/accuracy.json
	@tests/eval/accuracy/table.py build/accuracy.json

.PHONY: accuracy-stacks
accuracy-stacks: all ## complete call stacks of Debian's programs: build/accuracy/stacks.json
	@mkdir -p build/accuracy
	@tests/eval/accuracy/stacks.sh > build/accuracy/stacks.json.new
	@sed 's/^{/{"commit": "$(accuracy_commit)", /' build/accuracy/stacks.json.new \
		> build/accuracy/stacks.json
	@rm build/accuracy/stacks.json.new
	@cat build/accuracy/stacks.json

.PHONY: accuracy-doc
accuracy-doc: ## docs/results/accuracy.md from what make accuracy left; rows of other arms stay
	@docs/gen/accuracy_md.py build/accuracy.json build/accuracy docs/results/accuracy.md \
		> docs/results/accuracy.md.new
	@mv docs/results/accuracy.md.new docs/results/accuracy.md
