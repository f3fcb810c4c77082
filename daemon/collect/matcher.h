/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the image of a sample: the image map, and everything that keeps it up to date (image
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
struct archive_policy;
struct image_table;
struct jit_images;
struct kernel_images;
struct label_table;
struct matcher;
struct quota;
struct source;
struct counter_set;

/**
 * struct matcher_config - what to match
 * @source:                      opened, remains the caller's; provides generations
 * @image_events, @audit_socket: as for image_feed_open()
 * @per_process:                 as in struct collector_config; must outlive the matcher
 * @per_unit:                    as in struct collector_config; must outlive the matcher
 * @units:                       as in struct collector_config
 * @target_pid:                  as in struct collector_config
 * @user_only:                   as in struct collector_config
 * @policy:                      notified of images that are mapped; NULL: none
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
	struct archive_policy *policy;
};

/**
 * matcher_open() - subscribe to image events, and find all running processes
 *
 * Events are recorded before the scan begins, so that changes during the scan are seen twice rather
 * than never. The scan takes place in matcher_events(), for at most a few milliseconds per call, as
 * long as matcher_scanning().
 */
int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err);

/** matcher_close() - free everything. @matcher may be NULL. */
void matcher_close(struct matcher *matcher);

/**
 * matcher_describe() - write "; image events: ", their method and why it was chosen to @text of
 * size @bytes
 */
void matcher_describe(const struct matcher *matcher, char *text, size_t bytes);

/** matcher_poll_fd() - return a descriptor that is readable when many image events are pending. */
int matcher_poll_fd(struct matcher *matcher);

/**
 * matcher_events() - process the image events so far
 *
 * If some were lost, processes that have exited meanwhile are searched for one second later.
 *
 * Return: the time (CLOCK_MONOTONIC) up to which events are complete.
 */
uint64_t matcher_events(struct matcher *matcher);

/**
 * matcher_scanning() - return true if processes are to be read from /proc: call matcher_events().
 */
bool matcher_scanning(const struct matcher *matcher);

/** matcher_refresh() - check for kernel modules loaded or unloaded. */
void matcher_refresh(struct matcher *matcher);

/** matcher_generation() - return a generation, for sources without generations of their own. */
uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns);

/** matcher_changes() - as image_map_changes(). */
uint32_t matcher_changes(const struct matcher *matcher, uint32_t pid, uint64_t *since_ns);

/** matcher_place() - return the place of a PC in the process and generation of a tag. */
struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc);

/**
 * matcher_match() - match one sample, whether or not it is in the cache
 *
 * Return: valid until the next call of a function of the matcher.
 */
struct match *matcher_match(struct matcher *matcher, const struct dcpi_sample *sample);

/** matcher_command() - as image_map_command(). */
const char *matcher_command(const struct matcher *matcher, uint32_t pid);

/** matcher_is_profiler() - as image_map_is_profiler(), for the process and generation of a tag. */
bool matcher_is_profiler(const struct matcher *matcher, uint64_t tag);

/** matcher_label() - return the label of a process, for matches without one. */
uint32_t matcher_label(struct matcher *matcher, uint32_t pid);

/**
 * matcher_cache() - return the matcher's cache, for look-ups before calling the matcher. Owned by
 * the matcher.
 */
struct match_cache *matcher_cache(struct matcher *matcher);

/** matcher_expire() - drop data that ended before a time, which no later sample can need. */
void matcher_expire(struct matcher *matcher, uint64_t time_ns);

/**
 * matcher_crowded() - return true if a flush is urgent
 *
 * Many processes or versions of one have ended since the last matcher_expire().
 */
bool matcher_crowded(const struct matcher *matcher);

/**
 * matcher_unsettled() - return true if a flush should not be delayed
 *
 * The meaning of some addresses has changed since the last matcher_expire().
 */
bool matcher_unsettled(const struct matcher *matcher);

/**
 * matcher_uid() - return the user that is charged for work for a process
 *
 * Return: 0: root, or users have no limits, or the process is unknown.
 */
uint32_t matcher_uid(const struct matcher *matcher, uint32_t pid);

/** matcher_quota() - return the accounts of the users; owned by the matcher. */
const struct quota *matcher_quota(const struct matcher *matcher);

/** matcher_counters() - set "stat" counters since matcher_open(). */
void matcher_counters(const struct matcher *matcher, struct counter_set *tally);

/** matcher_processes() - return the number of known processes; @bytes: out: memory in use. */
size_t matcher_processes(const struct matcher *matcher, size_t *bytes);

/**
 * matcher_images() - return all images; matcher_kernel(), matcher_jit(): for their symbols. Owned
 * by the matcher.
 */
struct image_table *matcher_images(struct matcher *matcher);
struct kernel_images *matcher_kernel(struct matcher *matcher);
struct jit_images *matcher_jit(struct matcher *matcher);

/** matcher_labels() - return the labels seen so far; NULL if none are stored. */
const struct label_table *matcher_labels(const struct matcher *matcher);

/** matcher_divide() - re-read @per_process and @per_unit. */
void matcher_divide(struct matcher *matcher);

/** matcher_epoch() - an epoch begins, and no sample of the previous one is pending. */
void matcher_epoch(struct matcher *matcher);

#endif
