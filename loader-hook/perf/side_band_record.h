/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser of perf's side-band records, from a ring or a perf.data file. Checks their contents. */
#ifndef DCPI_SIDE_BAND_RECORD_H
#define DCPI_SIDE_BAND_RECORD_H

#include "loader-hook/image_event.h"

struct perf_event_header;

enum side_band_kind {
	SIDE_BAND_EVENT,  /* @event is complete */
	SIDE_BAND_CLONE,  /* @event.pid has a new thread */
	SIDE_BAND_EXIT,	  /* thread @tid of @event.pid ended */
	SIDE_BAND_KERNEL, /* @event: code of the kernel or a module; written by the perf tool */
	SIDE_BAND_LOST,	  /* @lost records were dropped */
	SIDE_BAND_OTHER,  /* not of interest, or malformed */
};

/** struct side_band_record - a parsed record; the path points into the raw record */
struct side_band_record {
	enum side_band_kind kind;
	struct image_event event;
	uint32_t tid;
	uint64_t lost;
};

/**
 * side_band_record_excess() - number of meaningless bytes after a record's trailer
 * @trailer_bytes: size of the trailer that the record should have
 *
 * Linux makes one KSYMBOL record for all listeners, and adds the size of a trailer to it for each
 * of them: only the first listener gets a record with the right size.
 */
size_t side_band_record_excess(const struct perf_event_header *header, size_t trailer_bytes);

/**
 * side_band_record_time() - return the time of a record
 *
 * Every record ends with its time (sample_id_all, PERF_SAMPLE_TIME alone).
 *
 * Return: CLOCK_MONOTONIC in ns; 0 if the record is too short to contain a time.
 */
uint64_t side_band_record_time(const struct perf_event_header *header);

/**
 * side_band_record_mapper() - find the process of a record of a mapping, without parsing the record
 *
 * Return: false: it is another record, or malformed.
 */
bool side_band_record_mapper(const struct perf_event_header *header, uint32_t *pid);

/** side_band_record_parse() - parse a record that ends with its time; aligned to eight bytes */
void side_band_record_parse(struct side_band_record *ret, const struct perf_event_header *header);

/**
 * side_band_record_take() - parse a record with any trailer, or none
 * @trailer_bytes: size of the trailer; at most the size of the record after its header
 * @time_ns:       time of the record, by the clock that the event is to use; 0: not known
 */
void side_band_record_take(struct side_band_record *ret, const struct perf_event_header *header,
			   size_t trailer_bytes, uint64_t time_ns);

#endif
