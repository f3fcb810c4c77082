// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/event/event_name.h"
#include "daemon/import/perfdata_record.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/perf/side_band_record.h"

#define ATTR_BYTES_MIN PERF_ATTR_SIZE_VER0

/* The fields of a trailer, in order; each has eight bytes. */
static const uint64_t trailer_fields[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

#define TRAILER_FIELDS (sizeof(trailer_fields) / sizeof(trailer_fields[0]))

void perfdata_events_deinit(struct perfdata_events *events)
{
	free(events->event);
	u64_map_deinit(&events->by_id);
	*events = (struct perfdata_events){0};
}

/* The name of an event in the kernel's list of generic events. */
struct naming {
	struct perfdata_event *event;
	const char *unit;
};

static void name_if_same(void *context, const char *name, const struct event_code *code,
			 const char *description)
{
	struct naming *naming = context;
	struct perfdata_event *event = naming->event;

	(void)description;
	if (code->type != event->type || code->config[0] != event->config)
		return;
	if (event->name[0] == '\0')
		snprintf(event->name, sizeof(event->name), "%s", name);
	naming->unit = event_code_unit(code);
}

void perfdata_event_describe(struct perfdata_event *event)
{
	struct naming naming = {.event = event, .unit = "events"};

	event_name_visit(name_if_same, &naming);
	event->unit = naming.unit;
	if (event->name[0] == '\0')
		snprintf(event->name, sizeof(event->name), "type%u:0x%llx", event->type,
			 (unsigned long long)event->config);
}

int perfdata_events_add(struct perfdata_events *events, const void *attr, size_t attr_bytes,
			const void *ids, size_t ids_bytes, struct error *err)
{
	struct perf_event_attr known = {0};
	struct perfdata_event event = {0};
	struct bounded_reader reader;

	if (attr_bytes < ATTR_BYTES_MIN || ids_bytes % sizeof(uint64_t) != 0)
		return error_set(err, EBADMSG, "an event is malformed");
	memcpy(&known, attr, attr_bytes < sizeof(known) ? attr_bytes : sizeof(known));
	if (known.size != 0 && (known.size < ATTR_BYTES_MIN || known.size > attr_bytes))
		return error_set(err, EBADMSG, "an event is malformed");
	if (events->count == PERFDATA_EVENTS_MAX)
		return error_set(err, E2BIG, "more than %d events", PERFDATA_EVENTS_MAX);
	event.type = known.type;
	event.config = known.config;
	event.frequency = known.freq;
	event.period = known.freq ? 0 : known.sample_period;
	event.sample_type = known.sample_type;
	event.read_format = known.read_format;
	event.branch_type = known.branch_sample_type;
	event.user_registers = known.sample_regs_user;
	event.chain_max =
		known.sample_max_stack > 0 ? known.sample_max_stack : PERF_MAX_STACK_DEPTH;
	event.chain_no_user = known.exclude_callchain_user;
	event.counts_lost = (known.read_format & PERFDATA_READ_LOST) != 0;
	event.has_trailer = known.sample_id_all;
	perfdata_event_describe(&event);
	if (array_reserve(&events->event, &events->capacity, events->count + 1, sizeof(event)) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	events->event[events->count] = event;
	bounded_reader_init(&reader, ids, ids_bytes);
	while (bounded_reader_left(&reader) > 0) {
		uint64_t *slot = u64_map_insert(&events->by_id, bounded_reader_u64(&reader));

		if (slot == NULL)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		*slot = events->count;
	}
	events->count++;
	return 0;
}

int perfdata_events_find(const struct perfdata_events *events, uint64_t id)
{
	const uint64_t *slot = u64_map_find(&events->by_id, id);

	return slot != NULL ? (int)*slot : -ENOENT;
}

void perfdata_events_rename(struct perfdata_events *events, uint64_t id, const char *name)
{
	int number = perfdata_events_find(events, id);

	if (number >= 0 && name[0] != '\0')
		snprintf(events->event[number].name, PERFDATA_NAME_BYTES, "%s", name);
}

bool perfdata_event_samples(const struct perfdata_event *event)
{
	return event->type != PERF_TYPE_SOFTWARE || event->config != PERF_COUNT_SW_DUMMY;
}

static size_t fields_below(uint64_t sample_type, uint64_t fields)
{
	return (size_t)__builtin_popcountll(sample_type & fields);
}

int perfdata_sample_event(const struct perfdata_events *events, const void *body, size_t bytes,
			  bool swapped)
{
	uint64_t first = events->event[0].sample_type, id;
	size_t at = 0;

	if (events->count == 1)
		return 0;
	if ((first & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) == 0)
		return -ENOENT;
	if ((first & PERF_SAMPLE_IDENTIFIER) == 0)
		at = fields_below(first, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						 PERF_SAMPLE_ADDR);
	if (bytes < (at + 1) * sizeof(id))
		return -EBADMSG;
	memcpy(&id, (const uint8_t *)body + at * sizeof(id), sizeof(id));
	return perfdata_events_find(events, swapped ? __builtin_bswap64(id) : id);
}

static uint64_t perfdata_event_take(struct bounded_reader *reader, uint64_t sample_type,
				    uint64_t field)
{
	return (sample_type & field) != 0 ? bounded_reader_u64(reader) : 0;
}

int perfdata_sample_parse(struct perfdata_sample *ret, const struct perfdata_events *events,
			  const struct perf_event_header *record)
{
	size_t bytes = record->size - sizeof(*record);
	struct bounded_reader reader;
	uint64_t type;
	int event;

	if (events->count == 0)
		return -ENOENT;
	event = perfdata_sample_event(events, record + 1, bytes, false);
	if (event < 0)
		return event;
	*ret = (struct perfdata_sample){
		.event = (size_t)event,
		.mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.pid = UINT32_MAX,
	};
	type = events->event[event].sample_type;
	bounded_reader_init(&reader, record + 1, bytes);
	perfdata_event_take(&reader, type, PERF_SAMPLE_IDENTIFIER);
	ret->ip = perfdata_event_take(&reader, type, PERF_SAMPLE_IP);
	if ((type & PERF_SAMPLE_TID) != 0)
		ret->pid = (uint32_t)bounded_reader_u64(&reader);
	ret->time_ns = perfdata_event_take(&reader, type, PERF_SAMPLE_TIME);
	perfdata_event_take(&reader, type, PERF_SAMPLE_ADDR);
	perfdata_event_take(&reader, type, PERF_SAMPLE_ID);
	perfdata_event_take(&reader, type, PERF_SAMPLE_STREAM_ID);
	perfdata_event_take(&reader, type, PERF_SAMPLE_CPU);
	ret->period = events->event[event].period;
	if ((type & PERF_SAMPLE_PERIOD) != 0)
		ret->period = bounded_reader_u64(&reader);
	ret->rest = record->size - bounded_reader_left(&reader);
	return bounded_reader_failed(&reader) ? -EBADMSG : 0;
}

static uint64_t trailer_field(const struct perf_event_header *record, size_t bytes_from_end)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)record + record->size - bytes_from_end, sizeof(value));
	return value;
}

