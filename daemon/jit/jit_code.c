// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_code.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"

/* Number of unsettled pieces that are searched for one that moves. */
#define RECENT 1024
/*
 * Maximum number of replaced pieces searched for one address; with more, the result is ambiguous.
 */
#define OVERLAPS_MAX 4096
/* A sampled piece counts as younger than this number of later additions. */
#define SAMPLED_BONUS (1U << 20)
/* The allocator's overhead per name. */
#define NAME_OVERHEAD 24

static void name_free(struct jit_codes *codes, struct jit_code *code)
{
	if (code->name == NULL)
		return;
	codes->name_bytes -= code->name_bytes + NAME_OVERHEAD;
	free(code->name);
	code->name = NULL;
}

static int name_copy(struct jit_codes *codes, struct jit_code *code)
{
	char *name;

	if (code->name == NULL)
		return 0;
	name = malloc(code->name_bytes);
	if (name == NULL)
		return -ENOMEM;
	memcpy(name, code->name, code->name_bytes);
	code->name = name;
	codes->name_bytes += code->name_bytes + NAME_OVERHEAD;
	return 0;
}

static void gone_clear(struct jit_codes *codes)
{
	for (size_t i = 0; i < codes->gone_count; i++)
		name_free(codes, &codes->gone[i].code);
	free(codes->gone);
	codes->gone = NULL;
	codes->gone_count = codes->gone_capacity = 0;
}

void jit_codes_deinit(struct jit_codes *codes)
{
	gone_clear(codes);
	for (size_t i = 0; i < codes->count; i++)
		name_free(codes, &codes->codes[i]);
	free(codes->codes);
	*codes = (struct jit_codes){0};
}

size_t jit_codes_count(const struct jit_codes *codes)
{
	return codes->count + codes->gone_count;
}

size_t jit_codes_bytes(const struct jit_codes *codes)
{
	return codes->capacity * sizeof(codes->codes[0]) +
	       codes->gone_capacity * sizeof(codes->gone[0]) + codes->name_bytes;
}

int jit_codes_add(struct jit_codes *codes, const struct jit_code *code)
{
	struct jit_code added = *code;

	if (array_reserve(&codes->codes, &codes->capacity, codes->count + 1,
			  sizeof(codes->codes[0])) < 0 ||
	    name_copy(codes, &added) < 0)
		return -ENOMEM;
	added.added = added.used = ++codes->clock;
	if (added.seen_ns < added.since_ns)
		added.seen_ns = added.since_ns;
	codes->codes[codes->count++] = added;
	return 0;
}

/* Both kinds of elements begin with a jit_code, which begins with its start. */
static uint64_t element_start(const void *list, size_t i, size_t element_bytes)
{
	uint64_t start;

	memcpy(&start, (const char *)list + i * element_bytes, sizeof(start));
	return start;
}

/* Return: number of elements of a list sorted by start that begin at or below an address. */
static size_t count_below(const void *list, size_t count, size_t element_bytes, uint64_t address)
{
	return partition_point(0, count, i, element_start(list, i, element_bytes) <= address);
}

static struct jit_code *holder(struct jit_codes *codes, uint64_t address)
{
	size_t n = count_below(codes->codes, codes->settled, sizeof(codes->codes[0]), address);
	struct jit_code *code = n > 0 ? &codes->codes[n - 1] : NULL;

	return code != NULL && address - code->start < code->bytes ? code : NULL;
}

static bool is_same(const struct jit_code *a, const struct jit_code *b)
{
	return a->start == b->start && a->bytes == b->bytes && a->name_hash == b->name_hash &&
	       a->file == b->file && a->code_at == b->code_at;
}

bool jit_codes_again(struct jit_codes *codes, const struct jit_code *code)
{
	struct jit_code *known = holder(codes, code->start);

	if (known == NULL || !is_same(known, code))
		return false;
	known->pass = code->pass;
	known->search = code->search;
	known->added = ++codes->clock;
	return true;
}

