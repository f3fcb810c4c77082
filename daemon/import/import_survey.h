/* SPDX-License-Identifier: GPL-2.0-only */
/* Summary of the contents of a perf.data file, found by reading it once. */
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
 * @number:  its number in the epoch; -1: it is not stored
 * @name:    its name in the epoch
 * @samples: number of its samples
 * @periods: sum of their periods
 */
struct import_event {
	int number;
	char name[PERFDATA_NAME_BYTES];
	uint64_t samples;
	double periods;
};

/**
 * struct import_survey - summary of a file
 * @first_ns, @last_ns: range of the samples' times; by the recording's clock
 * @samples:            of all events
 * @guest, @unknown_event: parts of @samples that belong to no profile here
 * @lost_samples:       samples reported as lost by the kernel
 * @lost_images:        image events reported as lost
 * @lost_records:       lost records of any kind, including these if they are reported separately
 * @lives:              programs that began and ended
 * @throttled:          number of times that the kernel throttled an event
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
 * import_survey_make() - read all records; afterwards the file's header is complete
 * @survey: freed by import_survey_deinit(), also after a failure
 *
 * Return: 0; -EBADMSG if a record is malformed; errors of perfdata_file_next().
 */
int import_survey_make(struct import_survey *survey, struct perfdata_file *file, struct error *err);
void import_survey_deinit(struct import_survey *survey);

/** import_event_has_stacks() - return true if the stacks of an event's samples are stored */
bool import_event_has_stacks(const struct perfdata_event *event, const struct import_event *seen);

/** import_is_guest() - return true if a sample is from within a virtual machine, by its mode. */
bool import_is_guest(const struct perfdata_sample *sample);

#endif
