/* SPDX-License-Identifier: GPL-2.0-only */
/* One instruction of x86-64. Private to interpret_x86_64.c and access_x86_64.c. */
#ifndef DCPI_X86_STEP_H
#define DCPI_X86_STEP_H

#include "x86_machine.h"

/** x86_machine_init() - begin at a state; reads memory with @read */
void x86_machine_init(struct machine *m, struct interpret_state *state, interpret_read_fn read,
		      void *context);

/**
 * x86_fetch() - decode the instruction at the state's PC
 * @end: out: the reason why there is none
 *
 * Return: true if @m->insn and @m->next are set.
 */
bool x86_fetch(struct machine *m, enum interpret_end *end);

/** x86_step() - interpret the decoded instruction; the caller sets the PC to @m->next */
enum step x86_step(struct machine *m);

#endif
