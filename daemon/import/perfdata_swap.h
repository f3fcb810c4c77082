/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert a perf.data file of the other byte order, in place, so that parsers see only records of
 * this machine's order. In a file of a big-endian machine the bytes of numbers are reversed. Two
 * 32-bit numbers in a field of 64 bits keep their order. The members of a C bit-field begin at the
 * other end of their 64-bit word.
 *
 * The contents are untrusted. Complete fields are converted; parsers check the record afterwards.
 * Fields that no parser reads may remain as they are: the data of tracepoints, copies of user
 * stacks, weights.
 */
#ifndef DCPI_PERFDATA_SWAP_H
#define DCPI_PERFDATA_SWAP_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct perfdata_events;

/** perfdata_swap_words() - convert 64-bit numbers; an incomplete last one remains */
void perfdata_swap_words(void *data, size_t bytes);

/** perfdata_swap_attr() - convert a perf_event_attr; @bytes: its size, of any version */
void perfdata_swap_attr(void *attr, size_t bytes);

/** perfdata_swap_feature() - convert the contents of a section (enum perfdata_feature) */
void perfdata_swap_feature(unsigned int feature, void *data, size_t bytes);

/** perfdata_swap_head() - convert the header of a record, so that its size is known */
void perfdata_swap_head(struct perf_event_header *head);

/**
 * perfdata_swap_record() - convert the rest of a record
 * @record: complete; its header is already converted
 * @events: of the file, converted; they determine the layout of samples and trailers
 */
void perfdata_swap_record(struct perf_event_header *record, const struct perfdata_events *events);

#endif
