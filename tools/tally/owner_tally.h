/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums samples by owner: by systemd unit, container, process or command, by host or by epoch.
 *
 * Units and containers come from the shares that a database stores for all samples. Processes and
 * commands come from the profiles that are stored by process, which exist only for selected images.
 */
#ifndef DCPI_OWNER_TALLY_H
#define DCPI_OWNER_TALLY_H

#include "tools/tally/tally.h"

struct owner_tally;

/** enum owner_by - kind of the rows */
enum owner_by {
	OWNER_BY_UNIT,
	OWNER_BY_CONTAINER,
	OWNER_BY_PROCESS,
	OWNER_BY_COMMAND, /* all processes with a name */
	OWNER_BY_HOST,
	OWNER_BY_EPOCH,
};

/**
 * struct owner_tally_config - configuration of a tally
 * @events, @event_count, @filter, @image, @scale: as in struct tally_config; the filter's pid
 *     selects rows of processes, and samples of hosts and epochs
 * @include: classes of samples that rows include
 * @debug: where symbols may be found
 */
struct owner_tally_config {
	enum owner_by by;
	const char *const *events;
	size_t event_count;
	struct profile_filter filter;
	const char *image;
	const struct event_scale *scale;
	struct included_samples include;
	struct debug_file_options debug;
};

/**
 * struct owner_row - a unit, a container, a process, a host or an epoch
 * @unit:      for processes: the last known one; "" if none or unknown
 * @container: for processes: the last known one; "" in rows of units
 * @command:   for processes and commands; else ""
 * @pid:       for processes; -1: the row of all samples not stored by process; commands: 0
 * @host:      for hosts and epochs
 * @label:     for epochs; @epoch: its number, @start_ns: since 1970
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
 * owner_tally_create() - sum the samples
 * @ret: out; freed by owner_tally_destroy()
 *
 * Rows are in descending order of samples of the first event, then of the next; epochs are in order
 * of their start.
 *
 * Return: 0; -ENOMEM; -EBADMSG: the shares exceed the number of samples; or the reader's error.
 */
int owner_tally_create(struct owner_tally **ret, struct profile_reader *reader,
		       const struct owner_tally_config *config, struct error *err);

/** owner_tally_destroy() - free; @tally may be NULL */
void owner_tally_destroy(struct owner_tally *tally);

/** owner_tally_known() - return true if the epochs have any labels or processes */
bool owner_tally_known(const struct owner_tally *tally);

size_t owner_tally_row_count(const struct owner_tally *tally);
const struct owner_row *owner_tally_row(const struct owner_tally *tally, size_t index);

/** owner_tally_total() - return the samples of an event, in all images */
const struct tally_count *owner_tally_total(const struct owner_tally *tally, size_t event);

/**
 * owner_tally_excluded() - return the excluded samples of an event
 * @class: PROFILER_WHOLE or PROFILER_IDLE
 *
 * They are part of owner_tally_total(), but of no row.
 */
const struct tally_count *owner_tally_excluded(const struct owner_tally *tally,
					       enum profiler_class class, size_t event);

#endif
