# SPDX-License-Identifier: GPL-2.0-only
#
# Measure which code cannot be sampled, and where its samples go instead: on this host, whose PMU
# must interrupt as an NMI, and on Debian's arm64 kernel, where the PMU interrupts like any device.
# "make blind-spots-nmi" does the same on an arm64 kernel that is built for it.

BLIND_TIMEOUT ?= 3600
BLIND_LOG := build/arm64/qemu/blind
BLIND_KDIR := $(abspath build/debug-kernel/nmi)
BLIND_KERNEL := --release nmi --kernel $(BLIND_KDIR)/arch/arm64/boot/Image
BLIND_MAKE = $(MAKE) --no-print-directory CROSS=arm64 BLIND_TIMEOUT=$(BLIND_TIMEOUT)

.PHONY: blind-spots
blind-spots: all ## code that cannot be sampled, and its share (build/blind-spots.md)
	$(Q)$(BLIND_MAKE) BLIND_RUN=debian blind-run
	$(Q)tests/eval/blind/blind_spots_host.sh >$(BLIND_LOG)-host.log
	$(Q)docs/gen/blind_spots_md.sh $(BLIND_LOG)-host.log $(BLIND_LOG)-debian.log >build/blind-spots.md
	@echo build/blind-spots.md

# The same kernel with ordinary interrupts (irq) and with pseudo-NMIs (nmi).
.PHONY: blind-spots-nmi
blind-spots-nmi: ## the same on an arm64 kernel with pseudo-NMIs; builds it
	@tests/qemu/debug_kernel.sh nmi >/dev/null
	$(Q)$(BLIND_MAKE) KDIR=$(BLIND_KDIR) KMOD_MAKE='ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-' \
		QEMU_PAYLOAD=build/arm64/qemu/payload-nmi blind-nmi

.PHONY: blind-nmi
blind-nmi:
	$(Q)$(BLIND_MAKE) BLIND_RUN=irq BLIND_OPTIONS="$(BLIND_KERNEL)" blind-run
	$(Q)$(BLIND_MAKE) BLIND_RUN=nmi blind-run \
		BLIND_OPTIONS="$(BLIND_KERNEL) --append irqchip.gicv3_pseudo_nmi=1"

BLIND_OUT = build/kmod/blind-$(KMOD_RELEASE)
BLIND_RUN ?= debian
BLIND_OPTIONS ?= --release $(QEMU_RELEASE)

.PHONY: blind-payload
blind-payload: qemu-payload
	@mkdir -p $(BLIND_OUT)
	@cp -rsfT $(abspath tests/eval/blind) $(abspath $(BLIND_OUT))
	$(Q)$(MAKE) --no-print-directory -s -C $(KDIR) M=$(abspath $(BLIND_OUT)) $(KMOD_MAKE) modules
	@cp $(BLIND_OUT)/blind.ko $(QEMU_PAYLOAD)/lib/

.PHONY: blind-run
blind-run: blind-payload
	$(Q)tests/qemu/run.sh --arch arm64 $(BLIND_OPTIONS) --payload $(QEMU_PAYLOAD) --cpus 1 \
		--icount 0 --timeout $(BLIND_TIMEOUT) --log $(BLIND_LOG)-$(BLIND_RUN).log \
		--script tests/qemu/blind_spots.sh
