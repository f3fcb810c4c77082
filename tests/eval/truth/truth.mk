# SPDX-License-Identifier: GPL-2.0-only
# Exact execution counts of instructions: see count_plugin.c. Their times on simulated machines,
# with causes: see sim_plugin.c. These plugins are built for and run on the build machine,
# independent of the target architecture.
HOST_CC ?= gcc
COUNT_PLUGIN := build/tests/count_plugin.so
KERNEL_PLUGIN := build/tests/kernel_plugin.so
SIM_PLUGIN := build/tests/sim_plugin.so
PATH_PLUGIN := build/tests/path_plugin.so
CALL_PLUGIN := build/tests/call_plugin.so
REFERENCE_PLUGIN := build/tests/reference_plugin.so

count_plugin-parts := edge_counts guest_image
path_plugin-parts := guest_image
call_plugin-parts := guest_image
reference_plugin-parts := guest_image
sim_plugin-parts := edge_counts guest_image sim_machine sim_isa_alpha sim_isa_arm64 sim_cache \
	sim_tlb sim_predictor sim_write_buffer sim_fetch sim_memory sim_pipeline sim_sampler sim_report
truth_parts = $($(1)-parts:%=tests/eval/truth/%.c)

$(COUNT_PLUGIN) $(KERNEL_PLUGIN) $(SIM_PLUGIN) $(PATH_PLUGIN) $(CALL_PLUGIN) $(REFERENCE_PLUGIN): \
		build/tests/%.so: tests/eval/truth/%.c \
		$$(call truth_parts,$$*) $(wildcard tests/eval/truth/*.h)
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu17 $(WARNINGS) -O2 -g -I. -D_GNU_SOURCE -fPIC -fvisibility=hidden \
		-shared -o $@ $(filter %.c,$^)

.PHONY: count-plugin
count-plugin: $(COUNT_PLUGIN)

.PHONY: path-plugin
path-plugin: $(PATH_PLUGIN)

.PHONY: call-plugin
call-plugin: $(CALL_PLUGIN)

.PHONY: reference-plugin
reference-plugin: $(REFERENCE_PLUGIN)

.PHONY: sim-plugin
sim-plugin: $(SIM_PLUGIN) ## the in-order machines of the truth harness
