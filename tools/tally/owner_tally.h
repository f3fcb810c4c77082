/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples added up by whose they are: by systemd unit, container or process, by host or
 * by epoch.
 *
 * Units and containers come from the shares that a database keeps of all
 * samples; processes from the profiles that are kept by process, which are those
 * of images asked for.
 */
#ifndef DCPI_OWNER_TALLY_H
#define DCPI_OWNER_TALLY_H

#include "tools/tally/tally.h"

struct owner_tally;

/** enum owner_by - what a row is. */
enum owner_by {
	OWNER_BY_UNIT,
	OWNER_BY_CONTAINER,
	OWNER_BY_PROCESS,
	OWNER_BY_HOST,
	OWNER_BY_EPOCH,
};

/**
 * struct owner_tally_config - what to add up
 * @events, @event_count, @filter, @image, @scale: as in struct tally_config; the
 *          filter's pid chooses rows of processes, and samples of hosts and epochs
 * @include_profiler: rows have samples of the profiler's images, too
 */
struct owner_tally_config {
	enum owner_by by;
	const char *const *events;
	size_t event_count;
	struct profile_filter filter;
	const char *image;
	const struct event_scale *scale;
	bool include_profiler;
};

/**
 * struct owner_row - a unit, a container, a process, a host or an epoch
 * @unit:      of processes: the last one known; "" none or not known
 * @container: likewise; "" in rows of units
 * @command:   of processes; else ""
 * @pid:       of processes; -1: the row of all samples not kept by process
 * @host:      of hosts and epochs
 * @label:     of epochs; @epoch: its number, @start_ns: since 1970
 * @counts:    samples by event
 */
struct owner_row {
	const char *unit;
	const char *container;
	const char *command;
	int64_t pid;
	const char *host;
	const char *label;
	int64_t epoch;
	int64_t start_ns;
	struct tally_count *counts;
};

/**
 * owner_tally_create() - add up
 * @ret: out; freed by owner_tally_destroy()
 *
 * Rows come by decreasing samples of the first event, then of the next; epochs as they began.
 *
 * Return: 0; -ENOMEM; -EBADMSG shares that add up to more than there is; or the
 * reader's error.
 */
int owner_tally_create(struct owner_tally **ret, struct profile_reader *reader,
		       const struct owner_tally_config *config, struct error *err);

/** owner_tally_destroy() - NULL is fine. */
void owner_tally_destroy(struct owner_tally *tally);

/** owner_tally_known() - whether the epochs have any labels, or processes, at all. */
bool owner_tally_known(const struct owner_tally *tally);

size_t owner_tally_row_count(const struct owner_tally *tally);
const struct owner_row *owner_tally_row(const struct owner_tally *tally, size_t index);

/** owner_tally_total() - samples of an event, of all images. */
const struct tally_count *owner_tally_total(const struct owner_tally *tally, size_t event);

/**
 * owner_tally_excluded() - samples of an event in the profiler's images: a part of
 * owner_tally_total(), in no row
 */
const struct tally_count *owner_tally_excluded(const struct owner_tally *tally, size_t event);

#endif
