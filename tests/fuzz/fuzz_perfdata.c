// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of perf.data files: the container, events, samples, trailers, and the side-band
 * records with trailers of any length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "daemon/import/import_survey.h"
#include "daemon/import/perfdata_file.h"
#include "daemon/import/perfdata_input.h"
#include "daemon/import/perfdata_stack.h"
#include "lib/error.h"
#include "loader-hook/perf/side_band_record.h"
#include "tests/fuzz/fuzz.h"

/* All parts of a stack are in its record. */
static void stack_take_apart(const struct perfdata_events *events,
			     const struct perf_event_header *record)
{
	const uint8_t *begin = (const uint8_t *)record, *end = begin + record->size;
	struct perfdata_sample sample;
	struct perfdata_stack stack;
	const struct perfdata_words *parts[] = {&stack.chain, &stack.branches, &stack.registers};

	if (perfdata_sample_parse(&sample, events, record) < 0)
		return;
	require(sample.rest <= record->size);
	if (perfdata_stack_parse(&stack, &events->event[sample.event], record, sample.rest) < 0)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		require(parts[i]->count == 0 ||
			(parts[i]->bytes >= begin &&
			 parts[i]->count <= (size_t)(end - parts[i]->bytes) / sizeof(uint64_t)));
	require(stack.stack_bytes <= stack.stack_room);
	require(stack.stack_room == 0 ||
		(stack.stack >= begin && stack.stack_room <= (size_t)(end - stack.stack)));
}

static void take_apart(struct perfdata_file *file, const struct perf_event_header *record)
{
	const struct perfdata_events *events = &perfdata_file_header(file)->events;
	struct perfdata_trailer trailer;
	struct side_band_record taken;

	if (record->type == PERF_RECORD_SAMPLE) {
		stack_take_apart(events, record);
		return;
	}
	if (perfdata_trailer_parse(&trailer, events, record) < 0)
		return;
	require(trailer.bytes <= record->size - sizeof(*record));
	require(trailer.event < (int)events->count);
	side_band_record_take(&taken, record, trailer.bytes, trailer.time_ns);
	if (taken.event.path != NULL)
		require(taken.event.path + strlen(taken.event.path) <
			(const char *)record + record->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct import_survey survey;
	struct perfdata_input input = {.count = 0};
	struct perfdata_file *file;
	const struct perf_event_header *record;
	struct error err;
	int fd = memfd_create("fuzz", 0), r;
	uint64_t samples = 0;

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	input.fd = fd;
	r = perfdata_file_open(&file, &input, &err);
	close(fd);
	if (r < 0)
		return 0;
	if (import_survey_make(&survey, file, &err) == 0) {
		perfdata_file_rewind(file);
		while ((r = perfdata_file_next(file, &record, &err)) > 0) {
			samples += record->type == PERF_RECORD_SAMPLE;
			take_apart(file, record);
		}
		require(r == 0 && samples == survey.samples);
		perfdata_header_build_id(perfdata_file_header(file), "/bin/true");
	}
	import_survey_deinit(&survey);
	perfdata_file_close(file);
	return 0;
}
