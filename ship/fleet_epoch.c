// SPDX-License-Identifier: GPL-2.0-only
#include "ship/fleet_epoch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define UUID_TEXT_LENGTH 36
#define SEVERAL "several"
#define ERROR_ENGINE_EPOCH "the tables of the engine do not belong together: epoch '%s'"

/* struct reading - the visit of the rows of a query */
struct reading {
	struct fleet *fleet;
	const struct fleet_filter *filter;
	struct error *err;
};

static int fleet_no_memory(struct error *err)
{
	return error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

static void epoch_deinit(struct fleet_epoch *epoch)
{
	for (size_t i = 0; i < epoch->event_count; i++) {
		free(epoch->events[i].name);
		free(epoch->events[i].unit);
	}
	free(epoch->events);
	free(epoch->name);
	free(epoch->cpu_model);
	free(epoch->kernel);
	free(epoch->source);
	free(epoch->label);
	free(epoch->group);
}

void fleet_deinit(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		epoch_deinit(&fleet->epochs[i]);
	free(fleet->epochs);
	*fleet = (struct fleet){.count = 0};
}

/* UUIDs become parts of queries. */
static int uuid_read(char to[FLEET_UUID_BYTES], const char *cell, struct error *err)
{
	if (strlen(cell) != UUID_TEXT_LENGTH ||
	    strspn(cell, "0123456789abcdef-") != UUID_TEXT_LENGTH)
		return error_set(err, EBADMSG, ERROR_NOT_VALID, cell, "UUID from the engine");
	strcpy(to, cell);
	return 0;
}

static int compare_uuids(const void *a, const void *b)
{
	return strcmp(((const struct fleet_epoch *)a)->uuid, ((const struct fleet_epoch *)b)->uuid);
}

static struct fleet_epoch *find_epoch(const struct fleet *fleet, const char *uuid)
{
	struct fleet_epoch key = {.cpus = 0};

	if (strlen(uuid) != UUID_TEXT_LENGTH)
		return NULL;
	strcpy(key.uuid, uuid);
	return fleet->count == 0
		       ? NULL
		       : bsearch(&key, fleet->epochs, fleet->count, sizeof(key), compare_uuids);
}

/* --- queries ------------------------------------------------------------------ */

static int take_slices(void *context, char *const *cells)
{
	struct reading *reading = context;
	struct fleet *fleet = reading->fleet;
	struct fleet_epoch epoch = {.cpus = 0};
	int r = uuid_read(epoch.uuid, cells[0], reading->err);

	if (r == 0)
		r = engine_time(cells[1], &epoch.start_ns, reading->err);
	if (r == 0)
		r = engine_time(cells[2], &epoch.end_ns, reading->err);
	if (r == 0)
		r = engine_number(cells[3], INT64_MAX, &epoch.interrupts, reading->err);
	if (r == 0 &&
	    array_reserve(&fleet->epochs, &fleet->capacity, fleet->count + 1, sizeof(epoch)) < 0)
		r = fleet_no_memory(reading->err);
	if (r == 0)
		fleet->epochs[fleet->count++] = epoch;
	return r;
}

static int take_text(char **to, const char *cell, struct error *err)
{
	free(*to);
	*to = strdup(cell);
	return *to != NULL ? 0 : fleet_no_memory(err);
}

static int take_fleet_epoch(void *context, char *const *cells)
{
	struct reading *reading = context;
	struct fleet_epoch *epoch = find_epoch(reading->fleet, cells[0]);
	int r;

	/* An epoch without selected slices. */
	if (epoch == NULL)
		return 0;
	r = uuid_read(epoch->host, cells[1], reading->err);
	if (r == 0)
		r = take_text(&epoch->name, cells[2], reading->err);
	if (r == 0)
		r = take_text(&epoch->cpu_model, cells[3], reading->err);
	if (r == 0)
		r = engine_number(cells[4], UINT32_MAX, &epoch->cpus, reading->err);
	if (r == 0)
		r = take_text(&epoch->kernel, cells[5], reading->err);
	if (r == 0)
		r = take_text(&epoch->source, cells[6], reading->err);
	if (r == 0)
		r = take_text(&epoch->label, cells[7], reading->err);
	return r;
}

static int take_fleet_event(void *context, char *const *cells)
{
	struct reading *reading = context;
	struct fleet_epoch *epoch = find_epoch(reading->fleet, cells[0]);
	struct fleet_event event = {.name = NULL};
	uint64_t number = 0;
	int r;

	if (epoch == NULL)
		return 0;
	r = engine_number(cells[1], UINT32_MAX, &number, reading->err);
	if (r == 0)
		r = engine_number(cells[4], INT64_MAX, &event.event.period_min, reading->err);
	if (r == 0)
		r = engine_number(cells[5], INT64_MAX, &event.event.period_max, reading->err);
	if (r == 0)
		r = engine_number(cells[6], INT64_MAX, &event.event.enabled_ns, reading->err);
	if (r == 0)
		r = engine_number(cells[7], INT64_MAX, &event.event.running_ns, reading->err);
	if (r == 0 && array_reserve(&epoch->events, &epoch->event_capacity, epoch->event_count + 1,
				    sizeof(event)) < 0)
		r = fleet_no_memory(reading->err);
	if (r < 0)
		return r;
	event.event.number = (uint32_t)number;
	epoch->events[epoch->event_count++] = event;
	r = take_text(&epoch->events[epoch->event_count - 1].name, cells[2], reading->err);
	return r == 0 ? take_text(&epoch->events[epoch->event_count - 1].unit, cells[3],
				  reading->err)
		      : r;
}

static int take_end(void *context, char *const *cells)
{
	struct reading *reading = context;

	return engine_time(cells[0], &((struct fleet_filter *)(uintptr_t)reading->filter)->since_ns,
			   reading->err);
}

/* Print the condition of the time; @word: "WHERE" or "AND" */
static void print_time(FILE *stream, const char *word, const struct fleet_filter *filter)
{
	if (filter->since_ns != 0) {
		fprintf(stream, " %s start_ns >= %" PRId64, word, filter->since_ns);
		word = "AND";
	}
	if (filter->until_ns != 0)
		fprintf(stream, " %s start_ns < %" PRId64, word, filter->until_ns);
}

/* The last seconds are those before the end of the last slice. */
static int last_convert(struct engine *engine, struct fleet_filter *filter, struct error *err)
{
	struct fleet_filter end = {.since_ns = 0};
	struct reading reading = {.filter = &end, .err = err};
	int64_t last_ns = (int64_t)filter->last_s * (int64_t)NS_PER_SECOND;
	int r = filter->last_s == 0 ? 0
				    : engine_query(engine, "SELECT max(end_ns) FROM dcpi_live", 1,
						   take_end, &reading, err);

	if (filter->last_s != 0 && end.since_ns - last_ns > filter->since_ns)
		filter->since_ns = end.since_ns - last_ns;
	return r;
}

static int slices_read(struct engine *engine, struct reading *reading)
{
	_cleanup_free_ char *query = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&query, &bytes);

	if (stream == NULL)
		return fleet_no_memory(reading->err);
	fputs("SELECT toString(epoch), min(start_ns), max(end_ns), sum(interrupts) FROM dcpi_live",
	      stream);
	print_time(stream, "WHERE", reading->filter);
	fputs(" GROUP BY epoch", stream);
	if (fclose(stream) != 0)
		return fleet_no_memory(reading->err);
	return engine_query(engine, query, 4, take_slices, reading, reading->err);
}

