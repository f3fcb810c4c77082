# SPDX-License-Identifier: GPL-2.0-only
#
# BPF programs, X/bpf/NAME.bpf.c, as headers that hold them (skeletons of
# bpftool's, X/bpf/NAME.skel.h). They know the registers of the machine that the
# programs are built for, so that a cross build compiles them for that one, with
# the tools of this one.
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

bpf_machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
bpf_arch := $(or $(if $(filter x86_64,$(bpf_machine)),x86),$(if $(filter aarch64,$(bpf_machine)),arm64))
# Version 3 of the instructions (5.12) has exchanges. clang -target bpf does not look where Debian has <asm/types.h>.
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

# Names of skeletons that are not their programs', which a function has.
skeleton_branch_snapshot := branch_snapshot_bpf

# bpf_user: object that includes the skeleton, and the skeleton, both less $(OBJ)
define bpf_user
GENERATED += $(OBJ)/gen/$(2)
$(OBJ)/$(1): CPPFLAGS += -I$(OBJ)/gen
$(OBJ)/$(1): $(OBJ)/gen/$(2)
-include $(OBJ)/$(2:.skel.h=.bpf.d)
endef
$(eval $(call bpf_user,daemon/source/bpf_sampler.o,daemon/source/bpf/sample_count.skel.h))
$(eval $(call bpf_user,daemon/source/branch_snapshots.o,daemon/source/bpf/branch_snapshot.skel.h))
$(eval $(call bpf_user,loader-hook/bpf_hook.o,loader-hook/bpf/image_watch.skel.h))
