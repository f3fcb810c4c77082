/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples waiting for a merge into the database: counts by offset, in one bin per (image, event,
 * process or label), and in each bin also counts by label.
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

/** accumulate_create() - create an empty accumulator; @memory_limit in bytes. */
int accumulate_create(struct accumulate **ret, size_t memory_limit, struct error *err);
void accumulate_destroy(struct accumulate *accumulate);

/**
 * accumulate_bin() - return the bin of a profile, creating it if necessary
 * @command: name of the process, stored in a bin that this call creates
 *
 * Return: the bin, valid until it is dropped; NULL over the limit or out of memory.
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

/**
 * accumulate_bin_labels() - return the counts by label of a bin, by ascending label
 *
 * Their sum is at most the number of samples in the bin. Valid until samples are added or dropped.
 */
const struct accumulate_label *accumulate_bin_labels(const struct accumulate_bin *bin,
						     size_t *count);

/**
 * accumulate_bin_samples() - return the counts of a bin, by ascending offset
 * @samples: out: valid until the next call for any bin, and until bins are dropped
 * @count:   out: number of @samples
 *
 * Return: 0 or -ENOMEM.
 */
int accumulate_bin_samples(struct accumulate *accumulate, struct accumulate_bin *bin,
			   const struct profile_sample **samples, size_t *count);

/** accumulate_drop() - drop the @bins oldest bins, which have been stored. */
void accumulate_drop(struct accumulate *accumulate, size_t bins);

#endif
