/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hot data streams: recurring sequences of references to memory, by the same instructions to the
 * same addresses. Chilimbi, "Efficient representations and abstractions for quantifying and
 * exploiting data reference locality", 2001; and section 5.2 of Hirzel and Chilimbi's "Bursty
 * tracing".
 *
 * Recurring sequences are the rules of a grammar (sequitur.h) that produces all bursts; no rule
 * crosses the end of a burst. A rule is a stream if its length is in the requested range and its
 * heat is at least a threshold. The heat is the length times the number of occurrences; occurrences
 * within another stream do not count (Chilimbi and Hirzel, "Dynamic hot data stream prefetching",
 * 2002, section 3.1). The threshold is the highest with which streams cover the requested share of
 * all references, if any does.
 *
 * Addresses differ between runs. So streams are identified by their access signature, which is the
 * sequence of instructions alone. Streams with the same signature are merged.
 */
#ifndef DCPI_INSTRUMENT_DATA_STREAMS_H
#define DCPI_INSTRUMENT_DATA_STREAMS_H

#include <stdint.h>

#include "instrument/bursts/bursts_profile.h"

#define DATA_STREAMS_LENGTH_MAX 10000

/**
 * struct data_streams_options - selection of streams
 * @shortest, @longest: lengths, 1 .. DATA_STREAMS_LENGTH_MAX
 * @cover: share of all references that streams should cover, 0 .. 1
 * @heat:  fixed threshold; 0: derived from @cover
 */
struct data_streams_options {
	uint32_t shortest;
	uint32_t longest;
	double cover;
	uint64_t heat;
};

#define DATA_STREAMS_DEFAULT ((struct data_streams_options){10, 40, 0.9, 0})

/**
 * struct data_stream - a stream
 * @first, @length: instructions[@first] .. are its signature
 * @reference: number of the first instruction (bursts_map.h)
 * @frequency: number of occurrences, without overlaps
 * @heat:      @length * @frequency; for merged streams the sum
 */
struct data_stream {
	size_t first;
	uint32_t reference;
	uint32_t length;
	uint64_t frequency;
	uint64_t heat;
};

/**
 * struct data_streams - zero-initialised is empty; freed by data_streams_deinit()
 * @all:          hottest first
 * @instructions: addresses in the image
 * @references:   number of references examined
 * @covered:      references in streams
 * @threshold:    minimum heat of a stream, before merging by signature
 */
struct data_streams {
	struct data_stream *all;
	size_t count;
	size_t capacity;
	uint64_t *instructions;
	size_t instruction_count;
	size_t instruction_capacity;
	uint64_t references;
	uint64_t covered;
	uint64_t threshold;
};

/** data_streams_find() - find the streams of a profile. @ret: out. Return: 0 or -ENOMEM. */
int data_streams_find(struct data_streams *ret, const struct bursts_map *map,
		      const struct bursts_profile *profile,
		      const struct data_streams_options *options);

void data_streams_deinit(struct data_streams *streams);

/**
 * data_streams_overlap() - compute the overlap of two profiles of streams (equation 5)
 * @ret: out: 0 .. 1: the sum over all streams of the lesser of both heats, each relative to its
 *       profile's references
 *
 * Return: 0 or -ENOMEM.
 */
int data_streams_overlap(double *ret, const struct data_streams *a, const struct data_streams *b);

#endif
