/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a sample to its image: the image map, and all that keeps it true (side
 * band, scans of /proc, the kernel's own images).
 */
#ifndef DCPI_MATCHER_H
#define DCPI_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image_map.h"

struct dcpi_sample;
struct error;
struct image_table;
struct kernel_images;
struct matcher;
struct source;
struct tally;

/**
 * struct matcher_config - what to match
 * @source:      opened, stays the caller's; asked for generations
 * @per_process: struct collector_config's; must outlive the matcher
 * @target_pid:  likewise
 * @user_only:   likewise
 */
struct matcher_config {
	struct source *source;
	const char *per_process;
	uint32_t target_pid;
	bool user_only;
};

/**
 * matcher_open() - follow image events from now on, and find what runs already
 *
 * The side band is opened before the scan, so that what happens during the
 * scan is seen twice rather than never.
 */
int matcher_open(struct matcher **ret, const struct matcher_config *config, struct error *err);

/** matcher_close() - NULL is fine. */
void matcher_close(struct matcher *matcher);

/** matcher_poll_fd() - readable when many image events are waiting. */
int matcher_poll_fd(struct matcher *matcher);

/**
 * matcher_events() - take note of the image events so far
 *
 * Return: the time (CLOCK_MONOTONIC) up to which they are complete.
 */
uint64_t matcher_events(struct matcher *matcher);

/** matcher_refresh() - look for kernel modules loaded or unloaded. */
void matcher_refresh(struct matcher *matcher);

/** matcher_generation() - for sources without generations of their own. */
uint32_t matcher_generation(struct matcher *matcher, uint32_t pid, uint64_t time_ns);

/**
 * struct match - where a sample belongs
 * @place:      image and offset
 * @by_process: whether its image is profiled by process
 * @command:    if so, name of the process; valid until the next image event
 */
struct match {
	struct image_place place;
	bool by_process;
	const char *command;
};

/** matcher_place() - where a PC is in the process and generation of a tag. */
struct image_place matcher_place(struct matcher *matcher, uint64_t tag, uint64_t pc);

/** matcher_match() - match one sample. */
struct match matcher_match(struct matcher *matcher, const struct dcpi_sample *sample);

/** matcher_expire() - forget what ended before a time, and of which no sample can follow. */
void matcher_expire(struct matcher *matcher, uint64_t time_ns);

/**
 * matcher_crowded() - whether so many processes ended since the last
 * matcher_expire() that the next one should not be put off
 */
bool matcher_crowded(const struct matcher *matcher);

/** matcher_counters() - "stat" counters since it was opened. */
void matcher_counters(const struct matcher *matcher, struct tally *tally);

/** matcher_processes() - processes known, and bytes used. */
size_t matcher_processes(const struct matcher *matcher, size_t *bytes);

/** matcher_images() - the images met; matcher_kernel(): for their symbols. Stay the matcher's. */
struct image_table *matcher_images(struct matcher *matcher);
struct kernel_images *matcher_kernel(struct matcher *matcher);

#endif
