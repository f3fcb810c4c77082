# SPDX-License-Identifier: GPL-2.0-only
# How often each instruction runs, exactly: see count_plugin.c. Runs on the
# build machine, whatever is built.
HOST_CC ?= gcc
COUNT_PLUGIN := build/tests/count_plugin.so
KERNEL_PLUGIN := build/tests/kernel_plugin.so

$(COUNT_PLUGIN): tests/truth/edge_counts.c tests/truth/edge_counts.h

$(COUNT_PLUGIN) $(KERNEL_PLUGIN): build/tests/%.so: tests/truth/%.c tests/truth/qemu_plugin.h
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu17 $(WARNINGS) -O2 -g -I. -D_GNU_SOURCE -fPIC -fvisibility=hidden \
		-shared -o $@ $(filter %.c,$^)

.PHONY: count-plugin
count-plugin: $(COUNT_PLUGIN)
