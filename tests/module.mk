# SPDX-License-Identifier: GPL-2.0-only
include tests/accuracy/accuracy.mk
UNIT_TESTS += unit_util
unit_util-src := tests/unit_util.c
unit_util-archives := util
unit_util-pkgs := libxxhash

UNIT_TESTS += unit_sample_store
unit_sample_store-src := tests/unit_sample_store.c tests/store_model.c
unit_sample_store-archives := core

UNIT_TESTS += unit_period
unit_period-src := tests/unit_period.c
unit_period-archives := core
unit_period-ldlibs := -lm

BENCHES += bench_sample_store
bench_sample_store-src := tests/bench_sample_store.c
bench_sample_store-archives := core

UNIT_TESTS += unit_options
unit_options-src := tests/unit_options.c
unit_options-archives := util

# The store's model test as a kernel module; see tests/selftest/Kbuild.
SELFTEST_OUT = build/kmod/selftest-$(KMOD_RELEASE)

.PHONY: kmod-selftest
kmod-selftest: kmod-links
	@mkdir -p $(SELFTEST_OUT)/tests $(SELFTEST_OUT)/kmod
	@cp -rsfT $(abspath tests/selftest) $(abspath $(SELFTEST_OUT))
	@ln -sf $(abspath tests/store_model.c) $(abspath tests/store_model.h) $(SELFTEST_OUT)/tests
	@cp -rsf $(abspath kmod/core) $(abspath kmod/uapi) $(SELFTEST_OUT)/kmod
	$(Q)$(MAKE) --no-print-directory -s -C $(KDIR) M=$(abspath $(SELFTEST_OUT)) $(KMOD_MAKE) modules
