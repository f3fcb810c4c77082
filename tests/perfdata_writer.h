/* SPDX-License-Identifier: GPL-2.0-only */
/* Writer of perf.data files for tests: one or more events, records, build-ids. */
#ifndef DCPI_TESTS_PERFDATA_WRITER_H
#define DCPI_TESTS_PERFDATA_WRITER_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/** struct perfdata_writer - empty if zero-initialised; freed by perfdata_writer_free() */
struct perfdata_writer {
	uint8_t *bytes;
	size_t used;
	size_t capacity;
	size_t data_at;
};

/**
 * perfdata_writer_begin() - write the header and the events
 * @count: number of events, with ids 1 ..; the last one is perf's dummy event if @dummy
 *
 * Records have TID, TIME, ID and CPU; samples also have IP and PERIOD.
 */
void perfdata_writer_begin(struct perfdata_writer *writer, unsigned int count, int dummy);

/** perfdata_writer_record() - write a record with a body, and a trailer unless @id is 0 */
void perfdata_writer_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc,
			    const void *body, size_t bytes, uint64_t time_ns, uint64_t id);

void perfdata_writer_sample(struct perfdata_writer *writer, uint16_t misc, uint64_t id,
			    uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t period);

/** perfdata_writer_map() - write an mmap2 record; all twenty bytes of its build-id are @image */
void perfdata_writer_map(struct perfdata_writer *writer, uint32_t pid, uint64_t time_ns,
			 uint64_t start, uint64_t length, uint64_t offset, uint8_t image);

/** perfdata_writer_task() - write PERF_RECORD_FORK or _EXIT of a process's first thread */
void perfdata_writer_task(struct perfdata_writer *writer, uint32_t type, uint32_t pid,
			  uint32_t parent, uint64_t time_ns);

void perfdata_writer_exec(struct perfdata_writer *writer, uint32_t pid, uint64_t time_ns);

/** perfdata_writer_round() - write a FINISHED_ROUND record: perf has read all rings */
void perfdata_writer_round(struct perfdata_writer *writer);

/** perfdata_writer_end() - set the size of the data in the header */
void perfdata_writer_end(struct perfdata_writer *writer);

void perfdata_writer_free(struct perfdata_writer *writer);

#endif
