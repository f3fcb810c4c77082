/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Footprints: how many cache lines and pages each instruction accesses, from the addresses of data
 * at samples (kmod/core/access.h).
 *
 * Addresses are secrets of their processes. The store keeps hashes of line and page numbers, with a
 * key that is discarded when the store is cleared, and only counts of them leave it.
 *
 * If two threads access a line on different CPUs within FOOTPRINT_SHARING_NS, the instructions
 * share it. The most frequent partner is kept, with the positions of both in the line.
 *
 * The number of instructions is bounded: a new one replaces the one with the fewest samples among a
 * few random ones. So instructions that are sampled often stay, also if a program accesses data
 * with many more instructions.
 */
#ifndef DCPI_FOOTPRINT_STORE_H
#define DCPI_FOOTPRINT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/distinct_sketch.h"

#define FOOTPRINT_STORE_MAX 2048
#define FOOTPRINT_LINE_BYTES 64
#define FOOTPRINT_PAGE_BYTES 4096
#define FOOTPRINT_SHARING_NS UINT64_C(10000000)

struct footprint_store;

/**
 * struct footprint_access - an access of an instruction to data, at a sample
 * @offset:     of the instruction, in its image
 * @address:    of the data
 * @space:      number of the address space: equal addresses in different ones are different data
 * @stride:     distance to the address of the next execution, if @has_stride
 * @stack:      the data is in the thread's stack
 * @thread, @cpu, @time_ns: of the sample
 */
struct footprint_access {
	uint64_t offset;
	uint64_t address;
	uint64_t space;
	int64_t stride;
	uint64_t time_ns;
	uint32_t thread;
	uint32_t cpu;
	bool has_stride;
	bool stack;
};

/**
 * struct footprint_partner - an access of another thread to the same line
 * @offset:         of its instruction, in the same image
 * @byte, @own_byte: first byte of its data in the line, and of the footprint's own data
 */
struct footprint_partner {
	uint64_t offset;
	uint8_t byte;
	uint8_t own_byte;
};

/**
 * struct footprint - an instruction's accesses
 * @samples: number of accesses
 * @stack:   of these: to the stack
 * @strides: of these: with a stride
 * @stride:  the stride of most of them, if there is one of most of them
 * @equal:   at least this many more of @strides equal @stride than do not
 * @shared:  of @samples: another thread accessed the line
 * @partner: the most frequent partner in the image, if @partner_votes > 0
 * @lines, @pages: different cache lines and pages of all accesses
 */
struct footprint {
	uint64_t offset;
	uint64_t samples;
	uint64_t stack;
	uint64_t strides;
	uint64_t equal;
	int64_t stride;
	uint64_t shared;
	uint64_t partner_votes;
	struct footprint_partner partner;
	struct distinct_sketch lines;
	struct distinct_sketch pages;
};

/** footprint_store_create() - Return: NULL if out of memory. Freed by footprint_store_destroy(). */
struct footprint_store *footprint_store_create(void);
void footprint_store_destroy(struct footprint_store *store);

/** footprint_store_add() - add an access of an image; dropped and counted if out of memory */
void footprint_store_add(struct footprint_store *store, uint32_t image,
			 const struct footprint_access *access);

/** footprint_store_clear() - forget all accesses, and the key of the hashes */
void footprint_store_clear(struct footprint_store *store);

/** footprint_store_bytes() - memory in use */
size_t footprint_store_bytes(const struct footprint_store *store);

/** footprint_store_dropped() - accesses of instructions that were replaced, since the creation */
uint64_t footprint_store_dropped(const struct footprint_store *store);

/**
 * footprint_store_images() - visit the images with footprints, in any order
 * @visit: gets the footprints of an image, by ascending offset; anything but 0 ends the walk
 *
 * Return: what @visit returned last, 0, or -ENOMEM.
 */
int footprint_store_images(const struct footprint_store *store,
			   int (*visit)(void *context, uint32_t image,
					const struct footprint *const *footprints, size_t count),
			   void *context);

#endif
