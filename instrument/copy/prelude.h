/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that a rewritten image has once: what calls the runtime, which does not know where
 * its state is, what checking copies call (turn_code.h), and what a static program begins
 * with.
 */
#ifndef DCPI_INSTRUMENT_PRELUDE_H
#define DCPI_INSTRUMENT_PRELUDE_H

#include "instrument/copy/turn_code.h"
#include "instrument/profile/profile_layout.h"

/* What it refers to (machine_code_refer()), beside numbers of procedures and runtime_code.h's. */
#define PRELUDE_STATE (UINT32_MAX - 3)
#define PRELUDE_DUMMY (UINT32_MAX - 4) /* what stands for a thread */

/* What has it is called, with no more on the stack than machine_code_stack() says; the rest is
 * where a program begins (machine_code_frame()). */
#define PRELUDE_FRAME 1

/**
 * struct prelude - zero-initialised is empty; freed by prelude_deinit()
 * @runtime: address of the runtime's code
 * @enter, @slow: labels: its entries (RUNTIME_CODE_ENTER, RUNTIME_CODE_SLOW)
 * @counted, @looked: likewise (TURN_CODE_COUNTED, TURN_CODE_LOOKED), if there are two copies
 * @start:   label: a static program's entry
 */
struct prelude {
	struct machine_code code;
	uint64_t runtime;
	uint32_t enter;
	uint32_t slow;
	uint32_t counted[PROFILE_LAYOUT_COUNTERS];
	uint32_t looked;
	uint32_t start;
};

/**
 * prelude_make() - make it
 * @entry: where a static program really begins
 * @code, @turns: if there are two copies; else @turns is NULL
 *
 * Return: 0 or -ENOMEM.
 */
int prelude_make(struct prelude *ret, uint64_t runtime, uint64_t entry,
		 const struct runtime_code *code, const struct copy_turns *turns);

void prelude_deinit(struct prelude *prelude);

#endif
