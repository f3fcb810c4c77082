/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact edges, for count_plugin.c: from the last instruction of each translated block to the
 * instruction that the same thread executes next.
 *
 * QEMU ends a block at every branch, taken or not. It also ends blocks elsewhere (at system calls,
 * pages, long blocks); their edges are counted as well, with kind "other". A signal handler is the
 * successor of the interrupted block. A block that is left in its middle (a fault) has no edge.
 */
#ifndef DCPI_TESTS_EDGE_COUNTS_H
#define DCPI_TESTS_EDGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/eval/truth/guest_image.h"

/** enum edge_kind - kind of the instruction from which an edge comes */
enum edge_kind {
	EDGE_OTHER,
	EDGE_CONDITIONAL,
	EDGE_INDIRECT,
	EDGE_DIRECT,
	EDGE_SYSTEM_CALL,
};

/**
 * edge_kind_of() - classify an instruction. @target: QEMU's name of the architecture; kinds are
 * known for aarch64, alpha and x86_64.
 */
enum edge_kind edge_kind_of(const char *target, const void *code, size_t bytes);

struct edge_block;

/**
 * edge_block_create() - create a translated block, which is never freed
 * @last: its last instruction, of @kind
 * @instructions: number of its instructions
 *
 * Return: the block, or NULL without memory.
 */
struct edge_block *edge_block_create(struct guest_place first, struct guest_place last,
				     enum edge_kind kind, uint32_t instructions);

/**
 * edge_block_began(), edge_block_ended() - QEMU callbacks before the first and before the last
 * instruction of a block is executed; their data is the block
 */
void edge_block_began(unsigned int vcpu, void *block);
void edge_block_ended(unsigned int vcpu, void *block);

/** edge_counts_lock() - enable locking, as several threads may call these functions from now on. */
void edge_counts_lock(void);

/**
 * edge_counts_write() - write all edges, sorted, as text:
 *
 *	KIND FROM_OFFSET TO_OFFSET COUNT WEIGHT <tab> FROM_PATH <tab> TO_PATH
 *
 * KIND is conditional, indirect, direct, system or other; offsets are hexadecimal. WEIGHT is the
 * number of instructions from which forward execution leads to this edge, over all executions.
 * These are the branch itself and the instructions after the previous conditional or indirect
 * branch or system call, with direct jumps followed, at most EDGE_REACH each time. A sampler of
 * branches by interpretation that samples instructions uniformly and always succeeds finds edges in
 * these proportions.
 *
 * Return: 0 or -ENOMEM.
 */
#define EDGE_REACH 32
int edge_counts_write(FILE *file, char *const *images);

#endif
