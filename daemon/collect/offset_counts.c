// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/offset_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* Up to here inserting is cheaper than the tables of a radix sort. */
#define INSERT_MAX 24
/* Widest digits: a wider one saves passes, but has more to sum up. */
#define MANY 4096
#define BITS_MANY 12
#define BITS_FEW 8
/* Appended ones are sorted at the earliest when so many are, and so many times the sorted. */
#define SETTLE_MIN 256
#define SETTLE_RATIO 4

void offset_counts_deinit(struct offset_counts *counts)
{
	free(counts->samples);
	memset(counts, 0, sizeof(*counts));
}

size_t offset_counts_bytes(const struct offset_counts *counts)
{
	return counts->capacity * sizeof(*counts->samples);
}

static void insertion_sort(struct profile_sample *samples, size_t count)
{
	size_t i, j;

	for (i = 1; i < count; i++) {
		struct profile_sample sample = samples[i];

		for (j = i; j > 0 && samples[j - 1].offset > sample.offset; j--)
			samples[j] = samples[j - 1];
		samples[j] = sample;
	}
}

/* One pass: by the digit at @shift, in the order they have. */
static void distribute(struct profile_sample *to, const struct profile_sample *from, size_t count,
		       unsigned int shift, unsigned int bits)
{
	size_t starts[1U << BITS_MANY], sum = 0, i;
	uint64_t mask = (1ULL << bits) - 1;

	memset(starts, 0, sizeof(starts[0]) << bits);
	for (i = 0; i < count; i++)
		starts[from[i].offset >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		size_t digits = starts[i];

		starts[i] = sum;
		sum += digits;
	}
	for (i = 0; i < count; i++)
		to[starts[from[i].offset >> shift & mask]++] = from[i];
}

/* Of @width bits, in as many passes as the widest digits need: the digit that is left then. */
static unsigned int digit_bits(unsigned int width, unsigned int widest)
{
	unsigned int passes = (width + widest - 1) / widest;

	return (width + passes - 1) / passes;
}

/* Return: where they are then, @samples or @other. Only bits that differ are looked at. */
static struct profile_sample *radix_sort(struct profile_sample *samples,
					 struct profile_sample *other, size_t count)
{
	unsigned int widest = count >= MANY ? BITS_MANY : BITS_FEW, shift = 0, bits;
	struct profile_sample *swap;
	uint64_t differ = 0;
	size_t i;

	for (i = 1; i < count; i++)
		differ |= samples[i].offset ^ samples[0].offset;
	while (shift < 64 && differ >> shift != 0) {
		shift += (unsigned int)__builtin_ctzll(differ >> shift);
		bits = digit_bits(64 - (unsigned int)__builtin_clzll(differ >> shift), widest);
		distribute(other, samples, count, shift, bits);
		swap = samples;
		samples = other;
		other = swap;
		shift += bits;
	}
	return samples;
}

/* Sorted ones, at least one: each offset once. @to may be @from. Return: how many. */
static size_t combine(struct profile_sample *to, const struct profile_sample *from, size_t count)
{
	struct profile_sample *last = to;
	size_t i;

	*last = from[0];
	for (i = 1; i < count; i++) {
		if (from[i].offset == last->offset)
			last->count += from[i].count;
		else
			*++last = from[i];
	}
	return (size_t)(last - to) + 1;
}

/*
 * Merge @b into @a, from the ends on, so that nothing is overwritten before it
 * was looked at. There is room for both. Return: how many there are then.
 */
static size_t merge(struct profile_sample *a, size_t a_count, const struct profile_sample *b,
		    size_t b_count)
{
	size_t end = a_count + b_count, out = end;

	while (b_count > 0) {
		if (a_count > 0 && a[a_count - 1].offset > b[b_count - 1].offset) {
			a[--out] = a[--a_count];
		} else {
			a[--out] = b[--b_count];
			if (a_count > 0 && a[a_count - 1].offset == a[out].offset)
				a[out].count += a[--a_count].count;
		}
	}
	if (out > a_count)
		memmove(a + a_count, a + out, (end - out) * sizeof(*a));
	return a_count + end - out;
}

int offset_counts_settle(struct offset_counts *counts, struct offset_scratch *scratch)
{
	size_t count = counts->count - counts->sorted;
	struct profile_sample *tail, *sorted;

	if (count == 0)
		return 0;
	if (array_reserve(&scratch->samples, &scratch->capacity, count, sizeof(*tail)) < 0)
		return -ENOMEM;
	sorted = tail = counts->samples + counts->sorted;
	if (count <= INSERT_MAX)
		insertion_sort(tail, count);
	else
		sorted = radix_sort(tail, scratch->samples, count);
	if (counts->sorted == 0) {
		count = combine(tail, sorted, count);
	} else {
		count = combine(scratch->samples, sorted, count);
		count = merge(counts->samples, counts->sorted, scratch->samples, count);
	}
	counts->sorted = counts->count = count;
	return 0;
}

static struct profile_sample *find(const struct offset_counts *counts, uint64_t offset)
{
	size_t low = 0, high = counts->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counts->samples[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < counts->sorted && counts->samples[low].offset == offset ? &counts->samples[low]
									     : NULL;
}

/*
 * Sorting waits until there is much to sort, or no more memory. A quarter of the
 * array must come free then, or it would be sorted all too often.
 */
static bool make_room(struct offset_counts *counts, struct offset_scratch *scratch, bool may_grow)
{
	bool worth = counts->count >= SETTLE_MIN && counts->count / SETTLE_RATIO >= counts->sorted;

	if ((worth || !may_grow) && offset_counts_settle(counts, scratch) < 0)
		return false;
	counts->limit = counts->count;
	if (counts->count >= counts->capacity - counts->capacity / 4 &&
	    (!may_grow || array_reserve(&counts->samples, &counts->capacity, counts->capacity + 1,
					sizeof(*counts->samples)) < 0))
		return false;
	counts->limit = counts->capacity;
	return counts->count < counts->limit;
}

int offset_counts_add(struct offset_counts *counts, struct offset_scratch *scratch, uint64_t offset,
		      uint64_t count, bool may_grow)
{
	struct profile_sample *sample;

	if (offset_counts_append(counts, offset, count))
		return 0;
	if (make_room(counts, scratch, may_grow) && offset_counts_append(counts, offset, count))
		return 0;
	sample = find(counts, offset);
	if (sample == NULL)
		return -ENOMEM;
	sample->count += count;
	return 0;
}
