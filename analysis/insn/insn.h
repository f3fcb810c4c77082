/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A decoded instruction in the same form for every architecture: its control flow, the registers
 * and memory that it accesses, and its kind of operation. All later stages of the analysis use only
 * this form.
 *
 * Addresses are ELF virtual addresses of the image.
 */
#ifndef DCPI_INSN_H
#define DCPI_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_BYTES_MAX 15
#define INSN_TEXT_BYTES 160

enum insn_isa {
	INSN_ISA_X86_64,
	INSN_ISA_ARM64,
	INSN_ISA_ALPHA,
};

/** enum insn_flow - control flow after the instruction. */
enum insn_flow {
	INSN_FLOW_NEXT,		 /* to the next instruction; also system calls, x86's hlt */
	INSN_FLOW_BRANCH,	 /* to @target or to the next instruction */
	INSN_FLOW_JUMP,		 /* to @target */
	INSN_FLOW_JUMP_INDIRECT, /* to the address in a register or memory */
	INSN_FLOW_CALL,		 /* to @target, then usually to the next instruction */
	INSN_FLOW_CALL_INDIRECT,
	INSN_FLOW_RETURN,
	INSN_FLOW_STOP, /* nowhere: ud2, brk, udf, call_pal halt */
};

/**
 * enum insn_class - kind of operation, as distinguished by machine models
 *
 * An x86 instruction that computes with a memory operand has the class of the computation;
 * INSN_LOAD and INSN_STORE only move data.
 */
enum insn_class {
	INSN_OTHER,
	INSN_NOP,
	INSN_ALU,   /* Add, logic, compare, move, load address, load immediate. */
	INSN_SHIFT, /* Shifts, rotates, bit fields, byte manipulation. */
	INSN_CMOV,  /* Conditional move, select, set. */
	INSN_MULTIPLY,
	INSN_DIVIDE,
	INSN_LOAD,
	INSN_STORE,
	INSN_PREFETCH,
	INSN_CONTROL,	  /* Branches, jumps, calls, returns. */
	INSN_FP_MOVE,	  /* Moves among FP or vector registers, sign operations. */
	INSN_FP_TRANSFER, /* Between integer and FP or vector registers. */
	INSN_FP_ADD,	  /* Add, subtract, compare, minimum. */
	INSN_FP_CONVERT,
	INSN_FP_MULTIPLY,
	INSN_FP_FMA,
	INSN_FP_DIVIDE,
	INSN_FP_SQRT,
	INSN_VECTOR_ALU, /* Integer vectors: add, logic, compare, shift. */
	INSN_VECTOR_MULTIPLY,
	INSN_VECTOR_SHUFFLE,
	INSN_CRYPTO,
	INSN_ATOMIC,  /* Locked and exclusive operations. */
	INSN_BARRIER, /* Fences. */
	INSN_STRING,  /* x86 rep. */
	INSN_SYSTEM,  /* System calls, PALcode, cpuid, system registers. */
	INSN_CLASSES,
};

/* insn.flags */
#define INSN_READS_MEMORY 0x01U
#define INSN_WRITES_MEMORY 0x02U
#define INSN_FP 0x04U		 /* operands in FP or vector registers */
#define INSN_SERIALIZES 0x08U	 /* nothing later begins before it ends */
#define INSN_CONDITIONAL 0x10U	 /* may leave its destination unchanged */
#define INSN_LINKS 0x20U	 /* jump that writes a return address */
#define INSN_ZEROES 0x40U	 /* result does not depend on its sources (xor r,r) */
#define INSN_LOW_BYTES 0x80U	 /* x86: only the lowest bytes of its integer sources are read */
#define INSN_UNMASKS 0x100U	 /* may enable interrupts */
#define INSN_UNMASKS_LATE 0x200U /* x86's sti: not before the instruction after the next one */
#define INSN_LEAVES 0x400U	 /* to the kernel or a hypervisor, for an unknown time */

/*
 * Registers are numbers below INSN_REGS.
 *   0 .. 31   integer (x86-64: rax rcx rdx rbx rsp rbp rsi rdi r8 ..; arm64: x0 ..
 *             x30, 31 is sp; Alpha: r0 .. r30). Registers that read as zero are
 *             not registers.
 *   32 .. 39  flags (x86-64: 32 CF, 33 OF, 34 SF ZF AF PF, 35 DF and system flags;
 *             arm64: 32)
 *   64 .. 95  FP and vector
 *   96 .. 103 x86 mask registers; 104 x87 and MMX as one; Alpha: 96 fpcr
 *
 * Parts of a register have the number of that register.
 */
#define INSN_REGS 128
#define INSN_REG_NONE 255
#define INSN_REG_FLAGS 32
#define INSN_REG_FP 64
#define INSN_REG_MASK 96
#define INSN_REG_X87 104

/** struct insn_regs - a set of registers. */
struct insn_regs {
	uint64_t words[2];
};

static inline bool insn_regs_has(const struct insn_regs *set, unsigned int reg)
{
	return reg < INSN_REGS && (set->words[reg / 64] >> (reg % 64) & 1) != 0;
}

