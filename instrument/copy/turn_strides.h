/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small loops that go on for several turns with one check: behind it the loop is put again, a
 * few times, one behind the other. If it is not so small, its shortest ways round are: who leaves
 * them is in the loop as it was, where each turn has a check.
 */
#ifndef DCPI_INSTRUMENT_TURN_STRIDES_H
#define DCPI_INSTRUMENT_TURN_STRIDES_H

#include <stddef.h>

#include "instrument/copy/turn_loops.h"

/* Instructions of a loop that are put again, of all times, and at most so often. */
#define TURN_STRIDE_BODY 64
#define TURN_STRIDE_INSNS 480
#define TURN_STRIDE_TURNS 15

/**
 * struct turn_stride - a loop
 * @edge:  one that leads back to its first block, which has a check
 * @first: turn_strides.blocks[first] .. blocks[first + count - 1] are what is put again: its
 *         first block, then as they lie
 * @turns: how often
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
	uint32_t *blocks;
	size_t block_count;
	size_t block_capacity;
};

/**
 * turn_strides_leads_back() - whether an edge is a way back with a check to a block, of those
 * that lead to where its loop is put again
 */
bool turn_strides_leads_back(const struct cfg *cfg, const struct turn_loops *loops, uint32_t header,
			     uint32_t edge);

/**
 * turn_strides_find() - find them: at most one of each block that loops begin with
 *
 * Nothing that is put again calls, asks the system, or jumps indirectly, and all of it is on a
 * way round without another check. All ways back with a check lead there.
 * O(blocks in reach squared) for each loop. Return: 0 or -ENOMEM.
 */
int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops);

/** turn_strides_add() - a loop of one block, by its edge back. Return: 0 or -ENOMEM. */
int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t block, uint32_t turns);

void turn_strides_deinit(struct turn_strides *strides);

#endif
