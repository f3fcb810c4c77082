# SPDX-License-Identifier: GPL-2.0-only
#
# The LD_AUDIT library. Its objects are compiled separately, because it has no C library and no
# thread-local memory (which stack protectors use), and is never instrumented.
audit_object := $(OBJ)/audit
audit_cflags = -std=gnu17 $(WARNINGS) -Os -g -ffreestanding -fno-tree-loop-distribute-patterns \
	-fno-stack-protector -fno-strict-overflow -fno-asynchronous-unwind-tables -fPIC \
	-fvisibility=hidden $(if $(filter aarch64,$(bpf_machine)),-mno-outline-atomics)

PLUGINS += libdcpi-audit
libdcpi-audit-src := $(addprefix loader-hook/, audit/audit.c audit/datagram.c \
	audit/host_process.c audit/loaded_object.c audit/memory.c build_id_notes.c)
libdcpi-audit-objects := $(libdcpi-audit-src:%.c=$(audit_object)/%.o)

$(audit_object)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(audit_cflags) -I. -D_GNU_SOURCE -MMD -MP -c -o $@ $<

# -lc resolves __libc_stack_end, which is in the loader; with --as-needed libc itself is not linked.
libdcpi-audit-link = $(CC) -shared -nostdlib -Wl,-z,relro,-z,now,-z,defs -Wl,--build-id \
	-Wl,-soname,libdcpi-audit.so -Wl,--as-needed -o $@ $(libdcpi-audit-objects) -lc

-include $(libdcpi-audit-objects:.o=.d)
