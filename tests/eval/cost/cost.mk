# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the cost of a sample, in instructions, on the arm64 machine that counts them; see
# cost_guest.sh and cost.awk. With CROSS=arm64 only.

COST_WORKLOADS ?= loop compress database server compiler shell memory kernel
COST_SYSROOT := build/cache/tools-$(CROSS)
COST_PACKAGES := $(SYSROOT_PACKAGES) linux-perf cpp-12 gzip
COST_READY := $(COST_SYSROOT)/.complete
COST_PAYLOAD := $(OUT)/qemu/cost
COST_PROGRAMS := meter walk wide
meter_common := $(qemu_common) lib/u64_map.c
COST_OUT = build/kmod/floor-$(KMOD_RELEASE)
# Programs to compile, as in the paper's gcc row: each in a separate process.
COST_SOURCES := lib/options.c kmod/core/sample_store.c daemon/image/image_map.c daemon/collect/accumulate.c \
	db/profile_blob.c db/profile_pairs.c tools/base/columns.c

$(COST_READY): tests/eval/cost/cost.mk $(SYSROOT_READY)
	$(call say,SYSROOT,$(COST_SYSROOT))
	$(Q)tests/qemu/sysroot.sh $(CROSS) $(COST_SYSROOT) $(COST_PACKAGES) >/dev/null
	@touch $@

$(COST_PROGRAMS:%=$(COST_PAYLOAD)/bin/%): $(COST_PAYLOAD)/bin/%: tests/eval/cost/%.c $(meter_common) \
		| $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) -O2 $(CPPFLAGS) -static -o $@ \
		$(filter tests/eval/cost/%.c,$^) $(if $(filter meter,$*),$(meter_common)) -lm

.PHONY: cost-payload
cost-payload: qemu-payload $(COST_READY) $(COST_PROGRAMS:%=$(COST_PAYLOAD)/bin/%)
	@mkdir -p $(COST_PAYLOAD)/lib $(COST_OUT)
	@cp -rsfT $(abspath tests/eval/cost/floor) $(abspath $(COST_OUT))
	$(Q)$(MAKE) --no-print-directory -s -C $(KDIR) M=$(abspath $(COST_OUT)) $(KMOD_MAKE) modules
	@cp $(COST_OUT)/floor.ko $(QEMU_PAYLOAD)/lib/dcpi.ko $(QEMU_PAYLOAD)/lib/dcpi_sqlite.so \
		tests/eval/cost/queries.sql $(COST_PAYLOAD)/lib/
	@cp $(addprefix $(QEMU_PAYLOAD)/bin/,dcpid dcpictl dcpiprof split sqlite3) \
		$(addprefix $(COST_SYSROOT)/,usr/bin/perf bin/gzip usr/lib/gcc/$(CROSS_TRIPLE)/12/cc1) \
		$(COST_PAYLOAD)/bin/
	@head -c 3000000 $(COST_SYSROOT)/usr/bin/perf >$(COST_PAYLOAD)/lib/input
	$(Q)n=0; for source in $(COST_SOURCES); do \
		$(CC) -E -O1 -I. -D_GNU_SOURCE $$source -o $(COST_PAYLOAD)/lib/source$$n.i; n=$$((n + 1)); \
	done

.PHONY: cost-run
cost-run: cost-payload
	@QEMU_SYSROOT=$(abspath $(COST_SYSROOT)) tests/eval/cost/cost.sh $(QEMU_RELEASE) $(COST_PAYLOAD) \
		$(OUT)/qemu/cost-logs $(COST_WORKLOADS) wide

# A table of the instructions that the perf core and the kernel's interrupt path execute.
.PHONY: floor-parts-run
floor-parts-run: cost-payload $(KERNEL_PLUGIN)
	@QEMU_SYSROOT=$(abspath $(COST_SYSROOT)) tests/eval/cost/floor_parts.sh $(QEMU_RELEASE) \
		$(COST_PAYLOAD) $(KERNEL_PLUGIN)
