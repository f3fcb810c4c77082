/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that a rewritten image contains once: calls of the runtime, which does not know the address
 * of its state, routines for checking clones (burst_switch_code.h), and the entry of a static
 * program.
 */
#ifndef DCPI_INSTRUMENT_STUBS_H
#define DCPI_INSTRUMENT_STUBS_H

#include "instrument/clone/burst_switch_code.h"
#include "instrument/profile/profile_layout.h"

/* Numbers for machine_code_refer(), in addition to those of procedures and of runtime_code.h. */
#define STUBS_STATE (UINT32_MAX - 3)
#define STUBS_DUMMY (UINT32_MAX - 4) /* temporary thread control block */

/* Frame number (machine_code_frame()) of code that is called, with only machine_code_stack() bytes
 * on the stack. The other code is a program's entry. */
#define STUBS_FRAME 1

/**
 * struct stubs - zero-initialised is empty; freed by stubs_deinit()
 * @runtime: address of the runtime's code
 * @enter, @slow: labels of the stubs that call it (RUNTIME_CODE_ENTER, RUNTIME_CODE_SLOW)
 * @counted, @tested: labels of the routines for two clones (BURST_SWITCH_CODE_COUNTED,
 * BURST_SWITCH_CODE_TESTED)
 * @start:   label of a static program's entry
 */
struct stubs {
	struct machine_code code;
	uint64_t runtime;
	uint32_t enter;
	uint32_t slow;
	uint32_t counted[PROFILE_LAYOUT_COUNTERS];
	uint32_t tested;
	uint32_t start;
};

/**
 * stubs_make() - generate the code
 * @entry: original entry of a static program
 * @code:  words that the generated code sets and tests
 * @bursts: for two clones; NULL otherwise
 *
 * Return: 0 or -ENOMEM.
 */
int stubs_make(struct stubs *ret, uint64_t runtime, uint64_t entry, const struct runtime_code *code,
	       const struct burst_switch *bursts);

void stubs_deinit(struct stubs *stubs);

#endif