/* Takes ownership of the name. Out of memory, samples are attributed to the current piece. */
static void gone_add(struct jit_codes *codes, struct jit_code *code, uint64_t from_ns,
		     uint64_t by_ns, uint64_t window_ns)
{
	if (by_ns <= window_ns ||
	    array_reserve(&codes->gone, &codes->gone_capacity, codes->gone_count + 1,
			  sizeof(codes->gone[0])) < 0) {
		name_free(codes, code);
		return;
	}
	codes->gone[codes->gone_count++] = (struct jit_gone){
		.code = *code,
		.from_ns = from_ns,
		.by_ns = by_ns,
	};
}

int jit_codes_move(struct jit_codes *codes, uint64_t from, uint64_t to, uint64_t time_ns)
{
	size_t i, last = codes->count, first = codes->settled;
	const struct jit_code *code = NULL;
	struct jit_code moved;

	/* Pieces are moved soon after they were made, if at all. */
	if (last - first > RECENT)
		first = last - RECENT;
	for (i = last; i > first && code == NULL; i--) {
		if (codes->codes[i - 1].start == from)
			code = &codes->codes[i - 1];
	}
	if (code == NULL)
		code = holder(codes, from);
	if (code == NULL || code->start != from)
		return -ENOENT;
	moved = *code;
	moved.start = to;
	moved.since_ns = moved.seen_ns = time_ns;
	if (to >> 63 != 0 || moved.bytes > (1ULL << 63) - to)
		return -ENOENT;
	return jit_codes_add(codes, &moved);
}

/* Order by address; pieces at the same address chronologically. */
static int compare_added(const void *first, const void *second)
{
	const struct jit_code *a = first, *b = second;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->added > b->added) - (a->added < b->added);
}

static int compare_gone(const void *first, const void *second)
{
	const struct jit_gone *a = first, *b = second;

	return compare_added(&a->code, &b->code);
}

/* Sort after additions, and update the highest end address of all entries up to each one. */
static void gone_sort(struct jit_codes *codes)
{
	uint64_t reach = 0;

	array_sort(codes->gone, codes->gone_count, sizeof(codes->gone[0]), compare_gone);
	for (size_t i = 0; i < codes->gone_count; i++) {
		uint64_t end = codes->gone[i].code.start + codes->gone[i].code.bytes;

		reach = end > reach ? end : reach;
		codes->gone[i].reach = reach;
	}
}

static bool overlap(const struct jit_code *a, const struct jit_code *b)
{
	return a->start < b->start + b->bytes && b->start < a->start + a->bytes;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Merge two announcements of the same piece, which has existed all the time. @next: the later one
 */
static bool code_unite(struct jit_codes *codes, struct jit_code *known, struct jit_code *next)
{
	if (!is_same(known, next) || known->code_at != 0)
		return false;
	known->pass = next->pass;
	known->search = next->search;
	known->used = next->used > known->used ? next->used : known->used;
	known->added = next->added;
	name_free(codes, next);
	return true;
}

/* Pieces that overlap are equal: those in a tree do not. */
static int compare_places(const void *first, const void *second)
{
	const struct jit_code *a = first, *b = second;

	if (overlap(a, b))
		return 0;
	return a->start < b->start ? -1 : 1;
}

static int compare_age(const void *first, const void *second)
{
	const struct jit_code *a = *(struct jit_code *const *)first;
	const struct jit_code *b = *(struct jit_code *const *)second;

	return (a->added > b->added) - (a->added < b->added);
}

static void keep_node(void *node)
{
	(void)node;
}

/*
 * struct overlaps - pieces that overlap, while they are merged
 * @present: a tree of the pieces that have not been replaced
 */
struct overlaps {
	struct jit_codes *codes;
	void *present;
	uint64_t window_ns;
	bool replaced;
};

/* Mark a piece for removal. Its name has another owner, or is freed. */
static void mark_dead(struct jit_code *code)
{
	code->bytes = 0;
}

/* Replace all pieces that a later piece overlaps. Out of memory, the later piece is dropped. */
static void present_add(struct overlaps *overlaps, struct jit_code *next)
{
	struct jit_code *const *found;

	while ((found = tfind(next, &overlaps->present, compare_places)) != NULL) {
		struct jit_code *known = *found;

		if (code_unite(overlaps->codes, known, next)) {
			mark_dead(next);
			return;
		}
		tdelete(known, &overlaps->present, compare_places);
		overlaps->replaced = true;
		gone_add(overlaps->codes, known, later(known->since_ns, next->since_ns),
			 later(known->seen_ns, next->seen_ns), overlaps->window_ns);
		mark_dead(known);
	}
	if (tsearch(next, &overlaps->present, compare_places) == NULL) {
		name_free(overlaps->codes, next);
		mark_dead(next);
	}
}

/*
 * Leave those of overlapping pieces that no later one has replaced. A replaced piece does not come
 * back when its successor is replaced, so pieces are added in the order of their age. O(n log n).
 *
 * @order: room for @count pointers
 *
 * Return: number of pieces left, first in @list, by address.
 */
static size_t overlaps_merge(struct overlaps *overlaps, struct jit_code *list, size_t count,
			     struct jit_code **order)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = &list[i];
	array_sort(order, count, sizeof(struct jit_code *), compare_age);
	for (size_t i = 0; i < count; i++)
		present_add(overlaps, order[i]);
	tdestroy(overlaps->present, keep_node);
	overlaps->present = NULL;
	for (size_t i = 0; i < count; i++) {
		if (list[i].bytes > 0)
			list[left++] = list[i];
	}
	return left;
}

