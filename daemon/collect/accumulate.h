/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples waiting for a merge into the database: counts by offset, in one bin per (image, event,
 * process or label), and in each bin also counts by label. A bin has a part for each slice of time
 * (accumulate_slice()) in which it got samples.
 *
 * Bins are sorted by the age of their oldest sample. A merge takes the oldest ones and drops them
 * afterwards; a bin that gets new samples later is a new bin. Memory is bounded: once the limit is
 * reached, new samples are refused and counted. (The array that grew last may exceed the limit, at
 * most by its own size.)
 */
#ifndef DCPI_ACCUMULATE_H
#define DCPI_ACCUMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/bin_queue.h"
#include "daemon/collect/offset_counts.h"
#include "db/profile.h"

struct error;

#define ACCUMULATE_COMMAND_BYTES 16

/**
 * struct accumulate_key - identifies a profile
 * @image: number in the image table
 * @event: number of the event, 0 .. 255
 * @pid:   process, PROFILE_PID_OF_LABEL(), or PROFILE_PID_ALL
 */
struct accumulate_key {
	uint32_t image;
	uint32_t event;
	int64_t pid;
};

/** struct accumulate_label - number of a bin's samples that have a label. */
struct accumulate_label {
	uint32_t label;
	uint64_t samples;
};

/*
 * Private to accumulate.c; defined here only for accumulate_add().
 *
 * @next:   part of a later slice, NULL if this is the current one
 * @slice:  number of the slice
 * @held:   sum of the counts; not up to date in the current part
 * @labels: sorted by label; @label: index of the last one used
 */
struct accumulate_part {
	struct accumulate_part *next;
	uint32_t slice;
	uint64_t held;
	struct offset_counts offsets;
	struct accumulate_label *labels;
	size_t label_count;
	size_t label_capacity;
	size_t label;
};

/* @oldest: the first part; @part: the last one, which gets samples */
struct accumulate_bin {
	struct bin bin;
	struct accumulate_part part;
	struct accumulate_part *oldest;
	struct accumulate_key key;
	char command[ACCUMULATE_COMMAND_BYTES];
};

struct accumulate {
	struct bin_queue queue;
	struct offset_scratch scratch;
	uint32_t slice;
};

/** accumulate_create() - create an empty accumulator; @memory_limit in bytes. */
int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err);
void accumulate_destroy(struct accumulate *accumulate);

/**
 * accumulate_slice() - begin another slice: samples added from now on are in new parts of bins
 *
 * Pointers from accumulate_bin() are void: bins must be looked up again before samples are added.
 *
 * Return: the number of the slice; the first one has the number 0.
 */
uint32_t accumulate_slice(struct accumulate *accumulate);

/** accumulate_slice_now() - return the number of the current slice. */
uint32_t accumulate_slice_now(const struct accumulate *accumulate);

/**
 * accumulate_bin() - return the bin of a profile, creating it if necessary
 * @command: name of the process, stored in a bin that this call creates
 *
 * Return: the bin, valid until it is dropped or another slice begins; NULL over the limit or out of
 * memory.
 */
struct accumulate_bin *accumulate_bin(struct accumulate *accumulate,
				      const struct accumulate_key *key, const char *command);

/* Slow paths of accumulate_add(). */
bool accumulate_add_offset(struct accumulate *accumulate, struct accumulate_bin *bin,
			   uint64_t offset, uint32_t count);
void accumulate_add_label(struct accumulate *accumulate, struct accumulate_bin *bin, uint32_t label,
			  uint32_t count);

/**
 * accumulate_add() - add samples
 * @bin:   target; NULL: refuse the samples, as without memory
 * @label: of the samples; LABEL_NONE: not counted by label. If there is no memory for another label
 *         in the bin, the samples have none
 *
 * Return: 0; -ENOMEM over the limit or out of memory: the samples are counted in
 * accumulate_refused().
 */
static inline int accumulate_add(struct accumulate *accumulate, struct accumulate_bin *bin,
				 uint32_t label, uint64_t offset, uint32_t count)
{
	if (bin == NULL || (!offset_counts_again(&bin->part.offsets, offset, count) &&
			    !accumulate_add_offset(accumulate, bin, offset, count)))
		return bin_queue_refuse(&accumulate->queue, count);
	bin_queue_hold(&accumulate->queue, &bin->bin, count);
	if (label == 0)
		return 0;
	if (bin->part.label < bin->part.label_count &&
	    bin->part.labels[bin->part.label].label == label)
		bin->part.labels[bin->part.label].samples += count;
	else
		accumulate_add_label(accumulate, bin, label, count);
	return 0;
}

/** accumulate_held() - return the number of samples in all bins. */
uint64_t accumulate_held(const struct accumulate *accumulate);

/** accumulate_refused() - return the number of samples refused so far. */
uint64_t accumulate_refused(const struct accumulate *accumulate);

/** accumulate_bytes() - return the memory in use. */
size_t accumulate_bytes(const struct accumulate *accumulate);

/** accumulate_bins() - return the number of bins. */
size_t accumulate_bins(const struct accumulate *accumulate);

/** accumulate_first() - return the oldest bin, NULL if there is none. */
struct accumulate_bin *accumulate_first(const struct accumulate *accumulate);

/** accumulate_next() - return the bin after this one, NULL if it is the youngest. */
struct accumulate_bin *accumulate_next(const struct accumulate_bin *bin);

/** accumulate_bin_key() - return the key of a bin. */
struct accumulate_key accumulate_bin_key(const struct accumulate_bin *bin);

/** accumulate_bin_command() - return the name of the bin's process, "" if unknown. */
const char *accumulate_bin_command(const struct accumulate_bin *bin);

/** accumulate_bin_held() - return the number of samples in a bin. */
uint64_t accumulate_bin_held(const struct accumulate_bin *bin);

/** accumulate_bin_oldest() - return the oldest part of a bin; each bin has one. */
const struct accumulate_part *accumulate_bin_oldest(const struct accumulate_bin *bin);

/** accumulate_part_next() - return the part after this one, NULL if it is the youngest. */
const struct accumulate_part *accumulate_part_next(const struct accumulate_part *part);

/** accumulate_part_slice() - return the number of a part's slice. */
uint32_t accumulate_part_slice(const struct accumulate_part *part);

/** accumulate_part_held() - return the number of samples in a part of @bin. */
uint64_t accumulate_part_held(const struct accumulate_bin *bin, const struct accumulate_part *part);

/**
 * accumulate_part_labels() - return the counts by label of a part, by ascending label
 *
 * Their sum is at most the number of samples in it. Valid until samples are added or dropped.
 */
const struct accumulate_label *accumulate_part_labels(const struct accumulate_part *part,
						      size_t *count);

/**
 * accumulate_part_samples() - return the counts of a part, by ascending offset
 * @samples: out: valid until the next call for any part, and until bins are dropped
 * @count:   out: number of @samples
 *
 * Return: 0 or -ENOMEM.
 */
int accumulate_part_samples(struct accumulate *accumulate, const struct accumulate_part *part,
			    const struct profile_sample **samples, size_t *count);

/** accumulate_drop() - drop the @bins oldest bins, which have been stored. */
void accumulate_drop(struct accumulate *accumulate, size_t bins);

#endif
