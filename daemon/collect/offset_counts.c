// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/offset_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/array.h"

/* 2^64 divided by the golden ratio: spreads neighbouring offsets. */
#define MULTIPLIER 0x9e3779b97f4a7c15ULL
/* Maximum length of a search; longer ones mean that the offsets were chosen to cause collisions. */
#define SEARCH_MAX 512
/* Up to this number, insertion is faster than the tables of a radix sort. */
#define INSERT_MAX 24
/* Maximum width of digits: a wider one saves passes, but has more counts to sum up. */
#define MANY 4096
#define BITS_MANY 12
#define BITS_FEW 8

int offset_counts_init(struct offset_counts *counts)
{
	*counts = (struct offset_counts){.multiplier = MULTIPLIER};
	return offset_counts_grow(counts);
}

void offset_counts_deinit(struct offset_counts *counts)
{
	free(counts->samples);
	free(counts->numbers);
	memset(counts, 0, sizeof(*counts));
}

size_t offset_counts_bytes(const struct offset_counts *counts)
{
	return counts->capacity * (sizeof(*counts->samples) + 2 * sizeof(*counts->numbers));
}

/* Insert an index into the first free slot. Return: number of slots searched before it. */
static size_t number_put(struct offset_counts *counts, uint64_t offset, size_t number)
{
	size_t home = offset * counts->multiplier >> counts->shift, slot = home;

	while (counts->numbers[slot] != 0)
		slot = (slot + 1) & (2 * counts->capacity - 1);
	counts->numbers[slot] = (uint32_t)number;
	return (slot - home) & (2 * counts->capacity - 1);
}

/* Insert all indices into an empty table. */
static void numbers_put(struct offset_counts *counts)
{
	size_t i;

	for (i = 1; i <= counts->count; i++)
		number_put(counts, counts->samples[i].offset, i);
}

int offset_counts_grow(struct offset_counts *counts)
{
	size_t capacity = counts->capacity;
	uint32_t *numbers;

	if (capacity >= UINT32_MAX / 2 ||
	    array_reserve(&counts->samples, &capacity, capacity + 1, sizeof(*counts->samples)) < 0)
		return -ENOMEM;
	/* If this fails, the array's new room is used by a later call. */
	numbers = calloc(2 * capacity, sizeof(*numbers));
	if (numbers == NULL)
		return -ENOMEM;
	free(counts->numbers);
	counts->numbers = numbers;
	counts->capacity = capacity;
	counts->shift = 63 - (unsigned int)__builtin_ctzll(capacity);
	numbers_put(counts);
	return 0;
}

/* Change the multiplier to an unpredictable one, unless the kernel has no random numbers yet. */
static void multiplier_change(struct offset_counts *counts)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		return;
	counts->multiplier = random | 1;
	memset(counts->numbers, 0, 2 * counts->capacity * sizeof(*counts->numbers));
	numbers_put(counts);
}

bool offset_counts_append(struct offset_counts *counts, uint64_t offset, uint64_t count)
{
	if (counts->count + 1 == counts->capacity)
		return false;
	counts->samples[++counts->count] =
		(struct profile_sample){.offset = offset, .count = count};
	if (number_put(counts, offset, counts->count) > SEARCH_MAX)
		multiplier_change(counts);
	return true;
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

/* One stable pass by the digit at @shift. */
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

/*
 * Divide @width bits evenly among the minimum number of passes, and return the bits of the next
 * digit.
 */
static unsigned int digit_bits(unsigned int width, unsigned int widest)
{
	unsigned int passes = (width + widest - 1) / widest;

	return (width + passes - 1) / passes;
}

/*
 * Sort @samples, which are not modified, into @other, which has room for twice as many. Only bits
 * that differ are sorted. Return: the result.
 */
static struct profile_sample *radix_sort(struct profile_sample *other,
					 const struct profile_sample *samples, size_t count)
{
	unsigned int widest = count >= MANY ? BITS_MANY : BITS_FEW, shift = 0, bits;
	const struct profile_sample *from = samples;
	struct profile_sample *to = other;
	uint64_t differ = 0;
	size_t i;

	for (i = 1; i < count; i++)
		differ |= samples[i].offset ^ samples[0].offset;
	while (shift < 64 && differ >> shift != 0) {
		shift += (unsigned int)__builtin_ctzll(differ >> shift);
		bits = digit_bits(64 - (unsigned int)__builtin_clzll(differ >> shift), widest);
		to = from == other ? other + count : other;
		distribute(to, from, count, shift, bits);
		from = to;
		shift += bits;
	}
	return to;
}

int offset_counts_sort(const struct offset_counts *counts, struct offset_scratch *scratch,
		       const struct profile_sample **samples)
{
	if (array_reserve(&scratch->samples, &scratch->capacity, 2 * counts->count,
			  sizeof(scratch->samples[0])) < 0)
		return -ENOMEM;
	*samples = scratch->samples;
	if (counts->count > INSERT_MAX) {
		*samples = radix_sort(scratch->samples, counts->samples + 1, counts->count);
	} else if (counts->count > 0) {
		memcpy(scratch->samples, counts->samples + 1,
		       counts->count * sizeof(*counts->samples));
		insertion_sort(scratch->samples, counts->count);
	}
	return 0;
}
