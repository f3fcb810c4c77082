/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small loops that go on for several turns with one check: behind it the shortest way round
 * is put again, a few times, one behind the other. Who leaves that way is in the loop as it
 * was, where each turn has a check.
 */
#ifndef DCPI_INSTRUMENT_TURN_STRIDES_H
#define DCPI_INSTRUMENT_TURN_STRIDES_H

#include <stddef.h>

#include "instrument/copy/turn_loops.h"

/* Instructions that one loop is put again with, all together, and at most so often. */
#define TURN_STRIDE_INSNS 192
#define TURN_STRIDE_TURNS 15

/**
 * struct turn_stride - a loop
 * @edge:  the one that leads back, which has a check
 * @first: turn_strides.ways[first] .. ways[first + count - 1] are the edges from where that
 *         leads on to where it begins; none: the loop is one block
 * @turns: how often it is put again
 */
struct turn_stride {
	uint32_t edge;
	uint32_t first;
	uint32_t count;
	uint32_t turns;
};

/** struct turn_strides - zero-initialised is empty; freed by turn_strides_deinit() */
struct turn_strides {
	struct turn_stride *all;
	size_t count;
	size_t capacity;
	uint32_t *ways;
	size_t way_count;
	size_t way_capacity;
};

/**
 * turn_strides_find() - find them: at most one of each block that loops begin with
 *
 * Nothing on the way calls, asks the system, or jumps indirectly, nor has it another check.
 * Return: 0 or -ENOMEM.
 */
int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops);

/** turn_strides_add() - a loop of one block, by its edge back. Return: 0 or -ENOMEM. */
int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t turns);

void turn_strides_deinit(struct turn_strides *strides);

#endif