/* --- groups ------------------------------------------------------------------- */

/* Describe everything that the epochs of a group have in common. */
static int group_make(struct fleet_epoch *epoch, enum fleet_grouping grouping, struct error *err)
{
	bool alone = grouping == FLEET_BY_EPOCH;
	size_t bytes;
	FILE *stream;

	if (epoch->name == NULL || epoch->event_count == 0)
		return error_set(err, EBADMSG, ERROR_ENGINE_EPOCH, epoch->uuid);
	stream = open_memstream(&epoch->group, &bytes);
	if (stream == NULL)
		return fleet_no_memory(err);
	/* Names are not trusted: equal texts must have the same number of events. */
	fprintf(stream, "%zu\n", epoch->event_count);
	for (size_t i = 0; i < epoch->event_count; i++) {
		struct fleet_event *event = &epoch->events[i];

		event->event.name = event->name;
		event->event.unit = event->unit;
		fprintf(stream, "%u %s %s %" PRIu64 " %" PRIu64 "\n", event->event.number,
			event->name, event->unit, event->event.period_min, event->event.period_max);
		/* Events shared counters: the weight of a sample is different in each epoch. */
		alone |= event->event.running_ns != event->event.enabled_ns;
	}
	if (grouping != FLEET_BY_EVENTS)
		fputs(epoch->host, stream);
	if (alone)
		fputs(epoch->uuid, stream);
	return fclose(stream) == 0 ? 0 : fleet_no_memory(err);
}

static int compare_groups(const void *a, const void *b)
{
	const struct fleet_epoch *x = a, *y = b;
	int order = strcmp(x->group, y->group);

	if (order == 0)
		order = strcmp(x->host, y->host);
	return order != 0 ? order : compare_uuids(a, b);
}

static void drop_other_hosts(struct fleet *fleet, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		if (name != NULL && fleet->epochs[i].name != NULL &&
		    strcmp(fleet->epochs[i].name, name) != 0)
			epoch_deinit(&fleet->epochs[i]);
		else
			fleet->epochs[kept++] = fleet->epochs[i];
	}
	fleet->count = kept;
}

