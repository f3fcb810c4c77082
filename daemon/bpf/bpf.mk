# SPDX-License-Identifier: GPL-2.0-only
#
# The BPF programs as a header (a skeleton of bpftool's) that holds them. They
# know the registers of the machine that the programs are built for, so that a
# cross build compiles them for that one, with the tools of this one.
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

bpf_machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
bpf_arch := $(or $(if $(filter x86_64,$(bpf_machine)),x86),$(if $(filter aarch64,$(bpf_machine)),arm64))
# clang -target bpf does not look where Debian has <asm/types.h>.
bpf_include := $(firstword $(dir $(patsubst %/,%,$(dir $(wildcard /usr/include/*/asm/types.h)))))

bpf_skeleton := $(OBJ)/gen/daemon/bpf/sample_count.skel.h
GENERATED += $(bpf_skeleton)

$(OBJ)/daemon/bpf/sample_count.bpf.o: daemon/bpf/sample_count.bpf.c
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(bpf_arch) -std=gnu17 -O2 -g -Wall -Wextra -Werror \
		-I. -idirafter $(bpf_include) -MMD -MP -c -o $@ $<

$(bpf_skeleton): $(OBJ)/daemon/bpf/sample_count.bpf.o
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name sample_count > $@

$(OBJ)/daemon/bpf_sampler.o: CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/daemon/bpf_sampler.o: $(bpf_skeleton)
-include $(OBJ)/daemon/bpf/sample_count.bpf.d
