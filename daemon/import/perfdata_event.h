/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a perf.data file, and the layout of their records.
 *
 * A record refers to its event by an id, which is different per CPU or thread. The position of the
 * id in the record depends on the event. So either the id is at a fixed position in all records
 * (PERF_SAMPLE_IDENTIFIER), or all events of a file have the same layout.
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
 * @name:          as in perf ("cpu-clock:pppH"); "" until perfdata_events_rename()
 * @unit:          of its periods, static
 * @type, @config: as in perf_event_attr
 * @frequency:     periods vary; otherwise each is @period
 * @sample_type:   fields of its records (PERF_SAMPLE_*)
 * @read_format, @branch_type, @user_registers: as in perf_event_attr: the layout of these fields
 * @chain_max:     maximum number of addresses in a call chain
 * @chain_no_user: call chains have no addresses in user space
 * @counts_lost:   its lost samples are reported in separate records
 * @has_trailer:   records other than samples end with some of these fields
 */
struct perfdata_event {
	char name[PERFDATA_NAME_BYTES];
	const char *unit;
	uint32_t type;
	uint64_t config;
	bool frequency;
	uint64_t period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t user_registers;
	uint32_t chain_max;
	bool chain_no_user;
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
 * @attr: a perf_event_attr whose size is in its header
 * @ids:  its ids, eight bytes each
 *
 * Return: 0; -EBADMSG if @attr is invalid; -E2BIG if there are too many events; -ENOMEM.
 */
int perfdata_events_add(struct perfdata_events *events, const void *attr, size_t attr_bytes,
			const void *ids, size_t ids_bytes, struct error *err);

/** perfdata_event_describe() - set the unit of an event, and its name if that is empty */
void perfdata_event_describe(struct perfdata_event *event);

/** perfdata_events_rename() - set the name of the event with an id; an unknown id is ignored. */
void perfdata_events_rename(struct perfdata_events *events, uint64_t id, const char *name);

/** perfdata_events_find() - return the number of the event with an id; -ENOENT if there is none. */
int perfdata_events_find(const struct perfdata_events *events, uint64_t id);

/** perfdata_event_samples() - return false for an event that only carries side-band records. */
bool perfdata_event_samples(const struct perfdata_event *event);

/**
 * perfdata_sample_event() - find the event of a sample by the id in it; it determines the layout
 * @events:  at least one
 * @body:    the sample without its header
 * @swapped: the id has the other byte order
 *
 * Return: the event's number; -EBADMSG if the sample is too short; -ENOENT if the event is unknown.
 */
int perfdata_sample_event(const struct perfdata_events *events, const void *body, size_t bytes,
			  bool swapped);

/**
 * struct perfdata_sample - a sample
 * @event:   number of its event
 * @mode:    PERF_RECORD_MISC_USER, _KERNEL, ...
 * @pid:     process; UINT32_MAX: unknown
 * @time_ns: by the recording's clock; 0: unknown
 * @period:  number of events that it represents
 * @rest:    offset in the record of the fields after the period
 */
struct perfdata_sample {
	size_t event;
	unsigned int mode;
	uint32_t pid;
	uint64_t ip;
	uint64_t time_ns;
	uint64_t period;
	size_t rest;
};

/**
 * perfdata_sample_parse() - parse a PERF_RECORD_SAMPLE
 * @record: complete, with the size in its header
 *
 * Return: 0; -EBADMSG if it is too short; -ENOENT if its event is unknown.
 */
int perfdata_sample_parse(struct perfdata_sample *ret, const struct perfdata_events *events,
			  const struct perf_event_header *record);

/**
 * struct perfdata_trailer - the last fields of kernel records other than samples
 * @bytes:   its size
 * @time_ns: 0: unknown
 * @event:   number of the event in whose ring the record was; -ENOENT: unknown
 */
struct perfdata_trailer {
	size_t bytes;
	uint64_t time_ns;
	int event;
};

/**
 * perfdata_trailer_parse() - parse the trailer of a record. Return: 0; -EBADMSG if the record is
 * too short.
 */
int perfdata_trailer_parse(struct perfdata_trailer *ret, const struct perfdata_events *events,
			   const struct perf_event_header *record);

#endif
