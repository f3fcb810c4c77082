/* SPDX-License-Identifier: GPL-2.0-only */
/* Perf's side-band records, checked and taken apart: of a ring, or of a perf.data file. */
#ifndef DCPI_SIDE_BAND_RECORD_H
#define DCPI_SIDE_BAND_RECORD_H

#include "loader-hook/image_event.h"

struct perf_event_header;

enum side_band_kind {
	SIDE_BAND_EVENT,  /* @event is complete */
	SIDE_BAND_CLONE,  /* @event.pid has a new thread */
	SIDE_BAND_EXIT,	  /* thread @tid of @event.pid ended */
	SIDE_BAND_KERNEL, /* @event: the kernel or a module has code there; perf's own word */
	SIDE_BAND_LOST,	  /* @lost records were dropped */
	SIDE_BAND_OTHER,  /* of no interest, or malformed */
};

/** struct side_band_record - a record; the path points into the record. */
struct side_band_record {
	enum side_band_kind kind;
	struct image_event event;
	uint32_t tid;
	uint64_t lost;
};

/**
 * side_band_record_excess() - bytes after a record's trailer that mean nothing
 * @trailer_bytes: of the trailer that it should have
 *
 * Linux makes one KSYMBOL record for all who listen, and adds the size of a trailer to it
 * for each of them: only the first gets a record that ends where it should.
 */
size_t side_band_record_excess(const struct perf_event_header *header, size_t trailer_bytes);

/**
 * side_band_record_time() - when a record was made
 *
 * Every record has its time at its end (sample_id_all, PERF_SAMPLE_TIME alone).
 *
 * Return: CLOCK_MONOTONIC in ns; 0 if the record is too short for one.
 */
uint64_t side_band_record_time(const struct perf_event_header *header);

/** side_band_record_parse() - take a record apart; aligned to eight bytes. */
void side_band_record_parse(struct side_band_record *ret, const struct perf_event_header *header);

/**
 * side_band_record_take() - the same for a record that ends in anything, or nothing
 * @trailer_bytes: so long is that; at most what is behind the header
 * @time_ns:       when it was made, of the clock that the event is to have; 0: not known
 */
void side_band_record_take(struct side_band_record *ret, const struct perf_event_header *header,
			   size_t trailer_bytes, uint64_t time_ns);

#endif
