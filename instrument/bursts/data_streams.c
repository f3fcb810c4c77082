// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/data_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/sequitur.h"
#include "lib/array.h"
#include "lib/u64_map.h"

/* --- the grammar ---------------------------------------------------------- */

/* Numbers of references: first of an address, then of an address and an instruction. */
struct tokens {
	struct u64_map addresses;
	struct u64_map pairs;
	uint32_t *instructions; /* for each number */
	size_t capacity;
	uint32_t count;
};

/* Allocate the next number, for an instruction. */
static int new_token(struct tokens *tokens, uint32_t instruction)
{
	if (tokens->count >= SEQUITUR_TOKENS ||
	    array_reserve(&tokens->instructions, &tokens->capacity, tokens->count + (size_t)1,
			  sizeof(*tokens->instructions)) < 0)
		return -ENOMEM;
	tokens->instructions[tokens->count++] = instruction;
	return 0;
}

/* Return: the number of a key, which is @next for a new key; or -ENOMEM. */
static int64_t number_in(struct u64_map *map, uint64_t key, uint64_t next)
{
	uint64_t *value = u64_map_insert(map, key);

	if (value == NULL)
		return -ENOMEM;
	if (*value == 0)
		*value = next + 1;
	return (int64_t)(*value - 1);
}

static int data_streams_append(struct sequitur *sequitur, struct tokens *tokens,
			       const struct bursts_reference *reference)
{
	int64_t address = number_in(&tokens->addresses, reference->address,
				    u64_map_count(&tokens->addresses));
	int64_t token;

	if (address < 0 || address > UINT32_MAX)
		return -ENOMEM;
	token = number_in(&tokens->pairs, (uint64_t)address << 32 | reference->number,
			  tokens->count);
	if (token < 0 || (token == tokens->count && new_token(tokens, reference->number) < 0))
		return -ENOMEM;
	return sequitur_append(sequitur, (uint32_t)token);
}

/* Bursts are separated by unique tokens: a token that occurs only once is part of no rule. */
static int append_all(struct sequitur *sequitur, struct tokens *tokens,
		      const struct bursts_profile *profile)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < profile->count; i++) {
		const struct bursts_reference *reference = &profile->all[i];

		if (i > 0 && (reference->burst != reference[-1].burst ||
			      reference->thread != reference[-1].thread)) {
			r = sequitur_append(sequitur, tokens->count);
			if (r == 0)
				r = new_token(tokens, 0);
		}
		if (r == 0)
			r = data_streams_append(sequitur, tokens, reference);
	}
	return r;
}

static int make_grammar(struct sequitur_grammar *ret, struct tokens *tokens,
			const struct bursts_profile *profile)
{
	struct sequitur *sequitur = sequitur_create();
	int r = sequitur != NULL ? append_all(sequitur, tokens, profile) : -ENOMEM;

	if (r == 0)
		r = sequitur_grammar(sequitur, ret);
	sequitur_destroy(sequitur);
	return r;
}

/* --- heat ----------------------------------------------------------------- */

/*
 * @length: length of each rule's expansion
 * @uses:   number of occurrences of each rule; @cold: occurrences outside of streams
 * @hot:    the rule is a stream
 */
struct heats {
	const struct sequitur_grammar *grammar;
	const struct data_streams_options *options;
	uint64_t *length;
	uint64_t *uses;
	uint64_t *cold;
	bool *hot;
	uint64_t covered;
};

static void find_lengths(struct heats *heats)
{
	const struct sequitur_grammar *grammar = heats->grammar;

	for (uint32_t r = grammar->rules; r-- > 0;) {
		for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
			uint32_t symbol = grammar->symbols[i];

			heats->length[r] +=
				symbol & SEQUITUR_RULE ? heats->length[symbol & ~SEQUITUR_RULE] : 1;
		}
	}
	heats->uses[0] = 1;
	for (uint32_t r = 0; r < grammar->rules; r++) {
		for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
			if (grammar->symbols[i] & SEQUITUR_RULE)
				heats->uses[grammar->symbols[i] & ~SEQUITUR_RULE] += heats->uses[r];
		}
	}
}

