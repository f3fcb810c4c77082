# SPDX-License-Identifier: GPL-2.0-only
# How good the analysis is: estimates against the truth, on programs of
# tests/truth/programs/. Each arm is a program that prints JSON lines.
#
#   make truth              simulate all programs on all in-order machines
#   make accuracy           build/accuracy.json (QUICK=1: few programs, one seed)
#   make accuracy-doc       docs/accuracy.md from it
ALPHA_CC ?= alpha-linux-gnu-gcc-12
ARM64_CC ?= aarch64-linux-gnu-gcc
TRUTH_CFLAGS := -O2 -g -std=gnu17 -Wall -Wextra -ffp-contract=off -Wl,--build-id -I.

truth_programs := $(shell awk '/^[a-z]/ { print $$1 }' tests/accuracy/manifest)
truth_quick := $(shell awk '/^[a-z]/ && $$3 == "quick" { print $$1 }' tests/accuracy/manifest)
truth_arms := $(shell awk '/^[a-z]/ { print $$1 }' tests/accuracy/arms)
truth_suffix = $(shell awk '$$1 == "$(1)" { print $$3 }' tests/accuracy/arms)

build/truth/bin/%.alpha: tests/truth/programs/%.c tests/truth/programs/program.h
	$(call say,ALPHACC,$@)
	@mkdir -p $(@D)
	$(Q)$(ALPHA_CC) $(TRUTH_CFLAGS) -mcpu=ev5 -mfp-trap-mode=n -no-pie -o $@ $<

build/truth/bin/%.arm64: tests/truth/programs/%.c tests/truth/programs/program.h
	$(call say,ARM64CC,$@)
	@mkdir -p $(@D)
	$(Q)$(ARM64_CC) $(TRUTH_CFLAGS) -static -o $@ $<

define truth_arm
build/truth/$(1)/%.sim: build/truth/bin/%.$(call truth_suffix,$(1)) $(SIM_PLUGIN) \
		tests/accuracy/simulate.sh tests/accuracy/arms
	$$(call say,SIM,$$@)
	$$(Q)tests/accuracy/simulate.sh $(1) $$*
endef
$(foreach arm,$(truth_arms),$(eval $(call truth_arm,$(arm))))

.PHONY: truth truth-%
truth: $(truth_arms:%=truth-%) ## simulate the programs of the accuracy table
$(foreach arm,$(truth_arms),$(eval truth-$(arm): \
	$(patsubst %,build/truth/$(arm)/%.sim,$(if $(QUICK),$(truth_quick),$(truth_programs)))))