static void gone_drop(struct jit_codes *codes, uint64_t window_ns)
{
	size_t i, left = 0;

	for (i = 0; i < codes->gone_count; i++) {
		if (codes->gone[i].by_ns > window_ns)
			codes->gone[left++] = codes->gone[i];
		else
			name_free(codes, &codes->gone[i].code);
	}
	if (left == codes->gone_count)
		return;
	codes->gone_count = left;
	if (left == 0)
		gone_clear(codes);
	gone_sort(codes);
}

/* Return true if the sorted additions follow all others and each other. */
static bool is_in_place(const struct jit_codes *codes)
{
	size_t i = codes->settled > 0 ? codes->settled : 1;

	for (; i < codes->count; i++) {
		if (codes->codes[i].start < codes->codes[i - 1].start + codes->codes[i - 1].bytes)
			return false;
	}
	return true;
}

/* Merge the settled pieces and the sorted additions by address. */
static void codes_interleave(const struct jit_codes *codes, struct jit_code *out)
{
	size_t old = 0, new = codes->settled;

	for (size_t i = 0; i < codes->count; i++) {
		bool is_old =
			new == codes->count || (old < codes->settled &&
						codes->codes[old].start <= codes->codes[new].start);

		out[i] = codes->codes[is_old ? old++ : new ++];
	}
}

/* A piece of unknown length ends where another one begins. */
static void codes_cut(struct jit_code *list, size_t count)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = count; i-- > 0;) {
		if (i + 1 < count && list[i + 1].start > list[i].start)
			next = list[i + 1].start;
		if (list[i].at_most && next - list[i].start < list[i].bytes)
			list[i].bytes = (uint32_t)(next - list[i].start);
	}
}

/* @out: room for all pieces; becomes the list. @order: room for as many pointers */
static bool codes_merge(struct jit_codes *codes, struct jit_code *out, struct jit_code **order,
			uint64_t window_ns)
{
	struct overlaps overlaps = {.codes = codes, .window_ns = window_ns};
	size_t count = codes->count, left = 0, last;

	codes_interleave(codes, out);
	codes_cut(out, count);
	for (size_t first = 0; first < count; first = last) {
		uint64_t end = out[first].start + out[first].bytes;
		size_t kept = 1;

		for (last = first + 1; last < count && out[last].start < end; last++)
			end = later(end, out[last].start + out[last].bytes);
		if (last > first + 1)
			kept = overlaps_merge(&overlaps, &out[first], last - first, order);
		memmove(&out[left], &out[first], kept * sizeof(*out));
		left += kept;
	}
	free(codes->codes);
	codes->codes = out;
	codes->capacity = count;
	codes->count = codes->settled = left;
	return overlaps.replaced;
}

