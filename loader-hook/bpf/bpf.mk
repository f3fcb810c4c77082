# SPDX-License-Identifier: GPL-2.0-only
#
# Each BPF program X/bpf/NAME.bpf.c is compiled into a header that contains it, the bpftool skeleton
# X/bpf/NAME.skel.h. The programs depend on the register layout of the target machine. A cross build
# therefore compiles them for that machine, with the tools of the build machine.
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

bpf_machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
bpf_arch := $(or $(if $(filter x86_64,$(bpf_machine)),x86),$(if $(filter aarch64,$(bpf_machine)),arm64))
# Version 3 of the instruction set (Linux 5.12) has atomic exchanges. clang -target bpf does not
# search the directory in which Debian installs <asm/types.h>.
bpf_include := $(firstword $(dir $(patsubst %/,%,$(dir $(wildcard /usr/include/*/asm/types.h)))))

$(OBJ)/%.bpf.o: %.bpf.c
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(bpf_arch) -std=gnu17 -O2 -g \
		-Wall -Wextra -Werror -I. -idirafter $(bpf_include) -MMD -MP -c -o $@ $<

.PRECIOUS: $(OBJ)/%.bpf.o
$(OBJ)/gen/%.skel.h: $(OBJ)/%.bpf.o
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $(or $(skeleton_$(notdir $*)),$(notdir $*)) > $@

# Skeletons that cannot have the name of their program, because a function has this name.
skeleton_branch_snapshot := branch_snapshot_bpf
skeleton_off_cpu := off_cpu_bpf

# $(call bpf_user,OBJECT,SKELETON): OBJECT includes SKELETON; both paths are relative to $(OBJ).
define bpf_user
GENERATED += $(OBJ)/gen/$(2)
$(OBJ)/$(1): CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/$(1): $(OBJ)/gen/$(2)
-include $(OBJ)/$(2:.skel.h=.bpf.d)
endef
$(eval $(call bpf_user,daemon/source/bpf_stacks.o,daemon/source/bpf/stack_copy.skel.h))
$(eval $(call bpf_user,daemon/source/off_cpu.o,daemon/source/bpf/off_cpu.skel.h))
$(eval $(call bpf_user,daemon/source/bpf_sampler.o,daemon/source/bpf/sample_count.skel.h))
$(eval $(call bpf_user,daemon/source/branch_snapshots.o,daemon/source/bpf/branch_snapshot.skel.h))
$(eval $(call bpf_user,daemon/code/code_source_bpf.o,daemon/code/bpf/code_read.skel.h))
$(eval $(call bpf_user,loader-hook/bpf/bpf_hook.o,loader-hook/bpf/image_watch.skel.h))
