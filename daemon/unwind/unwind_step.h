/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks the frames of a user-space stack, from registers and memory at one moment.
 *
 * The walk uses rules only, and reads memory through one callback that cannot fault. It has no
 * state outside its arguments, allocates nothing and calls no library, so that a kernel can run it.
 *
 * Nothing is guessed. A stack that cannot be followed to its outermost frame ends with the reason.
 * Where an image has no unwind table, frame records are followed: the frame pointer points to the
 * caller's frame pointer, and the return address follows it (x86-64 and arm64 ABIs). A frame record
 * is accepted only if it is above the stack pointer.
 *
 * An image may have a table that does not describe all of its code: the builtins of V8 are in the
 * file of node. A frame of this code is also left by its frame record, if it has called another
 * frame, so that its own record exists. The frames after it count only if the walk reaches the
 * outermost frame.
 */
#ifndef DCPI_UNWIND_STEP_H
#define DCPI_UNWIND_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/unwind/unwind_rule.h"

#define UNWIND_FRAMES_MAX 1024

/** enum unwind_end - why a walk ended */
enum unwind_end {
	UNWIND_END_COMPLETE,	 /* The outermost frame was reached. */
	UNWIND_END_SHORT,	 /* The copy of the stack is too short. */
	UNWIND_END_UNREADABLE,	 /* The stack could not be copied that far. */
	UNWIND_END_OTHER_STACK,	 /* A frame is in memory that is not part of the copy. */
	UNWIND_END_NO_TABLE,	 /* No call frame information, and no frame record. */
	UNWIND_END_NO_RULE,	 /* The call frame information does not describe this code. */
	UNWIND_END_EXPRESSION,	 /* The call frame information has a form that is not supported. */
	UNWIND_END_REGISTER,	 /* The rule needs a register whose value is not known. */
	UNWIND_END_BAD_FRAME,	 /* The frame is not above that of its callee. */
	UNWIND_END_BAD_ADDRESS,	 /* The return address is in no image. */
	UNWIND_END_FRAMES,	 /* More than UNWIND_FRAMES_MAX frames. */
	UNWIND_END_NO_REGISTERS, /* The registers of the thread are not known. */
	UNWIND_END_WAITING,	 /* The table of an image has not been built yet. */
	UNWIND_END_CHAIN,	 /* A recorded call chain ends before the outermost frame. */
	UNWIND_END_DAMAGED,	 /* The record of the stack is malformed. */
};

#define UNWIND_ENDS 15

/**
 * unwind_end_name() - return the name of a reason's counter: "stacks_complete", ...
 * @is_off_cpu: "off_cpu_stacks_complete", ...
 */
const char *unwind_end_name(enum unwind_end end, bool is_off_cpu);

/**
 * struct unwind_registers - of a thread in a frame
 * @pc:    program counter
 * @reg:   by DWARF number, including the stack pointer
 * @known: bit i: @reg[i] is known
 */
struct unwind_registers {
	uint64_t pc;
	uint64_t reg[UNWIND_REGISTERS_MAX];
	uint32_t known;
};

/**
 * struct unwind_memory - reads the memory of the thread
 * @read: read the word at an address. Return: UNWIND_END_COMPLETE if it was read, or why not
 */
struct unwind_memory {
	enum unwind_end (*read)(void *context, uint64_t address, uint64_t *ret);
	void *context;
};

/** enum unwind_where - result of looking up an address of code */
enum unwind_where {
	UNWIND_WHERE_RULE,     /* Its rule. */
	UNWIND_WHERE_NO_TABLE, /* It is code without call frame information. */
	UNWIND_WHERE_NO_IMAGE, /* It is not in an image. */
	UNWIND_WHERE_WAITING,  /* The table of its image has not been built yet. */
};

/**
 * struct unwind_walk - a walk over a stack
 * @find: find the rule at a PC; called once for each frame, innermost first. @pc: the sampled PC;
 * in other frames the address of the last byte of the call. @ret: out, with UNWIND_WHERE_RULE
 * @frame_records: out: number of frames that were left by their frame record
 * @doubtful: out: with UNWIND_END_NO_RULE: number of frames before those that do not count; 0: all
 *            count
 */
struct unwind_walk {
	const struct unwind_machine *machine;
	struct unwind_memory memory;
	enum unwind_where (*find)(void *context, uint64_t pc, const struct unwind_rule **ret);
	void *context;
	uint32_t frame_records;
	uint32_t doubtful;
};

/**
 * unwind_step() - go to the caller's registers
 *
 * Return: UNWIND_END_COMPLETE: @registers are those of the caller, whose PC is 0 in the outermost
 * frame; otherwise the reason, and @registers are unspecified.
 */
enum unwind_end unwind_step(const struct unwind_machine *machine, const struct unwind_rule *rule,
			    struct unwind_registers *registers, const struct unwind_memory *memory);

/** unwind_step_record() - go to the caller by the frame record, as unwind_step() */
enum unwind_end unwind_step_record(const struct unwind_machine *machine,
				   struct unwind_registers *registers,
				   const struct unwind_memory *memory);

/** unwind_walk() - visit all frames. @registers: changed. O(frames). */
enum unwind_end unwind_walk(struct unwind_walk *walk, struct unwind_registers *registers);

#endif
