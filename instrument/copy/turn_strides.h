/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that are put again behind themselves, with all that it needs to go round quickly: there a
 * check is for several turns. More of them would take caches from the rest.
 */
#ifndef DCPI_INSTRUMENT_TURN_STRIDES_H
#define DCPI_INSTRUMENT_TURN_STRIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "instrument/copy/turn_loops.h"

/*
 * Instructions of a loop that is put again, of its shortest ways round if it has more, and of all
 * turns; and at most so many turns.
 */
#define TURN_STRIDE_BODY 32
#define TURN_STRIDE_PART 16
#define TURN_STRIDE_INSNS 32
#define TURN_STRIDE_TURNS 4

/**
 * struct turn_stride - a loop
 * @edge:  one that leads back to its first block, which has a check
 * @first: turn_strides.blocks[first] .. blocks[first + count - 1] are what is put again: its
 *         first block, then as they lie
 * @turns: how often
 * @closed: nothing leads into the loop but where it begins, and nothing leads back but from what is
 *         put again. Then the check is behind the last turn in place of before the first one: who
 *         leaves before makes none, and comes back by another check only
 */
struct turn_stride {
	uint32_t edge;
	uint32_t first;
	uint32_t count;
	uint32_t turns;
	bool closed;
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
 * What is put again neither calls, asks the system nor jumps indirectly, and is on a way round
 * without another check: the whole loop if it has TURN_STRIDE_BODY instructions, else its shortest
 * ways round, TURN_STRIDE_PART of them, and the shortest one at any rate if it is no longer than
 * that. All ways back with a check that such jumps do not take lead there.
 * O(blocks), and for each loop of the blocks that are TURN_STRIDE_BODY instructions away at most.
 * Return: 0 or -ENOMEM.
 */
int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops);

/** turn_strides_add() - a loop of one block, by its edge back. Return: 0 or -ENOMEM. */
int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t block, uint32_t turns);

void turn_strides_deinit(struct turn_strides *strides);

#endif
