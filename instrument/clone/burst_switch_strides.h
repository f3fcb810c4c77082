/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops whose quickest iterations are replicated after the procedure's blocks, so that one check
 * covers several iterations. More replicas would displace other code from the caches.
 */
#ifndef DCPI_INSTRUMENT_BURST_SWITCH_STRIDES_H
#define DCPI_INSTRUMENT_BURST_SWITCH_STRIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "instrument/clone/burst_switch_loops.h"

/*
 * Limits in instructions: of a loop that is replicated whole, of the shortest cycles of a larger
 * loop, and of all replicas; then the maximum number of replicas.
 */
#define STRIDE_BODY 32
#define STRIDE_PART 16
#define STRIDE_INSNS 32
#define STRIDE_REPLICAS 4

/**
 * struct burst_stride - a replicated loop
 * @edge:  a checked back edge to the loop's header
 * @first: burst_switch_strides.blocks[first] .. blocks[first + count - 1] are replicated: the
 * header, then the others in order of address
 * @replicas: number of replicas
 * @closed: the loop is entered only at its header, and all back edges come from replicated blocks.
 *          The check is then after the last replica instead of before the first one: a path that
 *          leaves the loop earlier has no check, and can return only through another check
 */
struct burst_stride {
	uint32_t edge;
	uint32_t first;
	uint32_t count;
	uint32_t replicas;
	bool closed;
};

/** struct burst_switch_strides - zero-initialised is empty; freed by burst_switch_strides_deinit()
 */
struct burst_switch_strides {
	struct burst_stride *all;
	size_t count;
	size_t capacity;
	uint32_t *blocks;
	size_t block_count;
	size_t block_capacity;
};

/**
 * burst_switch_strides_leads_back() - return true if an edge is a checked back edge to a header, of
 * a kind that can lead to the loop's replicas
 */
bool burst_switch_strides_leads_back(const struct cfg *cfg, const struct burst_switch_loops *loops,
				     uint32_t header, uint32_t edge);

/**
 * burst_switch_strides_find() - find at most one stride for each loop header
 *
 * Replicated blocks contain no calls, system calls or indirect jumps, and are on a cycle without
 * another check. They are the whole loop if it has at most STRIDE_BODY instructions. Otherwise
 * they are its shortest cycles with STRIDE_PART instructions in total; a single cycle may have
 * up to STRIDE_BODY. All checked back edges, except those of indirect jumps, then lead to the
 * replicas.
 *
 * O(blocks), plus for each loop the blocks within STRIDE_BODY instructions.
 *
 * Return: 0 or -ENOMEM.
 */
int burst_switch_strides_find(struct burst_switch_strides *ret, const struct cfg *cfg,
			      const struct burst_switch_loops *loops);

/** burst_switch_strides_add() - add a loop of one block, by its back edge. Return: 0 or -ENOMEM. */
int burst_switch_strides_add(struct burst_switch_strides *strides, uint32_t edge, uint32_t block,
			     uint32_t replicas);

void burst_switch_strides_deinit(struct burst_switch_strides *strides);

#endif
