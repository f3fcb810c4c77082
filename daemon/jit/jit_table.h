/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JIT code of all processes: what their perf maps and jitdumps list.
 *
 * A perf map is looked for when a process has executable memory of no file, a
 * jitdump is opened when the process maps it. Both are read on with each
 * drain, so that code which replaces other code has a time even without one in the
 * file. Each program that a process runs has code of its own: exec begins another
 * one, and code of ended programs stays until jit_table_expire().
 *
 * Memory and reading time are limited by user (daemon/jit/jit_reading.h). Samples
 * that have no name because of it are IMAGE_UNKNOWN_JIT_LIMIT.
 */
#ifndef DCPI_JIT_TABLE_H
#define DCPI_JIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct image_event;
struct image_place;
struct image_table;
struct jit_images;
struct jit_table;
struct tally;

int jit_table_create(struct jit_table **ret, struct image_table *images, struct error *err);
void jit_table_destroy(struct jit_table *table);

/** jit_table_event() - take note of an event; before the image map does. */
void jit_table_event(struct jit_table *table, const struct image_event *event);

/**
 * jit_table_drain() - samples follow
 * @until_ns: the events are complete up to then
 */
void jit_table_drain(struct jit_table *table, uint64_t until_ns);

/**
 * jit_table_place() - where a PC in memory of no file is
 * @place: IMAGE_UNKNOWN_ANONYMOUS, as the image map has it; set if the code is known, else
 *         the reason becomes IMAGE_UNKNOWN_JIT_LIMIT or IMAGE_UNKNOWN_JIT_AMBIGUOUS if
 *         one of these is why
 */
void jit_table_place(struct jit_table *table, uint32_t pid, uint64_t pc, struct image_place *place);

/**
 * jit_table_expire() - no sample from before @time_ns will follow
 */
void jit_table_expire(struct jit_table *table, uint64_t time_ns);

/**
 * jit_table_unsettled() - whether samples should be matched soon, by a flush
 *
 * Addresses were reused since jit_table_expire(), so that samples counted by then are the former
 * code's; or memory does not hold all code, so that it must become known which is sampled.
 */
bool jit_table_unsettled(const struct jit_table *table);

/**
 * jit_table_counters() - "stat" counters since it was created
 *
 * jit_evicted: pieces of code dropped to stay within the memory limit.
 */
void jit_table_counters(const struct jit_table *table, struct tally *tally);

/** jit_table_bytes() - memory in use. */
size_t jit_table_bytes(const struct jit_table *table);

/** jit_table_images() - the procedures found, for the merge; stay the table's. */
struct jit_images *jit_table_images(struct jit_table *table);

#endif
