// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_rule.h"

#include <elf.h>
#include <stddef.h>

/* System V ABI, AMD64 supplement, figure 3.36. */
const struct unwind_machine unwind_machine_x86_64 = {
	.elf_machine = EM_X86_64,
	.registers = 16,
	.sp = 7,
	.fp = 6,
	.ra_column = 16,
	.saved_count = 7,
	.saved = {3, 6, 12, 13, 14, 15, 16},
};

/* DWARF for the Arm 64-bit Architecture (AADWARF64), table 4.1. */
const struct unwind_machine unwind_machine_arm64 = {
	.elf_machine = EM_AARCH64,
	.registers = 32,
	.sp = 31,
	.fp = 29,
	.ra_column = 30,
	.saved_count = 12,
	.saved = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
};

const struct unwind_machine *unwind_machine_here(void)
{
#if defined(__aarch64__)
	return &unwind_machine_arm64;
#else
	return &unwind_machine_x86_64;
#endif
}

const struct unwind_machine *unwind_machine_of(uint16_t elf_machine)
{
	switch (elf_machine) {
	case EM_X86_64:
		return &unwind_machine_x86_64;
	case EM_AARCH64:
		return &unwind_machine_arm64;
	}
	return NULL;
}

int unwind_machine_saved(const struct unwind_machine *machine, uint64_t reg)
{
	for (int i = 0; i < machine->saved_count; i++) {
		if (machine->saved[i] == reg)
			return i;
	}
	return -1;
}
