# SPDX-License-Identifier: GPL-2.0-only
# kmod/core built for user space, too: perf source, tests, benchmarks.
ARCHIVES += core
core-src := $(addprefix kmod/core/, access_x86_64.c arm64_data.c arm64_memory.c interpret_arm64.c \
	interpret_memory.c interpret_x86_64.c period.c sample_store.c x86_arithmetic.c x86_data.c \
	x86_effect.c x86_insn.c x86_operand.c x86_string.c)
# As in the kernel: entries are moved through the registers that wrote their halves.
$(OBJ)/kmod/core/sample_store.o: CPPFLAGS += -mgeneral-regs-only

core-tests := unit_interpret_arm64 unit_interpret_cases unit_period unit_sample_store unit_snapshot_ring \
	unit_x86_insn
core-benches := bench_sample_store
# The interpreter tests run only on the architectures that they interpret.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
core-tests += unit_access_x86_64 unit_interpret_program unit_interpret_x86_64
core-benches += bench_interpret
endif
bench_interpret-with := tests/fixtures/x86_program.c tests/fixtures/x86_tracee.c
unit_interpret_arm64-with := tests/fixtures/arm64_stub.c
unit_interpret_program-with := tests/fixtures/x86_program.c tests/fixtures/x86_tracee.c
unit_interpret_x86_64-with := tests/fixtures/x86_tracee.c
unit_period-ldlibs := -lm
unit_sample_store-with := tests/fixtures/store_model.c
unit_snapshot_ring-ldlibs := -lpthread
unit_x86_insn-ldlibs := -lZydis

FUZZERS += fuzz_interpret
fuzz_interpret-with := $(filter-out %/period.c %/sample_store.c,$(core-src))

# The module, built out of tree. kbuild writes its outputs next to the sources, so it gets a folder
# of links to them: build/kmod/<kernel release>/dcpi.ko.
#   KDIR       headers of the kernel to build for
#   KMOD_MAKE  further arguments of kbuild, such as ARCH= and CROSS_COMPILE=
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	$(shell ls -d /lib/modules/*/build 2>/dev/null | sort -Vr))
KMOD_MAKE ?=
KMOD_RELEASE = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null),unknown)
KMOD_OUT = build/kmod/$(KMOD_RELEASE)

kbuild = $(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(KMOD_OUT)) DCPI_VERSION=$(VERSION) \
	KCFLAGS='-Werror -Wmissing-prototypes' $(KMOD_MAKE)

.PHONY: kmod-links
kmod-links: | $(KDIR_READY)
	@test -e '$(KDIR)/Makefile' || { \
		echo "no kernel headers: install linux-headers-amd64 or give KDIR=" >&2; exit 1; }
	@mkdir -p $(KMOD_OUT)
	@cp -rsfT $(abspath kmod) $(abspath $(KMOD_OUT))

.PHONY: kmod
kmod: kmod-links ## build the kernel module (KDIR=...)
	$(Q)$(kbuild) modules

.PHONY: sparse
sparse: kmod-links ## check the kernel module with sparse
	$(Q)$(kbuild) C=2 CF=-Wsparse-error modules

include tests/qemu/qemu.mk
