/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unwind tables of sampled images: requests them, and keeps the pages that are used.
 *
 * Tables are built in other processes (unwind_builder.h), one for root's processes, and one for
 * those of other users. Pages that were evicted are built again when a stack needs them: all that
 * were found to be missing in one image are one request.
 */
#ifndef DCPI_UNWIND_TABLES_H
#define DCPI_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_step.h"

struct counter_set;
struct stack_unwinder_code;
struct unwind_tables;

/** unwind_tables_create() - Return: NULL if out of memory. @code: must remain valid */
struct unwind_tables *unwind_tables_create(const struct stack_unwinder_code *code);
void unwind_tables_destroy(struct unwind_tables *tables);

/**
 * unwind_tables_find() - find the rule at an offset of an image
 * @pid:       process that maps the image. The image keeps its number from now on
 * @ret:       out, with UNWIND_WHERE_RULE: valid until the next call
 * @postponed: out: set to true with UNWIND_WHERE_WAITING if there was no CPU time for the table
 */
enum unwind_where unwind_tables_find(struct unwind_tables *tables, uint32_t image, uint64_t offset,
				     uint32_t pid, const struct unwind_rule **ret, bool *postponed);

/** unwind_tables_take() - take tables that have been built. Return: true if there were any. */
bool unwind_tables_take(struct unwind_tables *tables);

/** unwind_tables_request() - request the pages that unwind_tables_find() has found missing */
void unwind_tables_request(struct unwind_tables *tables);

/**
 * unwind_tables_wait() - wait for tables
 * @until_ns: maximum, CLOCK_MONOTONIC
 *
 * Return: false: none is ready, and none is being built or the time has passed.
 */
bool unwind_tables_wait(struct unwind_tables *tables, uint64_t until_ns);

/** unwind_tables_counters() - set "stat" counters since the start */
void unwind_tables_counters(const struct unwind_tables *tables, struct counter_set *tally);

/** unwind_tables_bytes() - memory in use */
size_t unwind_tables_bytes(const struct unwind_tables *tables);

#endif
