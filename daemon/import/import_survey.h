/* SPDX-License-Identifier: GPL-2.0-only */
/* What is in a perf.data file, found by reading it once. */
#ifndef DCPI_IMPORT_SURVEY_H
#define DCPI_IMPORT_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/import/import_lives.h"
#include "daemon/import/perfdata_event.h"

struct error;
struct perfdata_file;

/**
 * struct import_event - an event of the file
 * @number:     of it in the epoch; -1: it is not in there
 * @name:       in the epoch
 * @samples:    how many; @periods: what they stand for, in all
 */
struct import_event {
	int number;
	char name[PERFDATA_NAME_BYTES];
	uint64_t samples;
	double periods;
};

/**
 * struct import_survey - what there is
 * @first_ns, @last_ns: of the samples' times; by the recording's clock
 * @samples:            of all events
 * @guest, @unknown_event: of these, those that belong to no profile here
 * @lost_samples:       that the kernel says it lost; @lost_images: image events likewise
 * @lost_records:       records of any kind, these among them where they are told apart
 * @lives:              programs that began and ended
 * @throttled:          times that the kernel stopped an event for a while
 */
struct import_survey {
	struct import_event events[PERFDATA_EVENTS_MAX];
	struct import_lives lives;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t samples;
	uint64_t guest;
	uint64_t unknown_event;
	uint64_t lost_samples;
	uint64_t lost_images;
	uint64_t lost_records;
	uint64_t throttled;
};

/**
 * import_survey_make() - read all records; the file's header is complete then
 * @survey: freed by import_survey_deinit(), also after a failure
 *
 * Return: 0; -EBADMSG a record is malformed; errors of perfdata_file_next().
 */
int import_survey_make(struct import_survey *survey, struct perfdata_file *file, struct error *err);
void import_survey_deinit(struct import_survey *survey);

/** import_is_guest() - whether a sample is of a virtual machine's inside, by its mode. */
bool import_is_guest(const struct perfdata_sample *sample);

#endif
