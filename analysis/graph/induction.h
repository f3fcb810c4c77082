/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Induction variables: registers that each iteration of a loop changes by the same constant.
 * Source: Aho, Lam, Sethi and Ullman, Compilers, 2007, section 9.1.8.
 *
 * An iteration leads from the loop's header to the header again. Along all paths from the header,
 * each register's value is followed as "value of a register at the header + constant". The value
 * becomes unknown where paths with different values meet. An induction variable has, at all back
 * edges, its own value at the header + a constant other than 0. This includes registers that are
 * changed in several places, and that are moved through others. Calls are taken to change the
 * registers of results only.
 */
#ifndef DCPI_INDUCTION_H
#define DCPI_INDUCTION_H

#include <stddef.h>

#include "analysis/graph/cfg.h"
#include "analysis/graph/loop_nest.h"

#define INDUCTION_REGISTERS 32

/**
 * struct induction - an induction variable
 * @bytes: 8, or 4: only the low half of the register counts
 * @step:  change in each iteration; 0: the register is none
 */
struct induction {
	uint8_t bytes;
	int64_t step;
};

/**
 * induction_find() - find the induction variables of a loop
 * @ret: out: one for each general register
 * @loop: a loop of @nest; one that is entered in several places has none
 *
 * O(instructions of the loop x general registers).
 *
 * Return: how many there are, or -ENOMEM.
 */
int induction_find(struct induction ret[INDUCTION_REGISTERS], const struct cfg *cfg,
		   const struct loop_nest *nest, uint32_t loop);

#endif
