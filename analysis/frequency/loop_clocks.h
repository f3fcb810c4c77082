/* SPDX-License-Identifier: GPL-2.0-only */
/* All clocks of a procedure: those of its loops, and those of counters in them. */
#ifndef DCPI_LOOP_CLOCKS_H
#define DCPI_LOOP_CLOCKS_H

#include "analysis/frequency/loop_clock.h"

/**
 * loop_clocks_visit() - read the clocks of a procedure
 * @visit: gets each loop's clock, @read: what loop_clock_read() returned; and the clocks of
 * counters whose blocks have none
 *
 * Return: 0 or -ENOMEM.
 */
int loop_clocks_visit(const struct cfg *cfg, const struct procedure_profile *profile,
		      void (*visit)(void *context, const struct loop_clock *clock, int read),
		      void *context);

#endif
