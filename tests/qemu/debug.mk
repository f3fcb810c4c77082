# SPDX-License-Identifier: GPL-2.0-only
#
# Test the module on kernels with error checkers, built from Debian's source once (debug_kernel.sh,
# build/debug-kernel): with KASAN and the checkers that can be combined with it, or with KCSAN. Not
# in "make check": an emulated kernel with KASAN is slow.

DEBUG_CHECKER ?= kasan
DEBUG_FUZZ_CALLS ?= 1000000
DEBUG_TIMEOUT ?= 7200
DEBUG_TEST_SECONDS ?= 1800
DEBUG_KDIR = $(abspath build/debug-kernel/$(DEBUG_CHECKER))
DEBUG_PAYLOAD = build/qemu/payload-$(DEBUG_CHECKER)
# Each kernel runs only the mistakes that its checkers can detect.
DEBUG_MISTAKES_kasan := heap_overrun vmalloc_overrun use_after_free leak sleep_in_atomic \
	lock_order lock_in_interrupt rcu_without_lock cpu_while_preemptible shift_too_far \
	index_out_of_bounds list_corrupted freed_while_active
DEBUG_MISTAKES_kcsan := data_race
# BPF programs need BTF, which this kernel lacks. It is also too slow for tests of time shares.
DEBUG_SCRIPTS = $(filter-out %/bpf_source.sh %/images.sh,$(QEMU_SCRIPTS)) \
	tests/qemu/kmod_fuzz_shared.sh
DEBUG_SCRIPTS_first_kasan := tests/qemu/kmemleak_begin.sh
DEBUG_SCRIPTS_last_kasan := tests/qemu/kmemleak.sh
MISTAKES_OUT = build/kmod/mistakes-$(DEBUG_CHECKER)

.PHONY: check-debug-kernel
check-debug-kernel: ## the module's tests and 10^6 random calls under KASAN, lockdep, ...
	@tests/qemu/debug_kernel.sh $(DEBUG_CHECKER) >/dev/null
	@$(MAKE) --no-print-directory KDIR=$(DEBUG_KDIR) QEMU_PAYLOAD=$(DEBUG_PAYLOAD) debug-payload
	@DEBUG_CHECKER=$(DEBUG_CHECKER) tests/run.sh \
		debug_$(DEBUG_CHECKER)=tests/qemu/check_debug.sh \
		mistakes_$(DEBUG_CHECKER)=tests/qemu/check_mistakes.sh

.PHONY: check-kcsan
check-kcsan: ## the same under KCSAN: data races
	@$(MAKE) --no-print-directory DEBUG_CHECKER=kcsan check-debug-kernel

.PHONY: debug-payload
debug-payload: qemu-payload $(edge_files)
	@mkdir -p $(DEBUG_PAYLOAD)/etc $(MISTAKES_OUT)
	@echo $(DEBUG_FUZZ_CALLS) >$(DEBUG_PAYLOAD)/etc/fuzz_calls
	@echo $(DEBUG_TEST_SECONDS) >$(DEBUG_PAYLOAD)/etc/test_seconds
	@cp -rsfT $(abspath tests/qemu/mistakes) $(abspath $(MISTAKES_OUT))
	$(Q)$(MAKE) --no-print-directory -s -C $(DEBUG_KDIR) M=$(abspath $(MISTAKES_OUT)) modules
	@cp $(MISTAKES_OUT)/dcpi_mistakes.ko $(DEBUG_PAYLOAD)/lib/

debug_run = tests/qemu/run.sh --release debug --kernel $(DEBUG_KDIR)/arch/x86/boot/bzImage \
	--memory 2048 --payload

.PHONY: debug-check
debug-check: # run by check_debug.sh
	$(Q)$(debug_run) $(DEBUG_PAYLOAD) --timeout $(DEBUG_TIMEOUT) \
		--log build/qemu/console-$(DEBUG_CHECKER).log \
		$(patsubst %,--script %,$(DEBUG_SCRIPTS_first_$(DEBUG_CHECKER)) $(DEBUG_SCRIPTS) \
			$(DEBUG_SCRIPTS_last_$(DEBUG_CHECKER)))

.PHONY: debug-mistakes
debug-mistakes: # run by check_mistakes.sh
	@echo none $(DEBUG_MISTAKES_$(DEBUG_CHECKER))

.PHONY: debug-mistake-%
debug-mistake-%:
	$(Q)mkdir -p build/qemu/mistake/etc build/qemu/mistake/lib
	$(Q)echo $* >build/qemu/mistake/etc/mistake
	$(Q)cp $(DEBUG_PAYLOAD)/lib/dcpi_mistakes.ko build/qemu/mistake/lib
	$(Q)$(debug_run) build/qemu/mistake --timeout 600 --log build/qemu/mistake-$*.log \
		$(patsubst %,--script %,$(DEBUG_SCRIPTS_first_$(DEBUG_CHECKER)) tests/qemu/mistake.sh \
			$(DEBUG_SCRIPTS_last_$(DEBUG_CHECKER)))
