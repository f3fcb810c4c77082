/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact edges, for count_plugin.c: from the last instruction of each block that
 * QEMU translated to the one executed next by the same thread.
 *
 * QEMU ends a block at every branch, whichever way it goes; elsewhere too (system
 * calls, pages, long blocks), and those edges are counted as well, under kind
 * "other". A handler of a signal is the successor of what it interrupted. A
 * block that is left in its middle (a fault) has no edge.
 */
#ifndef DCPI_TESTS_EDGE_COUNTS_H
#define DCPI_TESTS_EDGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/truth/guest_image.h"

/** enum edge_kind - what the instruction is that an edge comes from */
enum edge_kind {
	EDGE_OTHER,
	EDGE_CONDITIONAL,
	EDGE_INDIRECT,
	EDGE_DIRECT,
	EDGE_SYSTEM_CALL,
};

/** edge_kind_of() - @target: as QEMU names it; kinds are known for aarch64, alpha and x86_64. */
enum edge_kind edge_kind_of(const char *target, const void *code, size_t bytes);

struct edge_block;

/**
 * edge_block_create() - a translated block, for ever
 * @last: its last instruction, of @kind
 * @instructions: how many it has
 *
 * NULL without memory.
 */
struct edge_block *edge_block_create(struct guest_place first, struct guest_place last,
				     enum edge_kind kind, uint32_t instructions);

/**
 * edge_block_began(), edge_block_ended() - before its first and its last
 * instruction is executed (data: the block); callbacks of QEMU's
 */
void edge_block_began(unsigned int vcpu, void *block);
void edge_block_ended(unsigned int vcpu, void *block);

/** edge_counts_lock() - from now on, several threads may call these. */
void edge_counts_lock(void);

/**
 * edge_counts_write() - all edges, in order, as text:
 *
 *	KIND FROM_OFFSET TO_OFFSET COUNT WEIGHT <tab> FROM_PATH <tab> TO_PATH
 *
 * KIND is conditional, indirect, direct, system or other; offsets are
 * hexadecimal. WEIGHT is the number of instructions from which running forward
 * leads to this edge, over all executions: those after the conditional or
 * indirect branch or system call before it, with direct jumps followed, the
 * branch itself included, at most EDGE_REACH each time. A sampler of branches
 * by interpretation that strikes instructions at random and always succeeds
 * finds edges in these proportions.
 *
 * Return: 0 or -ENOMEM.
 */
#define EDGE_REACH 32
int edge_counts_write(FILE *file, char *const *images);

#endif
