/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small loops that are put again behind their checks, all of them that needs nobody else: there a
 * check is for several turns. More of them would take caches from the rest. A larger loop is as
 * slow with a check as without.
 */
#ifndef DCPI_INSTRUMENT_TURN_STRIDES_H
#define DCPI_INSTRUMENT_TURN_STRIDES_H

#include <stddef.h>

#include "instrument/copy/turn_loops.h"

/* Instructions of a loop that is put again, of all turns, and at most so many of these. */
#define TURN_STRIDE_BODY 32
#define TURN_STRIDE_INSNS 32
#define TURN_STRIDE_TURNS 4

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
 * What is put again are all blocks that neither call, ask the system nor jump indirectly, and are
 * on a way round without another check. All ways back with a check lead there. A loop with more
 * instructions from which such a way leads back is not put again.
 * O(blocks) and O(TURN_STRIDE_BODY) for each loop. Return: 0 or -ENOMEM.
 */
int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops);

/** turn_strides_add() - a loop of one block, by its edge back. Return: 0 or -ENOMEM. */
int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t block, uint32_t turns);

void turn_strides_deinit(struct turn_strides *strides);

#endif
