/* SPDX-License-Identifier: GPL-2.0-only */
/* What interpreting an instruction comes to, on any machine. Private to the interpreters. */
#ifndef DCPI_INTERPRET_STEP_H
#define DCPI_INTERPRET_STEP_H

#include "core_env.h"

/** enum step - how to go on after an instruction */
enum step {
	STEP_NEXT,	  /* at @next */
	STEP_EDGE,	  /* it was a branch, to @next */
	STEP_UNKNOWN,	  /* a branch to nobody knows where */
	STEP_UNSUPPORTED, /* undefined, trapping, or not understood */
};

/** struct operand - a value, on x86 of some bytes, the others zero; 0 if it is not known */
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