bool jit_codes_settle(struct jit_codes *codes, uint64_t window_ns)
{
	_cleanup_free_ struct jit_code **order = NULL;
	struct jit_code *out;
	bool replaced;
	size_t gone;

	gone_drop(codes, window_ns);
	if (codes->count == codes->settled)
		return false;
	gone = codes->gone_count;
	array_sort(codes->codes + codes->settled, codes->count - codes->settled,
		   sizeof(codes->codes[0]), compare_added);
	if (is_in_place(codes)) {
		codes->settled = codes->count;
		return false;
	}
	out = malloc(codes->count * sizeof(*out));
	order = malloc(codes->count * sizeof(*order));
	/* Out of memory, the pieces stay unsettled until the next call. */
	if (out == NULL || order == NULL) {
		free(out);
		return false;
	}
	replaced = codes_merge(codes, out, order, window_ns);
	if (codes->gone_count != gone)
		gone_sort(codes);
	return replaced;
}

bool jit_codes_purge(struct jit_codes *codes, uint8_t file, uint8_t pass, uint64_t since_ns,
		     uint64_t seen_ns, uint64_t window_ns)
{
	size_t i, left = 0, gone = codes->gone_count;
	bool removed;

	for (i = 0; i < codes->settled; i++) {
		struct jit_code *code = &codes->codes[i];

		if (code->file != file || code->pass == pass) {
			codes->codes[left++] = *code;
			continue;
		}
		/* Its file may no longer contain the code. */
		code->code_at = 0;
		gone_add(codes, code, since_ns, seen_ns, window_ns);
	}
	removed = left < codes->settled;
	memmove(codes->codes + left, codes->codes + codes->settled,
		(codes->count - codes->settled) * sizeof(codes->codes[0]));
	codes->count -= codes->settled - left;
	codes->settled = left;
	if (codes->gone_count != gone)
		gone_sort(codes);
	return removed;
}

/* Return the value with @rank smaller ones. C. A. R. Hoare, Algorithm 65: find, CACM 4(7), 1961. */
static uint32_t select_rank(uint32_t *values, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		uint32_t pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				uint32_t value = values[i];

				values[i++] = values[j];
				values[j] = value;
				if (j == 0)
					break;
				j--;
			}
		}
		if (rank <= j && j < high)
			high = j;
		else if (rank >= i)
			low = i;
		else
			break;
	}
	return values[rank];
}

/* Return: the median of @used: half of the pieces are younger; 0: out of memory. */
static uint32_t median_age(const struct jit_codes *codes)
{
	uint32_t *values = malloc(codes->count * sizeof(*values)), median;

	if (values == NULL)
		return 0;
	for (size_t i = 0; i < codes->count; i++)
		values[i] = codes->codes[i].used;
	median = select_rank(values, codes->count, (codes->count - 1) / 2);
	free(values);
	return median;
}

void jit_codes_skip(struct jit_codes *codes, uint64_t start, uint64_t bytes)
{
	if (codes->evicted++ == 0 || start < codes->evicted_start)
		codes->evicted_start = start;
	if (start + bytes > codes->evicted_end)
		codes->evicted_end = start + bytes;
}

void jit_codes_evict(struct jit_codes *codes)
{
	uint32_t oldest = codes->count > 0 ? median_age(codes) : 0;
	size_t i, left = 0;
	struct jit_code *smaller;

	for (i = 0; i < codes->gone_count; i++) {
		if (codes->gone[i].by_ns > codes->forgot_ns)
			codes->forgot_ns = codes->gone[i].by_ns;
	}
	gone_clear(codes);
	for (i = 0; i < codes->count; i++) {
		struct jit_code *code = &codes->codes[i];

		if (code->used > oldest) {
			codes->codes[left++] = *code;
			continue;
		}
		jit_codes_skip(codes, code->start, code->bytes);
		name_free(codes, code);
	}
	codes->count = codes->settled = left;
	smaller = realloc(codes->codes, (left > 0 ? left : 1) * sizeof(*smaller));
	if (smaller != NULL) {
		codes->codes = smaller;
		codes->capacity = left > 0 ? left : 1;
	}
}

bool jit_codes_lacks(const struct jit_codes *codes, uint64_t address)
{
	return codes->evicted > 0 && address >= codes->evicted_start &&
	       address < codes->evicted_end;
}