static inline void insn_regs_add(struct insn_regs *set, unsigned int reg)
{
	if (reg < INSN_REGS)
		set->words[reg / 64] |= UINT64_C(1) << (reg % 64);
}

static inline void insn_regs_remove(struct insn_regs *set, const struct insn_regs *gone)
{
	set->words[0] &= ~gone->words[0];
	set->words[1] &= ~gone->words[1];
}

static inline bool insn_regs_meet(const struct insn_regs *a, const struct insn_regs *b)
{
	return (a->words[0] & b->words[0]) != 0 || (a->words[1] & b->words[1]) != 0;
}

/**
 * struct insn_memory - the memory operand: base + (index << scale) + displacement
 * @base:         register, or INSN_REG_NONE
 * @index:        register, or INSN_REG_NONE
 * @scale:        shift of the index
 * @bytes:        accessed; 0: unknown or many
 * @displacement: for PC-relative operands, which have no base, the address itself
 * @pc_relative:  @displacement is an address
 * @pushes:       the access updates the stack pointer or base (push, pop, call, pre- and
 *                post-indexed addressing)
 * @segment:      relative to the base of x86's %fs or %gs (thread-local data)
 */
struct insn_memory {
	int64_t displacement;
	uint8_t base;
	uint8_t index;
	uint8_t scale;
	uint8_t bytes;
	bool pc_relative;
	bool pushes;
	bool segment;
};

#define INSN_SOURCES 4

/**
 * struct insn - an instruction
 * @address:       its address
 * @target:        of direct branches, jumps and calls
 * @immediate:     the immediate operand, sign-extended, 0 if there is none. For loads of an address
 *                 or constant (adrp, lea rip, movz, lda from r31), the value itself. For arm64 bit
 *                 fields, the shift (the rest is in @opcode). For x86's movzx and movsx of a
 *                 register, the number of bytes extended
 * @reads:         registers whose values are used, including address registers
 * @writes:        registers that change
 * @memory:        its memory operand, if it has one (@flags has the direction). For push and call,
 *                 the operand in the assembler's text takes precedence over the stack; also set for
 *                 lea and prefetches
 * @opcode:        specific to the decoder: ZydisMnemonic, or the instruction word
 * @sources:       registers read as data, in the order of the assembler's text (Alpha: Ra, Rb, Rc
 *                 of cmov and stores; a store's data is source 0); INSN_REG_NONE for unused
 *                 elements
 * @destination:   the (first) register written as data, or INSN_REG_NONE
 * @operand_bytes: width of the operation: 1, 2, 4, 8, 16, 32, 64
 * @bytes:         length
 */
struct insn {
	uint64_t address;
	uint64_t target;
	int64_t immediate;
	struct insn_regs reads;
	struct insn_regs writes;
	struct insn_memory memory;
	uint32_t opcode;
	uint8_t sources[INSN_SOURCES];
	uint8_t destination;
	uint8_t bytes;
	uint8_t operand_bytes;
	uint8_t flow;  /* enum insn_flow */
	uint8_t class; /* enum insn_class */
	uint16_t flags;
};

/**
 * struct insn_decoder - an architecture
 * @name:          "x86-64", "arm64", "alpha"
 * @machine:       e_machine of its ELF files
 * @alignment:     of instructions, in bytes
 * @stack_pointer: register
 * @frame_pointer: register, by convention
 * @argument:      register of a call's first argument, if that is an integer
 */
struct insn_decoder {
	enum insn_isa isa;
	const char *name;
	uint16_t machine;
	uint8_t alignment;
	uint8_t stack_pointer;
	uint8_t frame_pointer;
	uint8_t argument;

	/**
	 * @decode: decode one instruction
	 * @code:   at least its first @bytes bytes; may be shorter or longer than the instruction
	 *
	 * Never reads past @bytes. Return: its length; 0 if it is undefined or truncated.
	 */
	size_t (*decode)(struct insn *ret, const uint8_t *code, size_t bytes, uint64_t address);

	/**
	 * @format: format as assembler text, similar to objdump: mnemonic, space, operands;
	 *          addresses of branches in hexadecimal
	 *
	 * Return: 0, or -EINVAL as for decode; then @text is ".byte ..." or ".word ...".
	 */
	int (*format)(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes,
		      uint64_t address);
};

extern const struct insn_decoder insn_x86_decoder;   /* insn_x86.c, by Zydis */
extern const struct insn_decoder insn_arm64_decoder; /* insn_arm64.c */
extern const struct insn_decoder insn_alpha_decoder; /* insn_alpha.c */

/** insn_decoder_find() - find a decoder by e_machine. Return: NULL if there is none. */
const struct insn_decoder *insn_decoder_find(uint16_t machine);

/**
 * insn_is_call() - return true for a call, after which control usually returns to the next
 * instruction.
 */
static inline bool insn_is_call(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

/** insn_ends_block() - return true if control may go elsewhere than to the next instruction. */
static inline bool insn_ends_block(const struct insn *insn)
{
	return insn->flow != INSN_FLOW_NEXT;
}

#endif
