# SPDX-License-Identifier: GPL-2.0-only
include tests/eval/accuracy/accuracy.mk

# The store's model test as a kernel module; see tests/qemu/selftest/Kbuild.
SELFTEST_OUT = build/kmod/selftest-$(KMOD_RELEASE)

.PHONY: kmod-selftest
kmod-selftest: kmod-links
	@mkdir -p $(SELFTEST_OUT)/tests/fixtures $(SELFTEST_OUT)/kmod
	@cp -rsfT $(abspath tests/qemu/selftest) $(abspath $(SELFTEST_OUT))
	@ln -sf $(abspath tests/fixtures/store_model.c) $(abspath tests/fixtures/store_model.h) $(SELFTEST_OUT)/tests/fixtures
	@cp -rsf $(abspath kmod/core) $(abspath kmod/uapi) $(SELFTEST_OUT)/kmod
	$(Q)$(MAKE) --no-print-directory -s -C $(KDIR) M=$(abspath $(SELFTEST_OUT)) $(KMOD_MAKE) modules
