/* SPDX-License-Identifier: GPL-2.0-only */
/* State that an x86-64 instruction may change if no code interprets it. */
#ifndef DCPI_X86_EFFECT_H
#define DCPI_X86_EFFECT_H

#include "x86_insn.h"

/**
 * struct x86_effect - state that an instruction may change, besides vectors and x87
 * @registers: bit i: register i (to an unknown value)
 * @flags:     true if any flag may change
 * @stores:    bytes that may be stored to the memory operand; 0: none
 * @anywhere:  bytes may be stored to other addresses
 */
struct x86_effect {
	u32 registers;
	bool flags;
	u32 stores;
	bool anywhere;
};

/**
 * x86_effect_of() - determine the state that an instruction may change
 * @effect: out
 *
 * Covers x87, MMX, SSE, AVX, AVX-512, BMI and the rarer instructions on general registers that
 * interpret_x86_64.c does not handle. Other instructions, and those that trap or change the mode of
 * the machine, are refused.
 *
 * Return: true, or false if refused.
 */
bool x86_effect_of(const struct x86_insn *insn, struct x86_effect *effect);

#endif
