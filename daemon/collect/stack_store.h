/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampled call stacks on their way to the database: a tree of the calls in an epoch.
 *
 * A node is an address in the frame of its parent: the call site, or the sampled instruction. Equal
 * stacks share all nodes, and stacks with the same callers share these. The weight of a node is the
 * sum of the weights of the stacks that end there: 1 for a sample, a time for off-CPU time.
 *
 * Whole stacks rarely repeat, so the tree would grow without bound. When it is full, the nodes
 * with the smallest totals are merged into their parents, until half of the nodes are left. The
 * weight that loses frames is counted, each time.
 *
 * Invariants: the number of a parent is less than those of its children. Node 0 is the root.
 */
#ifndef DCPI_STACK_STORE_H
#define DCPI_STACK_STORE_H

#include <stddef.h>
#include <stdint.h>

#define STACK_STORE_NODES_MAX 65536

struct stack_store;

/** struct stack_frame - an address: @offset in the file of an image, by its number */
struct stack_frame {
	uint32_t image;
	uint64_t offset;
};

/**
 * struct stack_store_node - see above
 * @stacks: number of stacks that end here; at most UINT32_MAX
 * @weight: of these
 */
struct stack_store_node {
	struct stack_frame frame;
	uint32_t parent;
	uint32_t stacks;
	uint64_t weight;
};

/**
 * struct stack_store_counts - number of stacks and their weights
 * @stacks, @weight: of the epoch; the others since the start
 * @pruned:          weight that lost frames
 * @refused:         stacks that are lost because there was no memory; @refused_weight: of these
 */
struct stack_store_counts {
	uint64_t stacks;
	uint64_t weight;
	uint64_t pruned;
	uint64_t refused;
	uint64_t refused_weight;
};

/** struct stack_store_amount - what to add: a number of stacks, and their weight */
struct stack_store_amount {
	uint32_t stacks;
	uint64_t weight;
};

/** stack_store_create() - Return: NULL if out of memory. Freed by stack_store_destroy(). */
struct stack_store *stack_store_create(uint32_t nodes_max);
void stack_store_destroy(struct stack_store *store);

/** stack_store_add() - add equal stacks. @frames: outermost first. O(count) */
void stack_store_add(struct stack_store *store, const struct stack_frame *frames, size_t count,
		     struct stack_store_amount amount);

/** stack_store_nodes() - return the nodes; valid until the store changes */
const struct stack_store_node *stack_store_nodes(const struct stack_store *store, uint32_t *count);

/** stack_store_images() - return the images of all nodes of the epoch, including pruned ones */
const uint32_t *stack_store_images(const struct stack_store *store, size_t *count);

struct stack_store_counts stack_store_counts(const struct stack_store *store);

/** stack_store_clear() - forget all stacks: an epoch begins */
void stack_store_clear(struct stack_store *store);

/** stack_store_bytes() - memory in use */
size_t stack_store_bytes(const struct stack_store *store);

#endif