/* Rules come after all rules that use them. */
static void find_hot(struct heats *heats, uint64_t threshold)
{
	const struct sequitur_grammar *grammar = heats->grammar;

	heats->covered = 0;
	memcpy(heats->cold, heats->uses, grammar->rules * sizeof(*heats->cold));
	for (uint32_t r = 0; r < grammar->rules; r++) {
		uint64_t length = heats->length[r], heat = length * heats->cold[r], warm;

		heats->hot[r] = r > 0 && heats->cold[r] > 0 && length >= heats->options->shortest &&
				length <= heats->options->longest && heat >= threshold;
		if (heats->hot[r])
			heats->covered += heat;
		warm = heats->hot[r] ? heats->uses[r] : heats->uses[r] - heats->cold[r];
		for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
			if (grammar->symbols[i] & SEQUITUR_RULE)
				heats->cold[grammar->symbols[i] & ~SEQUITUR_RULE] -= warm;
		}
	}
}

/* Return the highest threshold with which enough is hot; otherwise the lowest. */
static uint64_t find_threshold(struct heats *heats, uint64_t references)
{
	uint64_t low = 1, high = references + 1;

	if (heats->options->heat > 0)
		return heats->options->heat;
	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;

		find_hot(heats, middle);
		if ((double)heats->covered >= heats->options->cover * (double)references)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- streams -------------------------------------------------------------- */

static void add_instructions(struct data_streams *streams, const struct sequitur_grammar *grammar,
			     const struct bursts_map *map, const struct tokens *tokens, uint32_t r)
{
	for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
		uint32_t symbol = grammar->symbols[i];

		/*
		 * The recursion depth is less than the stream's length: each rule has at least two
		 * symbols.
		 */
		if (symbol & SEQUITUR_RULE)
			add_instructions(streams, grammar, map, tokens, symbol & ~SEQUITUR_RULE);
		else
			streams->instructions[streams->instruction_count++] =
				map->references[tokens->instructions[symbol]];
	}
}

static uint32_t first_token(const struct sequitur_grammar *grammar, uint32_t r)
{
	uint32_t symbol = grammar->symbols[grammar->first[r]];

	while (symbol & SEQUITUR_RULE)
		symbol = grammar->symbols[grammar->first[symbol & ~SEQUITUR_RULE]];
	return symbol;
}

static int add_streams(struct data_streams *streams, const struct heats *heats,
		       const struct bursts_map *map, const struct tokens *tokens)
{
	for (uint32_t r = 0; r < heats->grammar->rules; r++) {
		uint32_t length = (uint32_t)heats->length[r];

		if (!heats->hot[r])
			continue;
		if (array_reserve(&streams->all, &streams->capacity, streams->count + 1,
				  sizeof(*streams->all)) < 0 ||
		    array_reserve(&streams->instructions, &streams->instruction_capacity,
				  streams->instruction_count + length,
				  sizeof(*streams->instructions)) < 0)
			return -ENOMEM;
		streams->all[streams->count++] = (struct data_stream){
			.first = streams->instruction_count,
			.reference = tokens->instructions[first_token(heats->grammar, r)],
			.length = length,
			.frequency = heats->cold[r],
			.heat = length * heats->cold[r],
		};
		add_instructions(streams, heats->grammar, map, tokens, r);
	}
	return 0;
}

/* --- signatures ----------------------------------------------------------- */

static int data_streams_compare(const struct data_streams *a, const struct data_stream *x,
				const struct data_streams *b, const struct data_stream *y)
{
	const uint64_t *p = a->instructions + x->first, *q = b->instructions + y->first;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	for (uint32_t i = 0; i < x->length; i++) {
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	}
	return 0;
}

static int by_signature(const void *a, const void *b, void *context)
{
	return data_streams_compare(context, a, context, b);
}

static int by_heat(const void *a, const void *b, void *context)
{
	const struct data_stream *x = a, *y = b;

	if (x->heat != y->heat)
		return x->heat < y->heat ? 1 : -1;
	return by_signature(a, b, context);
}

