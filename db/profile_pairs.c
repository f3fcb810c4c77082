// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

void profile_pairs_deinit(struct profile_pairs *pairs)
{
	free(pairs->samples);
	memset(pairs, 0, sizeof(*pairs));
}

/* Count the elements of @samples before @offset. */
static size_t run_before(const struct profile_sample *samples, size_t count, uint64_t offset)
{
	size_t n = 0;

	while (n < count && samples[n].offset < offset)
		n++;
	return n;
}

static struct profile_sample *put_run(struct profile_sample *out,
				      const struct profile_sample *samples, size_t count)
{
	if (count > 0)
		memcpy(out, samples, count * sizeof(*out));
	return out + count;
}

/*
 * @a is typically much longer than @b: elements between two elements of @b are copied as a block.
 */
int profile_pairs_merge(struct profile_pairs *sum, const struct profile_pairs *a,
			const struct profile_sample *b, size_t b_count)
{
	const struct profile_sample *x = a->samples;
	size_t left = a->count, run, j, needed;
	uint64_t total = a->total;
	struct profile_sample *out;

	if (__builtin_add_overflow(a->count, b_count, &needed) ||
	    array_reserve(&sum->samples, &sum->capacity, needed, sizeof(*sum->samples)) < 0)
		return -ENOMEM;
	out = sum->samples;
	for (j = 0; j < b_count; j++, out++) {
		run = run_before(x, left, b[j].offset);
		out = put_run(out, x, run);
		x += run;
		left -= run;
		/* If the total does not overflow, no count does. */
		if (__builtin_add_overflow(total, b[j].count, &total))
			return -EOVERFLOW;
		*out = b[j];
		if (left > 0 && x->offset == b[j].offset) {
			out->count += x++->count;
			left--;
		}
	}
	out = put_run(out, x, left);
	sum->count = (size_t)(out - sum->samples);
	sum->total = total;
	return 0;
}

int profile_pairs_add(struct profile_pairs *sum, struct profile_pairs *spare,
		      const struct profile_sample *samples, size_t count)
{
	struct profile_pairs last = *sum;
	int r = profile_pairs_merge(spare, sum, samples, count);

	if (r < 0)
		return r;
	*sum = *spare;
	*spare = last;
	return 0;
}
