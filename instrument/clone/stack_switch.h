/* SPDX-License-Identifier: GPL-2.0-only */
/* Find programs that switch stacks, for example for coroutines. */
#ifndef DCPI_INSTRUMENT_STACK_SWITCH_H
#define DCPI_INSTRUMENT_STACK_SWITCH_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "analysis/image/image_code.h"

/**
 * stack_switch_find() - true if a procedure changes to a stack that is not its own
 *
 * It calls swapcontext() or setcontext(), or its code sets the stack pointer to a value from memory
 * outside its frame or to one of its first three arguments. Switches in other images, by functions
 * of other names, are not recognized.
 */
bool stack_switch_find(const struct image_code *code, const struct cfg *cfg);

#endif
