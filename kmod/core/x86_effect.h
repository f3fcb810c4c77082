/* SPDX-License-Identifier: GPL-2.0-only */
/* What x86-64 instructions may change that nobody interprets. */
#ifndef DCPI_X86_EFFECT_H
#define DCPI_X86_EFFECT_H

#include "x86_insn.h"

/**
 * struct x86_effect - what an instruction may change, beside vectors and x87
 * @registers: bit i: register i (to a value not known)
 * @flags:     whether any flag
 * @stores:    bytes it may store at its operand in memory, 0: none
 * @anywhere:  it may store elsewhere
 */
struct x86_effect {
	u32 registers;
	bool flags;
	u32 stores;
	bool anywhere;
};

/**
 * x86_effect_of() - what may change
 * @effect: out
 *
 * Covers x87, MMX, SSE, AVX, AVX-512, BMI and the rarer instructions on general
 * registers that interpret_x86_64.c leaves to it. Others, and those that trap or
 * change how the machine works, are refused.
 *
 * Return: true, or false if refused.
 */
bool x86_effect_of(const struct x86_insn *insn, struct x86_effect *effect);

#endif
