# SPDX-License-Identifier: GPL-2.0-only
#
# Tests in a virtual machine; see run.sh. To add a test: a script to
# QEMU_SCRIPTS; programs that it runs, to QEMU_PROGRAMS (<name>-src), built
# static, and found in the machine's PATH.
#
#   QEMU_RELEASE   kernel, default that of KDIR

QEMU_RELEASE ?= $(KMOD_RELEASE)
QEMU_ARCH ?= x86_64
QEMU_TIMEOUT ?= 900

qemu_common := tests/qemu/tap.c tests/qemu/device.c tests/qemu/load.c \
	daemon/source_chunk.c
kmod_tests := kmod_exercise kmod_events kmod_mmap kmod_edges kmod_abuse kmod_lifetime kmod_readers \
	kmod_hotplug kmod_reload kmod_fuzz
QEMU_PROGRAMS := $(kmod_tests) still
still-src := tests/qemu/still.c
$(foreach t,$(kmod_tests),$(eval $(t)-src := tests/qemu/$(t).c))
QEMU_SCRIPTS := tests/qemu/end_to_end.sh tests/qemu/store_selftest.sh $(kmod_tests:%=tests/qemu/%.sh)

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

# The programs as users have them, and what end_to_end.sh runs beside them.
$(QEMU_PAYLOAD)/bin/split: tests/programs/split.c | $(SYSROOT_READY)
	$(call say,GUEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -o $@ $<

.PHONY: qemu-payload
qemu-payload: all kmod kmod-selftest $(qemu_programs) $(QEMU_PAYLOAD)/bin/split
	@mkdir -p $(QEMU_PAYLOAD)/lib
	@cp $(KMOD_OUT)/dcpi.ko $(SELFTEST_OUT)/dcpi_selftest.ko $(LIB)/dcpi_sqlite.so $(QEMU_PAYLOAD)/lib/
	@cp $(PROGRAMS:%=$(BIN)/%) $(or $(SYSROOT:%=%/usr/bin/sqlite3),$$(command -v sqlite3)) $(QEMU_PAYLOAD)/bin/

.PHONY: qemu-release
qemu-release:
	@echo $(QEMU_RELEASE)

.PHONY: qemu-check
qemu-check: qemu-payload ## test the module in a virtual machine
	$(Q)tests/qemu/run.sh --arch $(QEMU_ARCH) --release $(QEMU_RELEASE) \
		--payload $(QEMU_PAYLOAD) --timeout $(QEMU_TIMEOUT) \
		--log $(OUT)/qemu/console.log $(QEMU_SCRIPTS:%=--script %)

.PHONY: qemu-check-arm64
qemu-check-arm64: ## the same, and the PMU, in an arm64 machine
	$(Q)$(MAKE) --no-print-directory CROSS=arm64 qemu-check

include tests/qemu/debug.mk

.PHONY: check-kernels
check-kernels: deps-kernels ## the module on Debian 6.1 and 6.12, x86-64 and arm64
	@tests/run.sh kernels=tests/qemu/check_kernels.sh
