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
#include "lib/error.h"
#include "loader-hook/side_band_record.h"
#include "tests/fuzz.h"

static void take_apart(struct perfdata_file *file, const struct perf_event_header *record)
{
	const struct perfdata_events *events = &perfdata_file_header(file)->events;
	struct perfdata_trailer trailer;
	struct side_band_record taken;

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
	struct perfdata_file *file;
	const struct perf_event_header *record;
	struct error err;
	char path[32];
	int fd = memfd_create("fuzz", 0), r;
	uint64_t samples = 0;

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = perfdata_file_open(&file, path, &err);
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
