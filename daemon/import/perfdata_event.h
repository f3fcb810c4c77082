/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a perf.data file, and how their records are laid out.
 *
 * A record names its event by an id, one a CPU or thread; where in the record that id
 * is depends on the event. Files have either an id at a fixed place in all records
 * (PERF_SAMPLE_IDENTIFIER) or the same layout for all events.
 */
#ifndef DCPI_PERFDATA_EVENT_H
#define DCPI_PERFDATA_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/u64_map.h"

struct error;
struct perf_event_header;

#define PERFDATA_EVENTS_MAX 256
#define PERFDATA_NAME_BYTES 64

/**
 * struct perfdata_event - an event
 * @name:        as perf has it ("cpu-clock:pppH"); "" until perfdata_events_rename()
 * @unit:        of its periods, static
 * @type, @config: as in perf_event_attr
 * @frequency:   periods vary; else each is @period
 * @sample_type: which fields its records have (PERF_SAMPLE_*)
 * @counts_lost: its lost samples are told in records of their own
 * @has_trailer: records that are no samples end in some of these fields
 */
struct perfdata_event {
	char name[PERFDATA_NAME_BYTES];
	const char *unit;
	uint32_t type;
	uint64_t config;
	bool frequency;
	uint64_t period;
	uint64_t sample_type;
	bool counts_lost;
	bool has_trailer;
};

/** struct perfdata_events - zero-initialised is empty; @by_id is private. */
struct perfdata_events {
	struct perfdata_event *event;
	size_t count;
	size_t capacity;
	struct u64_map by_id;
};

void perfdata_events_deinit(struct perfdata_events *events);

/**
 * perfdata_events_add() - add an event
 * @attr: a perf_event_attr of the size that it says
 * @ids:  its ids, eight bytes each
 *
 * Return: 0; -EBADMSG this is no attr; -E2BIG too many events; -ENOMEM.
 */
int perfdata_events_add(struct perfdata_events *events, const void *attr, size_t attr_bytes,
			const void *ids, size_t ids_bytes, struct error *err);

/** perfdata_events_rename() - call the event of an id so; of no event, nothing happens. */
void perfdata_events_rename(struct perfdata_events *events, uint64_t id, const char *name);

/** perfdata_events_find() - number of the event of an id; -ENOENT there is none. */
int perfdata_events_find(const struct perfdata_events *events, uint64_t id);

/** perfdata_event_samples() - whether it is more than a vehicle of side-band records. */
bool perfdata_event_samples(const struct perfdata_event *event);

/**
 * struct perfdata_sample - a sample
 * @event:   number of its event
 * @mode:    PERF_RECORD_MISC_USER, _KERNEL, ...
 * @pid:     process; UINT32_MAX: not known
 * @time_ns: by the recording's clock; 0: not known
 * @period:  how many events it stands for
 */
struct perfdata_sample {
	size_t event;
	unsigned int mode;
	uint32_t pid;
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period;
};

/**
 * perfdata_sample_parse() - take a PERF_RECORD_SAMPLE apart
 * @record: whole, as long as its header says
 *
 * Return: 0; -EBADMSG it is too short; -ENOENT it is of no event.
 */
int perfdata_sample_parse(struct perfdata_sample *ret, const struct perfdata_events *events,
			  const struct perf_event_header *record);

/**
 * struct perfdata_trailer - what records of the kernel that are no samples end in
 * @bytes:   how long it is
 * @time_ns: 0: not known
 * @event:   number of the event in whose ring it was; -ENOENT: not known
 */
struct perfdata_trailer {
	size_t bytes;
	uint64_t time_ns;
	int event;
};

/** perfdata_trailer_parse() - Return: 0; -EBADMSG the record is too short. */
int perfdata_trailer_parse(struct perfdata_trailer *ret, const struct perfdata_events *events,
			   const struct perf_event_header *record);

#endif
