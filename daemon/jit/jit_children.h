/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that have forked without an exec: they run the JIT code that their parent had then.
 * Private to the table (daemon/jit/jit_table.h).
 */
#ifndef DCPI_JIT_CHILDREN_H
#define DCPI_JIT_CHILDREN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

/* Maximum number of children; more are ignored. */
#define JIT_CHILDREN_MAX 65536

/** struct jit_child - a child; @ended: number of expiries since its end, plus one; 0: alive */
struct jit_child {
	uint32_t parent;
	unsigned int ended;
	uint64_t forked_ns;
};

/** struct jit_children - zero-initialised is empty; @map: from process ids, private */
struct jit_children {
	struct u64_map map;
};

void jit_children_deinit(struct jit_children *children);

/** jit_children_find() - return a child, valid until it is removed; NULL: it is none */
const struct jit_child *jit_children_find(const struct jit_children *children, uint32_t pid);

/** jit_children_add() - add or replace a child. Return: 0; -ENOMEM; -E2BIG. */
int jit_children_add(struct jit_children *children, uint32_t pid, const struct jit_child *child);

void jit_children_remove(struct jit_children *children, uint32_t pid);

/** jit_children_end() - a process has ended, but samples of it may follow until an expiry */
void jit_children_end(struct jit_children *children, uint32_t pid);

/** jit_children_expire() - remove children that had ended before the last call */
void jit_children_expire(struct jit_children *children);

/** jit_children_next() - iterate; see u64_map_next(). Return: NULL at the end. */
const struct jit_child *jit_children_next(const struct jit_children *children, size_t *cursor);

/** jit_children_bytes() - return the memory in use */
size_t jit_children_bytes(const struct jit_children *children);

#endif
