// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* Pieces not in their place yet that are looked through for one that moves. */
#define RECENT 1024
/* Pieces that were replaced around an address, of which the last one is looked for. */
#define OVERLAPS 32

void jit_codes_deinit(struct jit_codes *codes)
{
	free(codes->codes);
	free(codes->replaced);
	*codes = (struct jit_codes){0};
}

size_t jit_codes_count(const struct jit_codes *codes)
{
	return codes->count + codes->replaced_count;
}

int jit_codes_add(struct jit_codes *codes, const struct jit_code *code)
{
	if (array_reserve(&codes->codes, &codes->capacity, codes->count + 1,
			  sizeof(codes->codes[0])) < 0)
		return -ENOMEM;
	codes->codes[codes->count++] = *code;
	return 0;
}

/* The last of a sorted list that starts at or below an address, or NULL. */
static struct jit_code *below(struct jit_code *list, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &list[low - 1] : NULL;
}

static struct jit_code *holder(struct jit_code *list, size_t count, uint64_t address)
{
	struct jit_code *code = below(list, count, address);

	return code != NULL && address - code->start < code->bytes ? code : NULL;
}

/* Of what was replaced, ranges may overlap. */
static void keep_replaced(struct jit_codes *codes, const struct jit_code *code, uint64_t end_ns,
			  uint64_t window_ns)
{
	if (end_ns <= window_ns)
		return;
	/* Without memory for it, samples go to what is there now. */
	if (array_reserve(&codes->replaced, &codes->replaced_capacity, codes->replaced_count + 1,
			  sizeof(codes->replaced[0])) < 0)
		return;
	codes->replaced[codes->replaced_count] = *code;
	codes->replaced[codes->replaced_count++].since_ns = end_ns;
}

int jit_codes_move(struct jit_codes *codes, uint64_t from, uint64_t to, uint64_t time_ns)
{
	size_t i, last = codes->count, first = codes->settled;
	struct jit_code *code = NULL, moved;

	/* Moved soon after it was made, if at all. */
	if (last - first > RECENT)
		first = last - RECENT;
	for (i = last; i > first && code == NULL; i--) {
		if (codes->codes[i - 1].start == from)
			code = &codes->codes[i - 1];
	}
	if (code == NULL)
		code = holder(codes->codes, codes->settled, from);
	if (code == NULL || code->start != from)
		return -ENOENT;
	moved = *code;
	moved.start = to;
	moved.since_ns = time_ns;
	if (to >> 63 != 0 || moved.bytes > (1ULL << 63) - to)
		return -ENOENT;
	return jit_codes_add(codes, &moved);
}

/* By address; of those that begin at one, in order of time. */
struct sorted {
	struct jit_code code;
	size_t order;
};