static void merge(struct data_streams *streams)
{
	size_t kept = 0;

	qsort_r(streams->all, streams->count, sizeof(*streams->all), by_signature, streams);
	for (size_t i = 0; i < streams->count; i++) {
		struct data_stream *last = kept > 0 ? &streams->all[kept - 1] : NULL;

		if (last == NULL ||
		    data_streams_compare(streams, last, streams, &streams->all[i]) != 0) {
			streams->all[kept++] = streams->all[i];
			continue;
		}
		last->frequency += streams->all[i].frequency;
		last->heat += streams->all[i].heat;
	}
	streams->count = kept;
	qsort_r(streams->all, streams->count, sizeof(*streams->all), by_heat, streams);
}

/* --- interface ------------------------------------------------------------ */

static int data_streams_do_find(struct data_streams *ret, struct heats *heats,
				const struct bursts_map *map, const struct tokens *tokens)
{
	uint32_t rules = heats->grammar->rules;
	int r = -ENOMEM;

	heats->length = calloc(rules, sizeof(*heats->length));
	heats->uses = calloc(rules, sizeof(*heats->uses));
	heats->cold = calloc(rules, sizeof(*heats->cold));
	heats->hot = calloc(rules, sizeof(*heats->hot));
	if (heats->length != NULL && heats->uses != NULL && heats->cold != NULL &&
	    heats->hot != NULL) {
		find_lengths(heats);
		ret->threshold = find_threshold(heats, ret->references);
		find_hot(heats, ret->threshold);
		ret->covered = heats->covered;
		r = add_streams(ret, heats, map, tokens);
	}
	free(heats->length);
	free(heats->uses);
	free(heats->cold);
	free(heats->hot);
	return r;
}

int data_streams_find(struct data_streams *ret, const struct bursts_map *map,
		      const struct bursts_profile *profile,
		      const struct data_streams_options *options)
{
	struct sequitur_grammar grammar = {0};
	struct heats heats = {.grammar = &grammar, .options = options};
	struct tokens tokens = {0};
	int r;

	*ret = (struct data_streams){.references = profile->count};
	r = make_grammar(&grammar, &tokens, profile);
	if (r == 0)
		r = data_streams_do_find(ret, &heats, map, &tokens);
	if (r == 0 && ret->count > 0)
		merge(ret);
	if (r < 0)
		data_streams_deinit(ret);
	sequitur_grammar_deinit(&grammar);
	u64_map_deinit(&tokens.addresses);
	u64_map_deinit(&tokens.pairs);
	free(tokens.instructions);
	return r;
}

void data_streams_deinit(struct data_streams *streams)
{
	free(streams->all);
	free(streams->instructions);
	*streams = (struct data_streams){0};
}

/* --- overlap -------------------------------------------------------------- */

/* Return: streams sorted by signature, malloc'd, or NULL. */
static struct data_stream *sorted(const struct data_streams *streams)
{
	struct data_stream *copy = malloc((streams->count + 1) * sizeof(*copy));
	struct data_streams context = *streams;

	if (copy == NULL)
		return NULL;
	if (streams->count > 0) {
		memcpy(copy, streams->all, streams->count * sizeof(*copy));
		qsort_r(copy, streams->count, sizeof(*copy), by_signature, &context);
	}
	return copy;
}

static double part_of(const struct data_streams *streams, const struct data_stream *stream)
{
	return (double)stream->heat / (double)streams->references;
}

int data_streams_overlap(double *ret, const struct data_streams *a, const struct data_streams *b)
{
	struct data_stream *x = sorted(a), *y = sorted(b);
	int r = x != NULL && y != NULL ? 0 : -ENOMEM;

	*ret = 0;
	for (size_t i = 0, k = 0; r == 0 && i < a->count && k < b->count;) {
		int order = data_streams_compare(a, &x[i], b, &y[k]);

		if (order == 0) {
			double p = part_of(a, &x[i]), q = part_of(b, &y[k]);

			*ret += p < q ? p : q;
		}
		i += order <= 0;
		k += order >= 0;
	}
	free(x);
	free(y);
	return r;
}
