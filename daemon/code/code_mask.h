/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removes the location of the kernel from its code, before the code leaves the daemon.
 *
 * The kernel's text, its modules and its heap are at random addresses. Code contains such addresses
 * as absolute operands, and relative operands contain the distance of two of them. After masking,
 * code is as if the image had been loaded at address 0:
 *
 * - A relative operand that leads to the same image is unchanged.
 * - An absolute operand that leads to the same image becomes an offset in the image.
 * - On x86-64, per-CPU variables have addresses from 0 on, so a displacement from the PC to one of
 *   them contains the PC. The displacement is changed to lead there from the offset.
 * - Any other relative operand leads to PROFILE_CODE_OUTSIDE, and any other absolute operand that
 * is a kernel address becomes 0.
 *
 * Constants that only look like kernel addresses become 0, too: a wrong constant in a listing does
 * less harm than an address. Bytes that do not decode are searched for addresses of 8 bytes.
 */
#ifndef DCPI_CODE_MASK_H
#define DCPI_CODE_MASK_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct code_mask_image - addresses of an image of the kernel
 * @start: address of its offset 0
 * @end:   first address after its text and data
 */
struct code_mask_image {
	uint64_t start;
	uint64_t end;
};

/** code_mask_x86() - mask x86-64 code that was read at @address; the code begins a procedure. */
void code_mask_x86(uint8_t *code, size_t bytes, uint64_t address,
		   const struct code_mask_image *image);

/** code_mask_arm64() - as code_mask_x86(), for A64 code; @address: a multiple of 4 */
void code_mask_arm64(uint8_t *code, size_t bytes, uint64_t address,
		     const struct code_mask_image *image);

/** code_mask() - mask code of the machine for which this program was compiled */
void code_mask(uint8_t *code, size_t bytes, uint64_t address, const struct code_mask_image *image);

/** code_mask_operand() - return the value that replaces an absolute operand */
uint64_t code_mask_operand(uint64_t value, const struct code_mask_image *image);

#endif
