// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_survey.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/import/perfdata_file.h"
#include "daemon/import/perfdata_stack.h"
#include "lib/bounded_reader.h"
#include "lib/error.h"

/* Samples rejected by a user's BPF program are not losses. */
#define MISC_LOST_SAMPLES_BPF (1U << 15)

/* A stored stack stands for a period of event 0. */
bool import_event_has_stacks(const struct perfdata_event *event, const struct import_event *seen)
{
	return seen->number == 0 && perfdata_stack_recorded(event);
}

bool import_is_guest(const struct perfdata_sample *sample)
{
	return sample->mode == PERF_RECORD_MISC_HYPERVISOR ||
	       sample->mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       sample->mode == PERF_RECORD_MISC_GUEST_USER;
}

static int take_sample(struct import_survey *survey, const struct perfdata_events *events,
		       const struct perf_event_header *record, struct error *err)
{
	struct perfdata_sample sample;
	int r = perfdata_sample_parse(&sample, events, record);

	if (r == -EBADMSG)
		return error_set(err, EBADMSG, "a sample is truncated");
	survey->samples++;
	if (r < 0) {
		survey->unknown_event++;
		return 0;
	}
	if ((events->event[sample.event].sample_type & PERF_SAMPLE_IP) == 0)
		return error_set(err, EBADMSG, "event '%s' has no addresses (PERF_SAMPLE_IP)",
				 events->event[sample.event].name);
	if (import_is_guest(&sample))
		survey->guest++;
	survey->events[sample.event].samples++;
	survey->events[sample.event].periods += (double)sample.period;
	if (sample.time_ns != 0 && (survey->first_ns == 0 || sample.time_ns < survey->first_ns))
		survey->first_ns = sample.time_ns;
	if (sample.time_ns > survey->last_ns)
		survey->last_ns = sample.time_ns;
	return 0;
}

/* Losses in a dummy event's ring were image events. */
static int take_losses(struct import_survey *survey, const struct perfdata_event *event,
		       const struct perf_event_header *record, struct error *err)
{
	struct bounded_reader reader;
	uint64_t lost;

	bounded_reader_init(&reader, record + 1, record->size - sizeof(*record));
	if (record->type == PERF_RECORD_LOST)
		bounded_reader_u64(&reader); /* id of the ring's event */
	lost = bounded_reader_u64(&reader);
	if (bounded_reader_failed(&reader) || lost > INT64_MAX / 4)
		return error_set(err, EBADMSG, "a record of losses is malformed");
	if (record->type == PERF_RECORD_LOST)
		survey->lost_records += lost;
	else if (event != NULL && !perfdata_event_samples(event))
		survey->lost_images += lost;
	else if ((record->misc & MISC_LOST_SAMPLES_BPF) == 0)
		survey->lost_samples += lost;
	return 0;
}

static int take_record(struct import_survey *survey, struct perfdata_file *file,
		       const struct perf_event_header *record, struct error *err)
{
	struct perfdata_header *header = perfdata_file_header(file);
	struct perfdata_trailer trailer;

	if (record->type == PERF_RECORD_SAMPLE)
		return take_sample(survey, &header->events, record, err);
	if (record->type >= PERF_RECORD_MAX)
		return perfdata_header_record(header, record, err);
	if (perfdata_trailer_parse(&trailer, &header->events, record) < 0)
		return error_set(err, EBADMSG, "a record is truncated");
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_LOST_SAMPLES)
		return take_losses(survey,
				   trailer.event >= 0 ? &header->events.event[trailer.event] : NULL,
				   record, err);
	import_lives_record(&survey->lives, record, trailer.bytes, trailer.time_ns);
	survey->throttled += record->type == PERF_RECORD_THROTTLE;
	return 0;
}

/*
 * Names in the database do not contain the precision, nor whether the event is a host's or guest's:
 * "cpu-clock:pppH" becomes "cpu-clock", as in dcpid. The modifiers u and k are kept.
 */
static void plain_name(char name[PERFDATA_NAME_BYTES], const char *full)
{
	const char *colon = strrchr(full, ':');
	size_t n = 0;

	snprintf(name, PERFDATA_NAME_BYTES, "%s", full);
	if (colon == NULL || colon == full || strchr(full, '/') != NULL ||
	    colon[1 + strspn(colon + 1, "ukhpPGHSDW")] != '\0')
		return;
	n = (size_t)(colon - full) + 1;
	for (const char *at = colon + 1; *at != '\0'; at++) {
		if (*at == 'u' || *at == 'k')
			name[n++] = *at;
	}
	name[name[n - 1] == ':' ? n - 1 : n] = '\0';
}

static bool is_taken(const struct import_survey *survey, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++) {
		if (survey->events[i].number >= 0 && strcmp(survey->events[i].name, name) == 0)
			return true;
	}
	return false;
}

/* If another event has the same name, append the event's number, so that they remain distinct. */
static void name_events(struct import_survey *survey, const struct perfdata_events *events)
{
	int number = 0;

	for (size_t i = 0; i < events->count; i++) {
		struct import_event *event = &survey->events[i];
		const char *full = events->event[i].name;

		event->number = perfdata_event_samples(&events->event[i]) || event->samples > 0
					? number++
					: -1;
		plain_name(event->name, full);
		if (is_taken(survey, i, event->name))
			snprintf(event->name, sizeof(event->name), "%s", full);
		if (is_taken(survey, i, event->name))
			snprintf(event->name, sizeof(event->name), "%.*s#%u",
				 PERFDATA_NAME_BYTES - 16, full, (unsigned int)i + 1);
	}
}

int import_survey_make(struct import_survey *survey, struct perfdata_file *file, struct error *err)
{
	const struct perf_event_header *record;
	int r;

	memset(survey, 0, sizeof(*survey));
	while ((r = perfdata_file_next(file, &record, err)) > 0) {
		r = take_record(survey, file, record, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	import_lives_settle(&survey->lives);
	perfdata_header_settle(perfdata_file_header(file));
	name_events(survey, &perfdata_file_header(file)->events);
	return 0;
}

void import_survey_deinit(struct import_survey *survey)
{
	import_lives_deinit(&survey->lives);
}
