/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind rules: how to find the caller's registers at a program counter.
 *
 * Rules are what DWARF's call frame information reduces to in practice: the address of the frame
 * (the CFA, which is the caller's stack pointer) and the stack slots of the registers that callees
 * must preserve. A rule is a plain structure, so that code in a kernel can follow it too.
 */
#ifndef DCPI_UNWIND_RULE_H
#define DCPI_UNWIND_RULE_H

#include <stdint.h>

#define UNWIND_REGISTERS_MAX 32
#define UNWIND_SAVED_MAX 12

/** enum unwind_kind - how the CFA is computed; @reg, @offset, @add: of the rule */
enum unwind_kind {
	UNWIND_NONE,	 /* No call frame information describes this code. */
	UNWIND_UNKNOWN,	 /* The information has a form that rules cannot express. */
	UNWIND_END,	 /* The outermost frame: it has no caller. */
	UNWIND_REGISTER, /* Reg + offset. */
	UNWIND_DEREF,	 /* The word at reg + offset, plus add. */
	UNWIND_PLT,	 /* X86-64: SP + offset, plus 8 if the PC's last 4 bits are >= reg. */
	UNWIND_SIGNAL,	 /* A signal frame: SP points to the kernel's record of all registers. */
};

/* Values of unwind_rule.saved that are not slots. */
#define UNWIND_SAME INT16_MAX		 /* the register has the caller's value */
#define UNWIND_LOST (INT16_MAX - 1)	 /* the caller's value is not known */
#define UNWIND_UNDEFINED (INT16_MAX - 2) /* of the return address: there is no caller */
#define UNWIND_SLOT_MAX (INT16_MAX - 3)

/* unwind_rule.by_frame: the return address is signed (arm64) */
#define UNWIND_SIGNED (1U << 15)

/**
 * struct unwind_rule - the rule for a range of code
 * @kind:     enum unwind_kind
 * @reg:      DWARF number of the register of the CFA; or see UNWIND_PLT
 * @by_frame: bit i: @saved[i] is relative to the frame pointer, not to the CFA
 * @offset, @add: see enum unwind_kind
 * @saved:    slots of the registers of unwind_machine.saved: offsets from the CFA in words of
 *            eight bytes, or one of the values above
 */
struct unwind_rule {
	uint8_t kind;
	uint8_t reg;
	uint16_t by_frame;
	int32_t offset;
	int32_t add;
	int16_t saved[UNWIND_SAVED_MAX];
};

/**
 * struct unwind_machine - an architecture; registers by DWARF number
 * @elf_machine:  EM_*
 * @registers:    number of general registers
 * @sp, @fp:      stack pointer, frame pointer
 * @saved:        registers that callees preserve; the last one is the return address, which on
 *                x86-64 is no general register
 * @ra_column:    DWARF number of the return address
 */
struct unwind_machine {
	uint16_t elf_machine;
	uint8_t registers;
	uint8_t sp;
	uint8_t fp;
	uint8_t ra_column;
	uint8_t saved_count;
	uint8_t saved[UNWIND_SAVED_MAX];
};

extern const struct unwind_machine unwind_machine_x86_64;
extern const struct unwind_machine unwind_machine_arm64;

/** unwind_machine_here() - return the machine that this program runs on */
const struct unwind_machine *unwind_machine_here(void);

/** unwind_machine_of() - return a machine by its EM_*; NULL: not supported */
const struct unwind_machine *unwind_machine_of(uint16_t elf_machine);

/** unwind_machine_saved() - return the index of a register in @saved, or -1 */
int unwind_machine_saved(const struct unwind_machine *machine, uint64_t reg);

#endif