/* The first event's layout is used for all: trailers have the same fields and size. */
int perfdata_trailer_parse(struct perfdata_trailer *ret, const struct perfdata_events *events,
			   const struct perf_event_header *record)
{
	size_t bytes = record->size - sizeof(*record), time_at = 0, id_at = 0, excess;
	uint64_t type;

	*ret = (struct perfdata_trailer){.event = -ENOENT};
	if (events->count == 0 || !events->event[0].has_trailer)
		return 0;
	type = events->event[0].sample_type;
	for (size_t i = TRAILER_FIELDS; i > 0; i--) {
		uint64_t field = trailer_fields[i - 1];

		if ((type & field) == 0)
			continue;
		ret->bytes += sizeof(uint64_t);
		if (field == PERF_SAMPLE_TIME)
			time_at = ret->bytes;
		else if (field == PERF_SAMPLE_IDENTIFIER || (field == PERF_SAMPLE_ID && id_at == 0))
			id_at = ret->bytes;
	}
	if (ret->bytes > bytes)
		return -EBADMSG;
	excess = side_band_record_excess(record, ret->bytes);
	ret->bytes += excess;
	if (time_at > 0)
		ret->time_ns = trailer_field(record, time_at + excess);
	if (id_at > 0)
		ret->event = perfdata_events_find(events, trailer_field(record, id_at + excess));
	return 0;
}