bool jit_codes_is_free(const struct jit_codes *codes, uint64_t start, uint64_t bytes,
		       uint16_t search)
{
	size_t n = count_below(codes->codes, codes->settled, sizeof(codes->codes[0]),
			       start + bytes - 1);

	for (; n > 0 && codes->codes[n - 1].start + codes->codes[n - 1].bytes > start; n--) {
		if (search == 0 || codes->codes[n - 1].search != search)
			return false;
	}
	return true;
}

/*
 * @window_ns, @until_ns: as for jit_codes_find()
 * @best:                 the piece that was certainly there for the longest time, @certain_ns
 * @names:                some pieces have another name than @best
 */
struct candidates {
	uint64_t window_ns;
	uint64_t until_ns;
	struct jit_code *best;
	uint64_t certain_ns;
	bool names;
};

/*
 * Consider a piece that was possibly there from @since_ns to @by_ns, certainly from @seen_ns to
 * @from_ns.
 */
static void consider(struct candidates *candidates, struct jit_code *code, uint64_t from_ns,
		     uint64_t by_ns)
{
	uint64_t window = candidates->window_ns, until = candidates->until_ns;
	uint64_t first = code->seen_ns > window ? code->seen_ns : window;
	uint64_t last = from_ns < until ? from_ns : until;
	uint64_t certain = last > first ? last - first : 0;

	if (by_ns <= window || code->since_ns > until)
		return;
	if (candidates->best != NULL && candidates->best->name_hash != code->name_hash)
		candidates->names = true;
	if (candidates->best != NULL && certain <= candidates->certain_ns)
		return;
	candidates->best = code;
	candidates->certain_ns = certain;
}

/*
 * Return true if the piece @now, under the same name, already existed at the read before it was
 * announced.
 */
static bool is_continued(const struct jit_gone *gone, const struct jit_code *now)
{
	return now != NULL && gone->code.name_hash == now->name_hash &&
	       gone->from_ns >= now->since_ns && gone->code.since_ns < now->since_ns;
}

/* Return: true if all pieces that may have been at the address were considered. */
static bool consider_gone(struct jit_codes *codes, struct candidates *candidates,
			  struct jit_code *now, uint64_t address)
{
	size_t i = count_below(codes->gone, codes->gone_count, sizeof(codes->gone[0]), address);
	size_t looked = 0;

	for (; i > 0 && codes->gone[i - 1].reach > address; i--) {
		struct jit_gone *gone = &codes->gone[i - 1];

		if (++looked > OVERLAPS_MAX)
			return false;
		if (address - gone->code.start >= gone->code.bytes)
			continue;
		if (is_continued(gone, now))
			consider(candidates, &gone->code, UINT64_MAX, UINT64_MAX);
		else
			consider(candidates, &gone->code, gone->from_ns, gone->by_ns);
	}
	return true;
}

bool jit_codes_alone(const struct jit_codes *codes, const struct jit_code *code, uint64_t window_ns)
{
	size_t i = count_below(codes->gone, codes->gone_count, sizeof(codes->gone[0]),
			       code->start + code->bytes - 1);
	size_t looked = 0;

	if (codes->forgot_ns > window_ns)
		return false;
	for (; i > 0 && codes->gone[i - 1].reach > code->start; i--) {
		const struct jit_gone *gone = &codes->gone[i - 1];

		if (++looked > OVERLAPS_MAX ||
		    (gone->by_ns > window_ns && overlap(&gone->code, code)))
			return false;
	}
	return true;
}

struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t address, uint64_t window_ns,
				uint64_t until_ns, bool *ambiguous)
{
	struct candidates candidates = {.window_ns = window_ns, .until_ns = until_ns};
	struct jit_code *now = holder(codes, address);
	bool complete = true;

	*ambiguous = false;
	if (now != NULL)
		consider(&candidates, now, UINT64_MAX, UINT64_MAX);
	complete = consider_gone(codes, &candidates, now, address) &&
		   (now == NULL || now->seen_ns <= window_ns || codes->forgot_ns <= window_ns);
	if (candidates.best == NULL)
		return NULL;
	if (candidates.names || !complete)
		*ambiguous =
			candidates.certain_ns * 100 < (until_ns - window_ns) * JIT_CERTAIN_PERCENT;
	candidates.best->used = codes->clock + SAMPLED_BONUS;
	return candidates.best;
}