static int compare_sorted(const void *first, const void *second)
{
	const struct sorted *a = first, *b = second;

	if (a->code.start != b->code.start)
		return a->code.start < b->code.start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static struct sorted *sort_added(const struct jit_codes *codes, size_t count)
{
	struct sorted *added = malloc(count * sizeof(*added));
	size_t i;

	if (added == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		added[i] =
			(struct sorted){.code = codes->codes[codes->settled + i], .order = i + 1};
	qsort(added, count, sizeof(*added), compare_sorted);
	return added;
}

static bool overlap(const struct jit_code *a, const struct jit_code *b)
{
	return a->start < b->start + b->bytes && b->start < a->start + a->bytes;
}

static void cut(struct jit_code *code, const struct jit_code *next)
{
	if (code->at_most && code->start < next->start && overlap(code, next))
		code->bytes = (uint32_t)(next->start - code->start);
}

/*
 * Appends the next one by address. @orders: of those kept, 0 for old ones.
 * A later one throws out what it overlaps, an earlier one does not get in.
 */
static size_t place(struct jit_codes *codes, struct sorted *kept, size_t count,
		    const struct sorted *next, uint64_t window_ns, bool *replaced)
{
	if (count > 0)
		cut(&kept[count - 1].code, &next->code);
	while (count > 0 && overlap(&kept[count - 1].code, &next->code)) {
		*replaced = true;
		if (kept[count - 1].order > next->order) {
			keep_replaced(codes, &next->code, kept[count - 1].code.since_ns, window_ns);
			return count;
		}
		keep_replaced(codes, &kept[count - 1].code, next->code.since_ns, window_ns);
		count--;
	}
	kept[count] = *next;
	return count + 1;
}

static int compare_codes(const void *first, const void *second)
{
	const struct jit_code *a = first, *b = second;

	return (a->start > b->start) - (a->start < b->start);
}

static void drop_replaced(struct jit_codes *codes, uint64_t window_ns)
{
	size_t i, kept = 0;

	for (i = 0; i < codes->replaced_count; i++) {
		if (codes->replaced[i].since_ns > window_ns)
			codes->replaced[kept++] = codes->replaced[i];
	}
	codes->replaced_count = kept;
}

bool jit_codes_settle(struct jit_codes *codes, uint64_t window_ns)
{
	size_t added_count = codes->count - codes->settled, old = 0, new = 0, count = 0, i;
	struct sorted *added, *kept;
	bool replaced = false;

	drop_replaced(codes, window_ns);
	if (added_count == 0)
		return false;
	added = sort_added(codes, added_count);
	kept = added != NULL ? malloc(codes->count * sizeof(*kept)) : NULL;
	if (kept == NULL) {
		/* They stay, unsettled, for the next time. */
		free(added);
		return false;
	}
	while (old < codes->settled || new < added_count) {
		struct sorted next = {.order = 0};

		if (new == added_count ||
		    (old < codes->settled && codes->codes[old].start <= added[new].code.start))
			next.code = codes->codes[old++];
		else
			next = added[new ++];
		count = place(codes, kept, count, &next, window_ns, &replaced);
	}
	for (i = 0; i < count; i++)
		codes->codes[i] = kept[i].code;
	codes->count = codes->settled = count;
	free(kept);
	free(added);
	if (codes->replaced_count > 1)
		qsort(codes->replaced, codes->replaced_count, sizeof(codes->replaced[0]),
		      compare_codes);
	return replaced;
}

/* The one that had an address last before the one there now. Ranges overlap, but few do. */
static struct jit_code *find_replaced(struct jit_codes *codes, uint64_t address)
{
	struct jit_code *code = below(codes->replaced, codes->replaced_count, address);
	struct jit_code *best = NULL;
	int i;

	for (i = 0; i < OVERLAPS && code != NULL; i++) {
		if (address - code->start < code->bytes &&
		    (best == NULL || code->since_ns > best->since_ns))
			best = code;
		code = code > codes->replaced ? code - 1 : NULL;
	}
	return best;
}

bool jit_codes_alone(const struct jit_codes *codes, const struct jit_code *code, uint64_t window_ns)
{
	const struct jit_code *other =
		below(codes->replaced, codes->replaced_count, code->start + code->bytes - 1);
	int i;

	for (i = 0; i < OVERLAPS && other != NULL; i++) {
		if (other->since_ns > window_ns && overlap(other, code))
			return false;
		other = other > codes->replaced ? other - 1 : NULL;
	}
	return true;
}

struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t address, uint64_t window_ns,
				uint64_t until_ns, bool *doubtful)
{
	struct jit_code *now = holder(codes->codes, codes->settled, address), *before;

	*doubtful = false;
	if (now != NULL && now->since_ns <= window_ns)
		return now;
	before = find_replaced(codes, address);
	if (before == NULL || before->since_ns <= window_ns)
		return now;
	if (now == NULL)
		return before;
	*doubtful = true;
	return now->since_ns - window_ns > (until_ns - window_ns) / 2 ? before : now;
}
