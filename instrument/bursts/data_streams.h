/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hot data streams: sequences of references to memory, of the same instructions to the same
 * addresses, that recur. Chilimbi, "Efficient representations and abstractions for
 * quantifying and exploiting data reference locality", 2001; and section 5.2 of Hirzel and
 * Chilimbi's "Bursty tracing".
 *
 * What recurs is the rules of a grammar (sequitur.h) that makes all bursts; none goes over a
 * burst's end. A rule is a stream if it is of a length that is asked for and its heat, which
 * is its length times how often it occurs, at least a threshold; what occurs as a part of
 * one that is a stream already does not count again (Chilimbi and Hirzel, "Dynamic hot data
 * stream prefetching", 2002, section 3.1). The threshold is the highest by which streams are
 * as much of all references as is asked for, if they ever are.
 *
 * Addresses are others in another run. So streams are known by their access signature, the
 * instructions alone, and those with the same one are one.
 */
#ifndef DCPI_INSTRUMENT_DATA_STREAMS_H
#define DCPI_INSTRUMENT_DATA_STREAMS_H

#include <stdint.h>

#include "instrument/bursts/bursts_profile.h"

#define DATA_STREAMS_LENGTH_MAX 10000

/**
 * struct data_streams_options - which
 * @shortest, @longest: lengths, 1 .. DATA_STREAMS_LENGTH_MAX
 * @cover: part of all references that streams are to be, 0 .. 1
 * @heat:  the threshold instead; 0: see @cover
 */
struct data_streams_options {
	uint32_t shortest;
	uint32_t longest;
	double cover;
	uint64_t heat;
};

#define DATA_STREAMS_DEFAULT ((struct data_streams_options){10, 40, 0.9, 0})

/**
 * struct data_stream - one
 * @first, @length: instructions[@first] .. are its signature
 * @reference: number of the first instruction (bursts_map.h)
 * @frequency: how often it occurs, without overlaps
 * @heat:      @length * @frequency; if several are one, the sum
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
 * @references:   that were looked at
 * @covered:      of these, in streams
 * @threshold:    the least heat of one, before those with the same signature are one
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

/** data_streams_find() - of a profile's references. @ret: out. Return: 0 or -ENOMEM. */
int data_streams_find(struct data_streams *ret, const struct bursts_map *map,
		      const struct bursts_profile *profile,
		      const struct data_streams_options *options);

void data_streams_deinit(struct data_streams *streams);

/**
 * data_streams_overlap() - how much two profiles of streams have in common (equation 5)
 * @ret: out: 0 .. 1: the sum over all streams of the lesser of both heats, of which each is
 *       taken as a part of its profile's references
 *
 * Return: 0 or -ENOMEM.
 */
int data_streams_overlap(double *ret, const struct data_streams *a, const struct data_streams *b);

#endif
