// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/code_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/image/demangle.h"
#include "lib/array.h"
#include "lib/cleanup.h"

#define PAIRS_MAX (8UL << 20)
/* Least number of instructions by which a procedure can be identified. */
#define ALIKE_MIN 6
#define HASH_START 0xcbf29ce484222325ULL

/* struct listing - a procedure's instructions as hash keys. */
struct listing {
	uint64_t *keys;
	uint64_t *addresses;
	size_t count;
	size_t capacity;
};

/*
 * struct code_match - a match of two builds
 * @pairs:     for each procedure of @after, the matching procedure of @before, or -1
 * @aligned:   the procedure of @after that @from and @to belong to, or -1
 * @from, @to: addresses of its matched instructions in @after, ascending, and in @before
 */
struct code_match {
	struct image_code *before;
	struct image_code *after;
	long *pairs;
	long aligned;
	uint64_t *from;
	uint64_t *to;
	size_t count;
};

CLEANUP_DEFINE(code_match, struct code_match *, code_match_destroy)

static void listing_deinit(struct listing *listing)
{
	free(listing->keys);
	free(listing->addresses);
	*listing = (struct listing){0};
}

/* FNV-1a with 64 bits, applied to words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x100000001b3ULL;
	return hash ^ hash >> 29;
}

/* arm64's adr and adrp: the decoder returns their address as a constant. */
static bool is_address(const struct insn *insn, enum insn_isa isa)
{
	return insn->memory.pc_relative ||
	       (isa == INSN_ISA_ARM64 && (insn->opcode & 0x1f000000) == 0x10000000);
}

static uint64_t key_of(const struct insn *insn, enum insn_isa isa)
{
	/*
	 * Encodings of fixed length contain locations; there the effects alone describe the
	 * instruction.
	 */
	uint64_t key = mix(HASH_START, isa == INSN_ISA_X86_64 ? insn->opcode : 0);

	key = mix(key, insn->flow | (uint64_t)insn->class << 8 | (uint64_t)insn->flags << 16 |
			       (uint64_t)insn->operand_bytes << 24 |
			       (uint64_t)insn->destination << 32);
	for (unsigned int i = 0; i < INSN_SOURCES; i++)
		key = mix(key, insn->sources[i]);
	for (unsigned int i = 0; i < 2; i++)
		key = mix(mix(key, insn->reads.words[i]), insn->writes.words[i]);
	key = mix(key, insn->memory.base | (uint64_t)insn->memory.index << 8 |
			       (uint64_t)insn->memory.scale << 16 |
			       (uint64_t)insn->memory.bytes << 24);
	if (insn->target == 0 && !is_address(insn, isa))
		key = mix(mix(key, (uint64_t)insn->immediate), (uint64_t)insn->memory.displacement);
	return key;
}

static int listing_add(struct listing *listing, uint64_t key, uint64_t address)
{
	size_t capacity = listing->capacity;

	if (array_reserve(&listing->keys, &capacity, listing->count + 1, sizeof(*listing->keys)) <
		    0 ||
	    array_reserve(&listing->addresses, &listing->capacity, listing->count + 1,
			  sizeof(*listing->addresses)) < 0)
		return -ENOMEM;
	listing->keys[listing->count] = key;
	listing->addresses[listing->count++] = address;
	return 0;
}

static int listing_make(struct listing *listing, struct image_code *code, size_t index)
{
	const struct insn_decoder *decoder = image_code_decoder(code);
	const struct procedure *procedure = procedure_table_get(image_code_procedures(code), index);
	uint64_t end = procedure->address + procedure->bytes, address = procedure->address;

	while (address < end) {
		size_t available, length;
		const uint8_t *bytes = image_code_bytes(code, address, &available);
		struct insn insn;
		uint64_t key;

		if (bytes == NULL || available == 0)
			return 0;
		length = decoder->decode(&insn, bytes, available, address);
		key = length > 0 ? key_of(&insn, decoder->isa) : bytes[0];
		if (listing_add(listing, key, address) < 0)
			return -ENOMEM;
		address += length > 0 ? length : decoder->alignment;
	}
	return 0;
}

