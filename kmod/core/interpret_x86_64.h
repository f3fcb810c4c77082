/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to interpret_x86_64*.c: the machine that they interpret on. */
#ifndef DCPI_INTERPRET_X86_64_H
#define DCPI_INTERPRET_X86_64_H

#include "interpret_memory.h"
#include "x86_insn.h"

#define FLAG_CF 0x1ULL
#define FLAG_PF 0x4ULL
#define FLAG_AF 0x10ULL
#define FLAG_ZF 0x40ULL
#define FLAG_SF 0x80ULL
#define FLAG_TF 0x100ULL
#define FLAG_IF 0x200ULL
#define FLAG_DF 0x400ULL
#define FLAG_OF 0x800ULL
#define FLAGS_RESULT (FLAG_PF | FLAG_ZF | FLAG_SF)
#define FLAGS_ALL (FLAGS_RESULT | FLAG_CF | FLAG_AF | FLAG_OF)

#define REG_RAX 0
#define REG_RCX 1
#define REG_RDX 2
#define REG_RSP 4
#define REG_RBP 5
#define REG_RSI 6
#define REG_RDI 7
#define REG_AH 20 /* as an argument of x86_read_register() only */

#define X86_REGISTERS 18

/** enum step - how to go on after an instruction */
enum step {
	STEP_NEXT,	  /* at @next */
	STEP_EDGE,	  /* it was a branch, to @next */
	STEP_UNKNOWN,	  /* a branch to nobody knows where */
	STEP_UNSUPPORTED, /* undefined, trapping, or not understood */
};

/** struct operand - a value of some bytes, others are zero; 0 if it is not known */
struct operand {
	u64 value;
	bool known;
};

/**
 * struct machine
 * @insn:  the instruction
 * @next:  where to go on
 * @known: which bytes of each register are; state->known is set at the end
 */
struct machine {
	struct interpret_state *state;
	struct interpret_memory memory;
	struct x86_insn insn;
	u64 next;
	u8 known[X86_REGISTERS];
	bool conditional;
};

static inline struct operand operand(u64 value)
{
	return (struct operand){.value = value, .known = true};
}

static inline struct operand unknown(void)
{
	return (struct operand){.value = 0, .known = false};
}

static inline u64 low_bytes(u64 value, u32 bytes)
{
	return bytes >= 8 ? value : value & ((1ULL << 8 * bytes) - 1);
}

static inline u64 sign_extended(u64 value, u32 bytes)
{
	u64 sign = 1ULL << (8 * bytes - 1);

	return (low_bytes(value, bytes) ^ sign) - sign;
}

static inline bool has_prefix(const struct machine *m, u32 prefixes)
{
	return m->insn.prefixes & prefixes;
}

/** x86_operand_bytes() - 2, 4 or 8, as the prefixes say */
u32 x86_operand_bytes(const struct machine *m);

/**
 * x86_read_register(), x86_write_register() - the low 1, 2, 4 or 8 bytes
 *
 * Writing 4 bytes clears the upper ones, writing fewer leaves them.
 */
struct operand x86_read_register(const struct machine *m, u32 reg, u32 bytes);
void x86_write_register(struct machine *m, u32 reg, u32 bytes, struct operand value);

/** x86_byte_register() - what a byte instruction means by the number of a register */
u32 x86_byte_register(const struct machine *m, u32 reg, u32 bytes);

/** x86_address() - of the operand in memory */
struct operand x86_address(const struct machine *m);

struct operand x86_load(struct machine *m, struct operand address, u32 bytes);
void x86_store(struct machine *m, struct operand address, u32 bytes, struct operand value);

/** x86_read_rm(), x86_write_rm() - the operand that ModRM.rm names */
struct operand x86_read_rm(struct machine *m, u32 bytes);
void x86_write_rm(struct machine *m, u32 bytes, struct operand value);

/** x86_read_reg(), x86_write_reg() - the register that ModRM.reg names */
struct operand x86_read_reg(const struct machine *m, u32 bytes);
void x86_write_reg(struct machine *m, u32 bytes, struct operand value);

/** x86_push(), x86_pop() - 2 or 8 bytes */
void x86_push(struct machine *m, u32 bytes, struct operand value);
struct operand x86_pop(struct machine *m, u32 bytes);

/** x86_set_flags() - those in @mask; x86_forget_flags() - they are not known */
void x86_set_flags(struct machine *m, u64 mask, u64 flags);
void x86_forget_flags(struct machine *m, u64 mask);

/** x86_condition() - does a condition (0 .. 15) hold? */
struct operand x86_condition(const struct machine *m, u32 condition);

/**
 * x86_arithmetic() - add or adc sbb and sub xor cmp, by number; sets the flags
 *
 * Return: the result; of cmp the difference.
 */
struct operand x86_arithmetic(struct machine *m, u32 operation, u32 bytes, struct operand a,
			      struct operand b);

/** x86_one_byte_data(), x86_two_byte_data() - what is no branch, in maps 0 and 1 */
enum step x86_one_byte_data(struct machine *m);
enum step x86_two_byte_data(struct machine *m);

/** x86_multiply_divide() - of f6 and f7 the last four; x86_multiply() - two operands */
enum step x86_multiply_divide(struct machine *m, u32 bytes);
struct operand x86_multiply(struct machine *m, u32 bytes, struct operand a, struct operand b);

/** x86_shift() - c0, c1, d0 - d3; x86_shift_double() - shld, shrd */
enum step x86_shift(struct machine *m, u32 bytes, struct operand count);
enum step x86_shift_double(struct machine *m, struct operand count);

/** x86_bit_test() - bt, bts, btr, btc by number; x86_bit_scan() - bsf, bsr, tzcnt, lzcnt, popcnt */
enum step x86_bit_test(struct machine *m, u32 operation, bool immediate);
enum step x86_bit_scan(struct machine *m);

/** x86_string() - movs, cmps, stos, lods, scas */
enum step x86_string(struct machine *m);

#endif
