// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/code/code_mask.h"

#include <stdbool.h>

/*
 * The kernel's half of the addresses begins here with 52 bits of address (A64). Addresses of x86-64
 * with 5 levels of page tables begin above. Greater values are small negative numbers. The base of
 * the kernel's mapping on x86-64 is a constant of its source.
 */
#define KERNEL_START 0xff00000000000000ULL
#define KERNEL_END 0xffffffffff000000ULL
#define X86_KERNEL_MAP 0xffffffff80000000ULL

static bool is_address(uint64_t value)
{
	return value >= KERNEL_START && value < KERNEL_END && value != X86_KERNEL_MAP;
}

uint64_t code_mask_operand(uint64_t value, const struct code_mask_image *image)
{
	if (value >= image->start && value < image->end)
		return value - image->start;
	return is_address(value) ? 0 : value;
}

void code_mask(uint8_t *code, size_t bytes, uint64_t address, const struct code_mask_image *image)
{
#if defined(__aarch64__)
	code_mask_arm64(code, bytes, address, image);
#else
	code_mask_x86(code, bytes, address, image);
#endif
}
