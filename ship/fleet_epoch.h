/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Epochs in the engine, in groups whose samples the engine adds up. The epochs of a group have the
 * same events with the same periods, so that their samples have the same weights. An epoch whose
 * events took turns on the counters is alone in its group.
 */
#ifndef DCPI_FLEET_EPOCH_H
#define DCPI_FLEET_EPOCH_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"
#include "ship/engine.h"

/** enum fleet_grouping - epochs that are in different groups */
enum fleet_grouping {
	FLEET_BY_EVENTS, /* of different events or periods */
	FLEET_BY_HOST,	 /* and of different hosts */
	FLEET_BY_EPOCH,	 /* all */
};

/**
 * struct fleet_filter - selects slices
 * @since_ns, @until_ns: slices that start in this time; 0: any
 * @last_s: at the end of the data: slices that start at most this many seconds before it; 0: any
 * @host:   name; NULL: all
 */
struct fleet_filter {
	int64_t since_ns;
	int64_t until_ns;
	uint64_t last_s;
	const char *host;
	enum fleet_grouping grouping;
};

#define FLEET_UUID_BYTES 40

struct fleet_event {
	struct profile_event event;
	char *name;
	char *unit;
};

/**
 * struct fleet_epoch - an epoch; texts are owned by it
 * @start_ns, @end_ns, @interrupts: of its selected slices
 * @group:   equal for epochs of a group
 */
struct fleet_epoch {
	char uuid[FLEET_UUID_BYTES];
	char host[FLEET_UUID_BYTES];
	char *name;
	char *cpu_model;
	char *kernel;
	char *source;
	char *label;
	uint64_t cpus;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t interrupts;
	struct fleet_event *events;
	size_t event_count;
	size_t event_capacity;
	char *group;
};

/** struct fleet - selected epochs, sorted by group; zero-initialised is empty */
struct fleet {
	struct fleet_epoch *epochs;
	size_t count;
	size_t capacity;
};

/**
 * fleet_read() - read the epochs that have selected slices
 * @filter: in and out: @last_s is converted to @since_ns
 */
int fleet_read(struct fleet *fleet, struct engine *engine, struct fleet_filter *filter,
	       struct error *err);

void fleet_deinit(struct fleet *fleet);

/** fleet_group_end() - return the index after the last epoch of the group that begins at @first */
size_t fleet_group_end(const struct fleet *fleet, size_t first);

/**
 * fleet_condition() - return the condition of the slices of a group, malloc'd; NULL: no memory
 *
 * Its columns are epoch and start_ns.
 */
char *fleet_condition(const struct fleet *fleet, size_t first, size_t end,
		      const struct fleet_filter *filter);

/** struct fleet_group - a group as one epoch; its texts belong to the group or its epochs */
struct fleet_group {
	struct profile_epoch epoch;
	int64_t end_ns;
	uint64_t interrupts;
	size_t hosts;
	char host[64];
	char reason[128];
};

/**
 * fleet_group_describe() - describe a group. Texts that differ between its epochs are "several".
 *
 * Return: 0; -EBADMSG sums are out of range.
 */
int fleet_group_describe(struct fleet_group *group, const struct fleet *fleet, size_t first,
			 size_t end, struct error *err);

#endif
