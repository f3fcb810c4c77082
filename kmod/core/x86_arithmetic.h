/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of x86-64. */
#ifndef DCPI_X86_ARITHMETIC_H
#define DCPI_X86_ARITHMETIC_H

#include "x86_machine.h"

/**
 * x86_arithmetic() - add, or, adc, sbb, and, sub, xor, cmp by number; sets the flags
 *
 * Return: the result; for cmp the difference.
 */
struct operand x86_arithmetic(struct machine *m, u32 operation, u32 bytes, struct operand a,
			      struct operand b);

/** x86_multiply_divide() - mul, imul, div, idiv of f6, f7; x86_multiply() - two operands */
enum step x86_multiply_divide(struct machine *m, u32 bytes);
struct operand x86_multiply(struct machine *m, u32 bytes, struct operand a, struct operand b);

/** x86_shift() - c0, c1, d0 - d3; x86_shift_double() - shld, shrd */
enum step x86_shift(struct machine *m, u32 bytes, struct operand count);
enum step x86_shift_double(struct machine *m, struct operand count);

/** x86_bit_test() - bt, bts, btr, btc by number; x86_bit_scan() - bsf, bsr, tzcnt, lzcnt, popcnt */
enum step x86_bit_test(struct machine *m, u32 operation, bool immediate);
enum step x86_bit_scan(struct machine *m);

#endif