int fleet_read(struct fleet *fleet, struct engine *engine, struct fleet_filter *filter,
	       struct error *err)
{
	struct reading reading = {.fleet = fleet, .filter = filter, .err = err};
	int r = last_convert(engine, filter, err);

	if (r == 0)
		r = slices_read(engine, &reading);
	if (r == 0 && fleet->count > 0)
		qsort(fleet->epochs, fleet->count, sizeof(*fleet->epochs), compare_uuids);
	if (r == 0)
		r = engine_query(engine,
				 "SELECT toString(epoch), toString(host), argMax(name, version), "
				 "argMax(cpu_model, version), max(cpus), argMax(kernel, version), "
				 "argMax(source, version), argMax(label, version) FROM dcpi_epochs "
				 "GROUP BY host, epoch",
				 8, take_fleet_epoch, &reading, err);
	if (r == 0)
		r = engine_query(engine,
				 "SELECT toString(epoch), event, argMax(name, version), "
				 "argMax(unit, version), argMax(period_min, version), "
				 "argMax(period_max, version), max(enabled_ns), max(running_ns) "
				 "FROM dcpi_events GROUP BY epoch, event ORDER BY epoch, event",
				 8, take_fleet_event, &reading, err);
	drop_other_hosts(fleet, filter->host);
	for (size_t i = 0; r == 0 && i < fleet->count; i++)
		r = group_make(&fleet->epochs[i], filter->grouping, err);
	if (r == 0 && fleet->count > 0)
		qsort(fleet->epochs, fleet->count, sizeof(*fleet->epochs), compare_groups);
	return r;
}

size_t fleet_group_end(const struct fleet *fleet, size_t first)
{
	size_t end = first + 1;

	while (end < fleet->count &&
	       strcmp(fleet->epochs[end].group, fleet->epochs[first].group) == 0)
		end++;
	return end;
}

char *fleet_condition(const struct fleet *fleet, size_t first, size_t end,
		      const struct fleet_filter *filter)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	fputs("epoch IN (", stream);
	for (size_t i = first; i < end; i++)
		fprintf(stream, "%stoUUID('%s')", i == first ? "" : ", ", fleet->epochs[i].uuid);
	fputs(")", stream);
	print_time(stream, "AND", filter);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

/* Return a text that is the same in all epochs of a group, or "several". */
static const char *common_text(const struct fleet *fleet, size_t first, size_t end, size_t offset)
{
	const char *text = *(char *const *)((const char *)&fleet->epochs[first] + offset);

	for (size_t i = first + 1; i < end; i++) {
		if (strcmp(*(char *const *)((const char *)&fleet->epochs[i] + offset), text) != 0)
			return SEVERAL;
	}
	return text;
}

int fleet_group_describe(struct fleet_group *group, const struct fleet *fleet, size_t first,
			 size_t end, struct error *err)
{
	const struct fleet_epoch *one = &fleet->epochs[first];
	uint64_t cpus = 0;

	*group = (struct fleet_group){.end_ns = one->end_ns};
	group->epoch.start_ns = one->start_ns;
	for (size_t i = first; i < end; i++) {
		const struct fleet_epoch *epoch = &fleet->epochs[i];
		bool new_host = i == first || strcmp(epoch->host, epoch[-1].host) != 0;

		if (epoch->start_ns < group->epoch.start_ns)
			group->epoch.start_ns = epoch->start_ns;
		if (epoch->end_ns > group->end_ns)
			group->end_ns = epoch->end_ns;
		group->hosts += new_host;
		if ((new_host && __builtin_add_overflow(cpus, epoch->cpus, &cpus)) ||
		    cpus > UINT32_MAX ||
		    __builtin_add_overflow(group->interrupts, epoch->interrupts,
					   &group->interrupts))
			return error_set(err, EBADMSG, ERROR_DATABASE_COUNTS);
	}
	snprintf(group->host, sizeof(group->host), "%zu hosts", group->hosts);
	snprintf(group->reason, sizeof(group->reason), "the sum of %zu epochs of %zu hosts",
		 end - first, group->hosts);
	group->epoch.host = group->hosts == 1 ? one->name : group->host;
	group->epoch.machine_id = group->hosts == 1 ? one->host : "";
	group->epoch.cpus = (uint32_t)cpus;
	group->epoch.cpu_model =
		common_text(fleet, first, end, offsetof(struct fleet_epoch, cpu_model));
	group->epoch.kernel = common_text(fleet, first, end, offsetof(struct fleet_epoch, kernel));
	group->epoch.source = common_text(fleet, first, end, offsetof(struct fleet_epoch, source));
	group->epoch.label = common_text(fleet, first, end, offsetof(struct fleet_epoch, label));
	group->epoch.source_reason = group->reason;
	return 0;
}
