/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a sample to its image: the image map, and all that keeps it true (image
 * events, scans of /proc, the kernel's own images).
 */
#ifndef DCPI_MATCHER_H
#define DCPI_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/match_cache.h"
#include "daemon/image/image_map.h"

struct error;
struct image_keeper;
struct image_table;
struct jit_images;
struct kernel_images;
struct label_table;
struct matcher;
struct quota;
struct source;
struct tally;

/**
 * struct matcher_config - what to match
 * @source:      opened, stays the caller's; asked for generations
 * @image_events, @audit_socket: as for image_feed_open()
 * @per_process: struct collector_config's; must outlive the matcher
 * @per_unit:    likewise
 * @units:       likewise
 * @target_pid:  likewise
 * @user_only:   likewise
 * @keeper:      told of the images met; NULL: nobody is
 */
struct matcher_config {
	struct source *source;
	const char *image_events;
	const char *audit_socket;
	const char *per_process;
	const char *per_unit;
	bool units;
	uint32_t target_pid;
	bool user_only;
	struct image_keeper *keeper;
};

/**
 * matcher_open() - follow image events from now on, and find what runs already
 *
 * Events are recorded before the scan begins, so that what happens during the
 * scan is seen twice rather than never. The scan takes place in matcher_events(), for at most
 * a few milliseconds at each call, as long as matcher_scanning().
 */
int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err);

/** matcher_close() - NULL is fine. */
void matcher_close(struct matcher *matcher);

/** matcher_describe() - "; image events: " and who tells them, and why; @bytes of room */
void matcher_describe(const struct matcher *matcher, char *text, size_t bytes);

/** matcher_poll_fd() - readable when many image events are waiting. */
int matcher_poll_fd(struct matcher *matcher);

/**
 * matcher_events() - take note of the image events so far
 *
 * If some were lost, processes that have ended meanwhile are looked for a second later.
 *
 * Return: the time (CLOCK_MONOTONIC) up to which they are complete.
 */
uint64_t matcher_events(struct matcher *matcher);

/** matcher_scanning() - whether processes wait to be read from /proc: call matcher_events(). */
bool matcher_scanning(const struct matcher *matcher);

/** matcher_refresh() - look for kernel modules loaded or unloaded. */
void matcher_refresh(struct matcher *matcher);

/** matcher_generation() - for sources without generations of their own. */
uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns);

/** matcher_changes() - as image_map_changes(). */
uint32_t matcher_changes(const struct matcher *matcher, uint32_t pid, uint64_t *since_ns);

/** matcher_place() - where a PC is in the process and generation of a tag. */
struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc);

/**
 * matcher_match() - match one sample, whether that was found before or not
 *
 * Return: valid until the next call of the matcher's.
 */
struct match *matcher_match(struct matcher *matcher, const struct dcpi_sample *sample);

/** matcher_command() - as image_map_command(). */
const char *matcher_command(const struct matcher *matcher, uint32_t pid);

/** matcher_label() - the label of a process, where a match has none. */
uint32_t matcher_label(struct matcher *matcher, uint32_t pid);

/** matcher_cache() - what it has found, to look into before asking. Stays the matcher's. */
struct match_cache *matcher_cache(struct matcher *matcher);

/** matcher_expire() - forget what ended before a time, and of which no sample can follow. */
void matcher_expire(struct matcher *matcher, uint64_t time_ns);

/**
 * matcher_crowded() - whether so many processes or versions of one ended since
 * the last matcher_expire() that the next one should not be put off
 */
bool matcher_crowded(const struct matcher *matcher);

/**
 * matcher_unsettled() - whether addresses mean something else since the last
 * matcher_expire(), so that a flush should not be put off
 */
bool matcher_unsettled(const struct matcher *matcher);

/** matcher_quota() - the accounts of the users; stays the matcher's. */
const struct quota *matcher_quota(const struct matcher *matcher);

/** matcher_counters() - "stat" counters since it was opened. */
void matcher_counters(const struct matcher *matcher, struct tally *tally);

/** matcher_processes() - processes known, and bytes used. */
size_t matcher_processes(const struct matcher *matcher, size_t *bytes);

/**
 * matcher_images() - the images met; matcher_kernel(), matcher_jit(): for their
 * symbols. Stay the matcher's.
 */
struct image_table *matcher_images(struct matcher *matcher);
struct kernel_images *matcher_kernel(struct matcher *matcher);
struct jit_images *matcher_jit(struct matcher *matcher);

/** matcher_labels() - the labels met; NULL if none are kept. */
const struct label_table *matcher_labels(const struct matcher *matcher);

/** matcher_divide() - look at @per_process and @per_unit again. */
void matcher_divide(struct matcher *matcher);

/** matcher_epoch() - an epoch begins, and no sample of the last one is waiting. */
void matcher_epoch(struct matcher *matcher);

#endif
