/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples on their way to the database: counts by offset, in one bin per
 * (image, event, process or label), and beside them how many are whose.
 *
 * Bins are in the order of their oldest sample. Merging takes the oldest ones
 * and drops them afterwards; a bin that gets new samples later is a new bin.
 * Memory is bounded: once the limit is reached, what is new is refused and
 * counted. (The array that grew last may exceed it: by its own size at most.)
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
 * struct accumulate_key - which profile
 * @image: number in the image table
 * @event: number of the event, 0 .. 255
 * @pid:   process, PROFILE_PID_OF_LABEL(), or PROFILE_PID_ALL
 */
struct accumulate_key {
	uint32_t image;
	uint32_t event;
	int64_t pid;
};

/** struct accumulate_label - samples of a bin that are a label's. */
struct accumulate_label {
	uint32_t label;
	uint64_t samples;
};

/*
 * What is in them is accumulate.c's, and here for accumulate_add() only.
 *
 * @labels: sorted by label; @label: index of the last one used
 */
struct accumulate_bin {
	struct bin bin;
	struct offset_counts offsets;
	struct accumulate_label *labels;
	size_t label_count;
	size_t label_capacity;
	size_t label;
	struct accumulate_key key;
	char command[ACCUMULATE_COMMAND_BYTES];
};

struct accumulate {
	struct bin_queue queue;
	struct offset_scratch scratch;
};

/** accumulate_create() - empty; @memory_limit in bytes. */
int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err);
void accumulate_destroy(struct accumulate *accumulate);

/**
 * accumulate_bin() - the bin of a profile, created if it is not there
 * @command: name of the process, kept with a bin that this call creates
 *
 * Return: the bin, until it is dropped; NULL over the limit or out of memory.
 */
struct accumulate_bin *accumulate_bin(struct accumulate *accumulate,
				      const struct accumulate_key *key, const char *command);

/* The parts of accumulate_add() that few samples need. */
bool accumulate_add_offset(struct accumulate *accumulate, struct accumulate_bin *bin,
			   uint64_t offset, uint32_t count);
void accumulate_add_label(struct accumulate *accumulate, struct accumulate_bin *bin, uint32_t label,
			  uint32_t count);

/**
 * accumulate_add() - add samples
 * @bin:   where to; NULL: nowhere, as without memory
 * @label: whose they are, LABEL_NONE: not counted apart. If there is no memory
 *         for another label in the bin, they are nobody's
 *
 * Return: 0; -ENOMEM over the limit or out of memory: the samples are counted
 * in accumulate_refused().
 */
static inline int accumulate_add(struct accumulate *accumulate, struct accumulate_bin *bin,
				 uint32_t label, uint64_t offset, uint32_t count)
{
	if (bin == NULL || (!offset_counts_again(&bin->offsets, offset, count) &&
			    !accumulate_add_offset(accumulate, bin, offset, count)))
		return bin_queue_refuse(&accumulate->queue, count);
	bin_queue_hold(&accumulate->queue, &bin->bin, count);
	if (label == 0)
		return 0;
	if (bin->label < bin->label_count && bin->labels[bin->label].label == label)
		bin->labels[bin->label].samples += count;
	else
		accumulate_add_label(accumulate, bin, label, count);
	return 0;
}

/** accumulate_held() - samples in all bins. */
uint64_t accumulate_held(const struct accumulate *accumulate);

/** accumulate_refused() - samples refused so far. */
uint64_t accumulate_refused(const struct accumulate *accumulate);

/** accumulate_bytes() - memory in use. */
size_t accumulate_bytes(const struct accumulate *accumulate);

/** accumulate_bins() - number of bins. */
size_t accumulate_bins(const struct accumulate *accumulate);

/** accumulate_first() - the oldest bin, NULL if there is none. */
struct accumulate_bin *accumulate_first(const struct accumulate *accumulate);

/** accumulate_next() - the bin after this one, NULL if it is the youngest. */
struct accumulate_bin *accumulate_next(const struct accumulate_bin *bin);

/** accumulate_bin_key() - what a bin holds. */
struct accumulate_key accumulate_bin_key(const struct accumulate_bin *bin);

/** accumulate_bin_command() - name of the bin's process, "" if not known. */
const char *accumulate_bin_command(const struct accumulate_bin *bin);

/** accumulate_bin_held() - samples in a bin. */
uint64_t accumulate_bin_held(const struct accumulate_bin *bin);

/**
 * accumulate_bin_labels() - whose samples a bin's are, by ascending label
 *
 * They add up to what the bin holds, at most. Valid until samples are added or dropped.
 */
const struct accumulate_label *accumulate_bin_labels(const struct accumulate_bin *bin,
						     size_t *count);

/**
 * accumulate_bin_samples() - a bin's counts, ascending by offset
 * @samples: out: valid until the next call for any bin, and until bins are dropped
 * @count:   out: how many
 *
 * Return: 0 or -ENOMEM.
 */
int accumulate_bin_samples(struct accumulate *accumulate, struct accumulate_bin *bin,
			   const struct profile_sample **samples, size_t *count);

/** accumulate_drop() - forget the @bins oldest bins: they are stored. */
void accumulate_drop(struct accumulate *accumulate, size_t bins);

#endif
