/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JIT code of all processes: the contents of their perf maps and jitdumps.
 *
 * A perf map is searched for when a process maps executable anonymous memory; a jitdump is opened
 * when the process maps it. Both are read further at each drain, so that code which replaces other
 * code gets a time even if the file contains none. Each program that a process runs has separate
 * code: exec begins another program, and code of ended programs is kept until jit_table_expire().
 *
 * Memory and reading time are limited by user (daemon/jit/jit_reading.h). Samples without a name
 * because of these limits are IMAGE_UNKNOWN_JIT_LIMIT.
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
struct counter_set;

int jit_table_create(struct jit_table **ret, struct image_table *images, struct error *err);
void jit_table_destroy(struct jit_table *table);

/**
 * jit_table_limit_users() - limit the CPU time for files of users other than root
 * @uid: finds the user of a process; @context: its argument
 */
void jit_table_limit_users(struct jit_table *table, uint32_t (*uid)(void *context, uint32_t pid),
			   void *context);

/** jit_table_event() - process an event; call this before the image map processes it. */
void jit_table_event(struct jit_table *table, const struct image_event *event);

/**
 * jit_table_drain() - read files; samples follow
 * @until_ns: the events are complete up to then
 */
void jit_table_drain(struct jit_table *table, uint64_t until_ns);

/**
 * jit_table_place() - find the image and offset of a PC in anonymous memory
 * @place: IMAGE_UNKNOWN_ANONYMOUS, as the image map returned it; set if the code is known,
 *         otherwise the reason is changed to IMAGE_UNKNOWN_JIT_LIMIT or IMAGE_UNKNOWN_JIT_AMBIGUOUS
 *         if that applies
 */
void jit_table_place(struct jit_table *table, uint32_t pid, uint64_t pc, struct image_place *place);

/** jit_table_expire() - no sample from before @time_ns will follow */
void jit_table_expire(struct jit_table *table, uint64_t time_ns);

/**
 * jit_table_unsettled() - return true if samples should be matched soon, by a flush
 *
 * Either addresses were reused since jit_table_expire(), so that samples counted by then belong to
 * the previous code. Or some code is not in memory, and a flush shows which code is sampled.
 */
bool jit_table_unsettled(const struct jit_table *table);

/**
 * jit_table_counters() - set "stat" counters since jit_table_create()
 *
 * jit_evicted: pieces of code dropped to stay within the memory limit. jit_postponed: how often
 * files of a process were not read because of the limit of its user. jit_user_ms: CPU time for
 * files of users except root. jit_parse_ms: CPU time of the processes that parse files.
 * jit_parse_failed: how often they gave no valid answer.
 */
void jit_table_counters(const struct jit_table *table, struct counter_set *tally);

/** jit_table_bytes() - return the memory in use. */
size_t jit_table_bytes(const struct jit_table *table);

/** jit_table_images() - return the procedures found, for the merge; owned by the table. */
struct jit_images *jit_table_images(struct jit_table *table);

#endif