/*
 * struct candidate - a procedure and its identifying properties
 * @name:     linker name
 * @readable: hash of the source name; 0 if that does not differ from @name
 * @hash:     hash of its instructions; 0: too few
 */
struct candidate {
	const char *name;
	uint64_t readable;
	uint64_t hash;
	size_t index;
};

typedef int (*candidate_compare_fn)(const struct candidate *x, const struct candidate *y);

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_name(const struct candidate *x, const struct candidate *y)
{
	return strcmp(x->name, y->name);
}

static int by_readable(const struct candidate *x, const struct candidate *y)
{
	return compare_numbers(x->readable, y->readable);
}

static int by_code(const struct candidate *x, const struct candidate *y)
{
	return compare_numbers(x->hash, y->hash);
}

static int by_both(const struct candidate *x, const struct candidate *y)
{
	int r = by_readable(x, y);

	return r != 0 ? r : by_code(x, y);
}

/* Equal candidates are ordered by index. For qsort_r(). */
static int compare_candidates(const void *a, const void *b, void *context)
{
	const struct candidate *x = a, *y = b;
	int r = (*(const candidate_compare_fn *)context)(x, y);

	return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

/* struct candidates - candidates of one build. */
struct candidates {
	struct candidate *list;
	size_t count;
};

static void candidates_free(struct candidates *lists)
{
	free(lists[0].list);
	free(lists[1].list);
}

static size_t run_of(const struct candidates *of, size_t first, candidate_compare_fn compare)
{
	size_t next = first + 1;

	while (next < of->count && compare(&of->list[first], &of->list[next]) == 0)
		next++;
	return next - first;
}

/* Pair equal candidates in order, if both lists have the same number of them. */
static void pair(struct code_match *match, struct candidates lists[2], candidate_compare_fn compare)
{
	const struct candidates *before = &lists[0], *after = &lists[1];
	size_t i = 0, j = 0;

	for (int n = 0; n < 2; n++) {
		if (lists[n].count > 0)
			qsort_r(lists[n].list, lists[n].count, sizeof(*lists[n].list),
				compare_candidates, &compare);
	}
	while (i < before->count && j < after->count) {
		int order = compare(&before->list[i], &after->list[j]);
		size_t runs[2] = {run_of(before, i, compare), run_of(after, j, compare)};

		for (size_t k = 0; order == 0 && runs[0] == runs[1] && k < runs[0]; k++)
			match->pairs[after->list[j + k].index] = (long)before->list[i + k].index;
		i += order <= 0 ? runs[0] : 0;
		j += order >= 0 ? runs[1] : 0;
	}
}

/* List the procedures that have a name of their own. */
static int list_names(struct candidates *ret, struct image_code *code)
{
	const struct procedure_table *table = image_code_procedures(code);

	ret->list = calloc(procedure_table_count(table) + 1, sizeof(*ret->list));
	if (ret->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < procedure_table_count(table); i++) {
		const struct procedure *procedure = procedure_table_get(table, i);

		if (procedure->source <= PROCEDURE_PLT)
			ret->list[ret->count++] =
				(struct candidate){.name = procedure->name, .index = i};
	}
	return 0;
}

static int hash_code(uint64_t *ret, struct image_code *code, size_t index)
{
	struct listing listing = {0};
	uint64_t hash = HASH_START;

	if (listing_make(&listing, code, index) < 0) {
		listing_deinit(&listing);
		return -ENOMEM;
	}
	for (size_t i = 0; i < listing.count; i++)
		hash = mix(hash, listing.keys[i]);
	/* Stubs of a few instructions are all alike. */
	*ret = listing.count >= ALIKE_MIN ? hash : 0;
	listing_deinit(&listing);
	return 0;
}

/*
 * Demangled names lack the hash that rustc changes with each build. Only their hash is stored,
 * because they may be long.
 */
static uint64_t hash_readable(const char *name)
{
	_cleanup_free_ char *readable = demangle(name);

	return readable != NULL ? XXH3_64bits(readable, strlen(readable)) : 0;
}

/* List the procedures without a match by linker name. */
static int list_others(struct candidates *ret, struct image_code *code, const bool *taken)
{
	const struct procedure_table *table = image_code_procedures(code);
	int r = 0;

	ret->list = calloc(procedure_table_count(table) + 1, sizeof(*ret->list));
	if (ret->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < procedure_table_count(table) && r == 0; i++) {
		struct candidate *candidate = &ret->list[ret->count];

		if (taken[i])
			continue;
		candidate->index = i;
		candidate->readable = hash_readable(procedure_table_get(table, i)->name);
		r = hash_code(&candidate->hash, code, i);
		ret->count++;
	}
	return r;
}

static int match_names(struct code_match *match)
{
	struct candidates lists[2] = {0};
	int r = list_names(&lists[0], match->before);

	if (r == 0)
		r = list_names(&lists[1], match->after);
	if (r == 0)
		pair(match, lists, by_name);
	candidates_free(lists);
	return r;
}

static void mark_taken(const struct code_match *match, bool *taken[2])
{
	size_t count = procedure_table_count(image_code_procedures(match->after));

	for (size_t i = 0; i < count; i++) {
		if (match->pairs[i] >= 0)
			taken[1][i] = taken[0][match->pairs[i]] = true;
	}
}

static bool has_value_for(const struct candidate *candidate, candidate_compare_fn compare)
{
	return (compare == by_code || candidate->readable != 0) &&
	       (compare == by_readable || candidate->hash != 0);
}

/* Match procedures without a match so far. */
static int match_by(struct code_match *match, const struct candidates lists[2], bool *taken[2],
		    candidate_compare_fn compare)
{
	struct candidates left[2] = {0};
	int r = 0;

	for (int n = 0; n < 2 && r == 0; n++) {
		left[n].list = calloc(lists[n].count + 1, sizeof(*left[n].list));
		if (left[n].list == NULL)
			r = -ENOMEM;
		for (size_t i = 0; r == 0 && i < lists[n].count; i++) {
			const struct candidate *candidate = &lists[n].list[i];

			if (!taken[n][candidate->index] && has_value_for(candidate, compare))
				left[n].list[left[n].count++] = *candidate;
		}
	}
	if (r == 0)
		pair(match, left, compare);
	candidates_free(left);
	mark_taken(match, taken);
	return r;
}

static int match_others(struct code_match *match)
{
	/* Instances of a generic procedure have the same name: the code distinguishes them. */
	static const candidate_compare_fn comparisons[] = {by_both, by_readable, by_code};
	struct image_code *codes[2] = {match->before, match->after};
	struct candidates lists[2] = {0};
	bool *taken[2] = {NULL};
	int r = 0;

	for (int n = 0; n < 2; n++) {
		size_t count = procedure_table_count(image_code_procedures(codes[n]));

		taken[n] = calloc(count + 1, sizeof(*taken[n]));
		if (taken[n] == NULL)
			r = -ENOMEM;
	}
	if (r == 0)
		mark_taken(match, taken);
	for (int n = 0; n < 2 && r == 0; n++)
		r = list_others(&lists[n], codes[n], taken[n]);
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons) && r == 0; i++)
		r = match_by(match, lists, taken, comparisons[i]);
	candidates_free(lists);
	free(taken[0]);
	free(taken[1]);
	return r;
}

