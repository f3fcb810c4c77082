/* SPDX-License-Identifier: GPL-2.0-only */
/* The result of interpreting one instruction, on any machine. Private to the interpreters. */
#ifndef DCPI_INTERPRET_STEP_H
#define DCPI_INTERPRET_STEP_H

#include "core_env.h"

/** enum step - how to continue after an instruction */
enum step {
	STEP_NEXT,	  /* continue at @next */
	STEP_EDGE,	  /* the instruction was a branch to @next */
	STEP_UNKNOWN,	  /* a branch whose target is unknown */
	STEP_UNSUPPORTED, /* undefined, trapping, or not understood */
};

/** struct operand - a value, 0 if unknown; on x86 it has some bytes, and the upper ones are zero */
struct operand {
	u64 value;
	bool known;
};

static inline struct operand operand(u64 value)
{
	return (struct operand){.value = value, .known = true};
}

static inline struct operand unknown(void)
{
	return (struct operand){.value = 0, .known = false};
}

#endif