int code_match_create(struct code_match **ret, struct image_code *before, struct image_code *after)
{
	_cleanup_(cleanup_code_match) struct code_match *match = calloc(1, sizeof(*match));
	size_t count = procedure_table_count(image_code_procedures(after));

	if (image_code_decoder(before) != image_code_decoder(after))
		return -EINVAL;
	if (match == NULL)
		return -ENOMEM;
	match->before = before;
	match->after = after;
	match->aligned = -1;
	match->pairs = calloc(count + 1, sizeof(*match->pairs));
	if (match->pairs == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		match->pairs[i] = -1;
	if (match_names(match) < 0 || match_others(match) < 0)
		return -ENOMEM;
	*ret = take_ptr(match);
	return 0;
}

void code_match_destroy(struct code_match *match)
{
	if (match == NULL)
		return;
	free(match->pairs);
	free(match->from);
	free(match->to);
	free(match);
}

long code_match_procedure(const struct code_match *match, size_t after)
{
	return match->pairs[after] >= 0 ? match->pairs[after] : -ENOENT;
}

static void align_pair(struct code_match *match, const struct listing *before, size_t i,
		       const struct listing *after, size_t j)
{
	match->from[match->count] = after->addresses[j];
	match->to[match->count++] = before->addresses[i];
}

/*
 * Equal instructions at both ends are paired directly; for the rest, compute the lengths of common
 * subsequences of all suffixes (the standard algorithm).
 */
static int align_middle(struct code_match *match, const struct listing *before, size_t start,
			size_t before_end, const struct listing *after, size_t after_end)
{
	size_t rows = before_end - start + 1, columns = after_end - start + 1, i = 0, j = 0;
	_cleanup_free_ uint32_t *lengths = NULL;

	if (rows > PAIRS_MAX / columns)
		return -E2BIG;
	lengths = calloc(rows * columns, sizeof(*lengths));
	if (lengths == NULL)
		return -ENOMEM;
	for (size_t row = rows - 1; row-- > 0;) {
		for (size_t column = columns - 1; column-- > 0;) {
			uint32_t *cell = &lengths[row * columns + column];

			if (before->keys[start + row] == after->keys[start + column])
				*cell = cell[columns + 1] + 1;
			else
				*cell = cell[columns] > cell[1] ? cell[columns] : cell[1];
		}
	}
	while (i < rows - 1 && j < columns - 1) {
		const uint32_t *cell = &lengths[i * columns + j];

		if (before->keys[start + i] == after->keys[start + j])
			align_pair(match, before, start + i++, after, start + j++);
		else if (cell[columns] >= cell[1])
			i++;
		else
			j++;
	}
	return 0;
}

static int align_listings(struct code_match *match, const struct listing *before,
			  const struct listing *after)
{
	size_t start = 0, before_end = before->count, after_end = after->count;
	int r;

	match->count = 0;
	free(match->from);
	free(match->to);
	match->from = calloc(after->count + 1, sizeof(*match->from));
	match->to = calloc(after->count + 1, sizeof(*match->to));
	if (match->from == NULL || match->to == NULL)
		return -ENOMEM;
	while (start < before_end && start < after_end &&
	       before->keys[start] == after->keys[start]) {
		align_pair(match, before, start, after, start);
		start++;
	}
	while (before_end > start && after_end > start &&
	       before->keys[before_end - 1] == after->keys[after_end - 1]) {
		before_end--;
		after_end--;
	}
	r = align_middle(match, before, start, before_end, after, after_end);
	for (size_t i = 0; r == 0 && after_end + i < after->count; i++)
		align_pair(match, before, before_end + i, after, after_end + i);
	return r;
}

static int align(struct code_match *match, size_t after)
{
	struct listing lists[2] = {0};
	int r = listing_make(&lists[0], match->before, (size_t)match->pairs[after]);

	match->aligned = -1;
	if (r == 0)
		r = listing_make(&lists[1], match->after, after);
	if (r == 0)
		r = align_listings(match, &lists[0], &lists[1]);
	listing_deinit(&lists[0]);
	listing_deinit(&lists[1]);
	if (r == 0)
		match->aligned = (long)after;
	return r;
}

static int compare_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int code_match_address(struct code_match *match, size_t after, uint64_t address, uint64_t *ret)
{
	const uint64_t *found;

	if (match->pairs[after] < 0)
		return -ENOENT;
	if (match->aligned != (long)after) {
		int r = align(match, after);

		if (r < 0)
			return r;
	}
	if (match->count == 0)
		return -ENOENT;
	found = bsearch(&address, match->from, match->count, sizeof(address), compare_address);
	if (found == NULL)
		return -ENOENT;
	*ret = match->to[found - match->from];
	return 0;
}
