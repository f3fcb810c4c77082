// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/sequitur.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define NONE UINT32_MAX
/* Kinds of symbols: a number, a rule, or the guard of a rule's circular list. */
#define GUARD (UINT32_C(3) << 30)
#define KIND (UINT32_C(3) << 30)
#define INITIAL_BUCKETS 1024

/*
 * A symbol in the circular list of its rule. It forms a pair with the symbol after it. The hash
 * table has one of several equal pairs; @chain links a bucket.
 */
struct symbol {
	uint32_t value;
	uint32_t before;
	uint32_t after;
	uint32_t chain;
};

/* @guard: NONE: the rule is free, and @uses is the next free one. */
struct rule {
	uint32_t guard;
	uint32_t uses;
};

struct sequitur {
	struct symbol *symbols;
	size_t symbol_count;
	size_t symbol_capacity;
	struct rule *rules;
	size_t rule_count;
	size_t rule_capacity;
	uint32_t *buckets;
	size_t bucket_count;
	size_t pairs;
	uint32_t free_symbol;
	uint32_t free_rule;
	bool failed;
};

static void sequitur_check(struct sequitur *s, uint32_t symbol, bool *matched);

static bool is_guard(const struct sequitur *s, uint32_t symbol)
{
	return (s->symbols[symbol].value & KIND) == GUARD;
}

static bool is_rule(const struct sequitur *s, uint32_t symbol)
{
	return (s->symbols[symbol].value & KIND) == SEQUITUR_RULE;
}

static uint32_t number_of(const struct sequitur *s, uint32_t symbol)
{
	return s->symbols[symbol].value & ~KIND;
}

static uint32_t sequitur_after(const struct sequitur *s, uint32_t symbol)
{
	return s->symbols[symbol].after;
}

static uint32_t before(const struct sequitur *s, uint32_t symbol)
{
	return s->symbols[symbol].before;
}

static uint32_t first_of(const struct sequitur *s, uint32_t rule)
{
	return sequitur_after(s, s->rules[rule].guard);
}

static uint32_t last_of(const struct sequitur *s, uint32_t rule)
{
	return before(s, s->rules[rule].guard);
}

/* --- pairs ---------------------------------------------------------------- */

static bool is_pair(const struct sequitur *s, uint32_t symbol)
{
	return !is_guard(s, symbol) && sequitur_after(s, symbol) != NONE &&
	       !is_guard(s, sequitur_after(s, symbol));
}

static uint32_t *bucket_of(const struct sequitur *s, uint32_t symbol)
{
	uint64_t key = (uint64_t)s->symbols[symbol].value << 32 |
		       s->symbols[sequitur_after(s, symbol)].value;

	return &s->buckets[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->bucket_count - 1)];
}

static bool are_equal(const struct sequitur *s, uint32_t a, uint32_t b)
{
	return s->symbols[a].value == s->symbols[b].value &&
	       s->symbols[sequitur_after(s, a)].value == s->symbols[sequitur_after(s, b)].value;
}

static uint32_t find_pair(const struct sequitur *s, uint32_t symbol)
{
	uint32_t found = *bucket_of(s, symbol);

	while (found != NONE && !are_equal(s, found, symbol))
		found = s->symbols[found].chain;
	return found;
}

static void grow(struct sequitur *s)
{
	uint32_t *old = s->buckets;
	size_t count = s->bucket_count;
	uint32_t *buckets = malloc(2 * count * sizeof(*buckets));

	if (buckets == NULL) {
		s->failed = true;
		return;
	}
	memset(buckets, 0xff, 2 * count * sizeof(*buckets));
	s->buckets = buckets;
	s->bucket_count = 2 * count;
	for (size_t i = 0; i < count; i++) {
		for (uint32_t symbol = old[i], next; symbol != NONE; symbol = next) {
			uint32_t *bucket = bucket_of(s, symbol);

			next = s->symbols[symbol].chain;
			s->symbols[symbol].chain = *bucket;
			*bucket = symbol;
		}
	}
	free(old);
}

static void sequitur_add_pair(struct sequitur *s, uint32_t symbol)
{
	uint32_t *bucket;

	if (s->pairs >= s->bucket_count)
		grow(s);
	bucket = bucket_of(s, symbol);
	s->symbols[symbol].chain = *bucket;
	*bucket = symbol;
	s->pairs++;
}

/* Remove the pair only if this occurrence is the one in the table. */
static void remove_pair(struct sequitur *s, uint32_t symbol)
{
	uint32_t *link;

	if (!is_pair(s, symbol))
		return;
	for (link = bucket_of(s, symbol); *link != NONE; link = &s->symbols[*link].chain) {
		if (*link != symbol)
			continue;
		*link = s->symbols[symbol].chain;
		s->pairs--;
		return;
	}
}

/* Put this occurrence of a pair into the table, replacing any other. */
static void set_pair(struct sequitur *s, uint32_t symbol)
{
	uint32_t other;

	if (!is_pair(s, symbol))
		return;
	other = find_pair(s, symbol);
	if (other == symbol)
		return;
	if (other != NONE)
		remove_pair(s, other);
	sequitur_add_pair(s, symbol);
}

/* --- symbols -------------------------------------------------------------- */

static uint32_t new_symbol(struct sequitur *s, uint32_t value)
{
	uint32_t symbol = s->free_symbol;

	if (symbol != NONE) {
		s->free_symbol = s->symbols[symbol].after;
	} else if (s->symbol_count >= SEQUITUR_TOKENS ||
		   array_reserve(&s->symbols, &s->symbol_capacity, s->symbol_count + 1,
				 sizeof(*s->symbols)) < 0) {
		s->failed = true;
		return NONE;
	} else {
		symbol = (uint32_t)s->symbol_count++;
	}
	s->symbols[symbol] = (struct symbol){value, NONE, NONE, NONE};
	return symbol;
}

/* In "aaa" only one of the pairs is in the table: if it is removed, the other one replaces it. */
static bool is_middle(const struct sequitur *s, uint32_t symbol)
{
	uint32_t a = before(s, symbol), b = sequitur_after(s, symbol);

	return a != NONE && b != NONE && s->symbols[a].value == s->symbols[symbol].value &&
	       s->symbols[b].value == s->symbols[symbol].value;
}

static void join(struct sequitur *s, uint32_t left, uint32_t right)
{
	if (sequitur_after(s, left) != NONE) {
		remove_pair(s, left);
		if (is_middle(s, right))
			set_pair(s, right);
		if (is_middle(s, left))
			set_pair(s, before(s, left));
	}
	s->symbols[left].after = right;
	s->symbols[right].before = left;
}

static void insert_after(struct sequitur *s, uint32_t place, uint32_t symbol)
{
	join(s, symbol, sequitur_after(s, place));
	join(s, place, symbol);
}

static void free_symbol(struct sequitur *s, uint32_t symbol)
{
	s->symbols[symbol].value = GUARD;
	s->symbols[symbol].after = s->free_symbol;
	s->free_symbol = symbol;
}

static void delete_symbol(struct sequitur *s, uint32_t symbol)
{
	join(s, before(s, symbol), sequitur_after(s, symbol));
	remove_pair(s, symbol);
	if (is_rule(s, symbol))
		s->rules[number_of(s, symbol)].uses--;
	free_symbol(s, symbol);
}

/* --- rules ---------------------------------------------------------------- */

static uint32_t new_rule(struct sequitur *s)
{
	uint32_t rule = s->free_rule, guard;

	if (rule != NONE) {
		s->free_rule = s->rules[rule].uses;
	} else if (array_reserve(&s->rules, &s->rule_capacity, s->rule_count + 1,
				 sizeof(*s->rules)) < 0) {
		s->failed = true;
		return NONE;
	} else {
		rule = (uint32_t)s->rule_count++;
	}
	guard = new_symbol(s, GUARD | rule);
	s->rules[rule] = (struct rule){guard, 0};
	if (guard == NONE)
		return NONE;
	s->symbols[guard].before = s->symbols[guard].after = guard;
	return rule;
}

static uint32_t copy_symbol(struct sequitur *s, uint32_t symbol)
{
	uint32_t copy = new_symbol(s, s->symbols[symbol].value);

	if (copy != NONE && is_rule(s, copy))
		s->rules[number_of(s, copy)].uses++;
	return copy;
}

/* Replace a rule's only use by the rule's symbols. */
static void sequitur_expand(struct sequitur *s, uint32_t symbol)
{
	uint32_t rule = number_of(s, symbol), guard = s->rules[rule].guard;
	uint32_t left = before(s, symbol), right = sequitur_after(s, symbol);
	uint32_t first = first_of(s, rule), last = last_of(s, rule);

	remove_pair(s, symbol);
	join(s, left, first);
	join(s, last, right);
	set_pair(s, left);
	set_pair(s, last);
	free_symbol(s, symbol);
	free_symbol(s, guard);
	s->rules[rule] = (struct rule){NONE, s->free_rule};
	s->free_rule = rule;
}

/* Replace a pair by the rule that consists of it. */
static void substitute(struct sequitur *s, uint32_t symbol, uint32_t rule)
{
	uint32_t left = before(s, symbol);
	uint32_t use = new_symbol(s, SEQUITUR_RULE | rule);
	bool matched;

	if (use == NONE)
		return;
	s->rules[rule].uses++;
	delete_symbol(s, sequitur_after(s, left));
	delete_symbol(s, sequitur_after(s, left));
	insert_after(s, left, use);
	sequitur_check(s, left, &matched);
	if (!matched && !s->failed)
		sequitur_check(s, sequitur_after(s, left), &matched);
}

static void expand_underused(struct sequitur *s, uint32_t rule)
{
	uint32_t ends[2];

	for (int i = 0; i < 2; i++) {
		if (s->rules[rule].guard == NONE) /* removed meanwhile */
			return;
		ends[0] = first_of(s, rule);
		ends[1] = last_of(s, rule);
		if (is_rule(s, ends[i]) && s->rules[number_of(s, ends[i])].uses == 1)
			sequitur_expand(s, ends[i]);
	}
}

static uint32_t make_rule(struct sequitur *s, uint32_t pair)
{
	uint32_t rule = new_rule(s);
	uint32_t first = rule != NONE ? copy_symbol(s, pair) : NONE;
	uint32_t second = first != NONE ? copy_symbol(s, sequitur_after(s, pair)) : NONE;

	if (second == NONE)
		return NONE;
	insert_after(s, last_of(s, rule), first);
	insert_after(s, last_of(s, rule), second);
	return rule;
}

/*
 * Replace two equal pairs by uses of a rule: the rule of @old, if it consists of that pair only, or
 * a new one.
 */
static void match(struct sequitur *s, uint32_t pair, uint32_t old)
{
	uint32_t rule;

	if (is_guard(s, before(s, old)) && is_guard(s, sequitur_after(s, sequitur_after(s, old)))) {
		rule = number_of(s, before(s, old));
		substitute(s, pair, rule);
	} else {
		rule = make_rule(s, pair);
		if (rule == NONE)
			return;
		substitute(s, old, rule);
		substitute(s, pair, rule);
		if (!s->failed && s->rules[rule].guard != NONE)
			set_pair(s, first_of(s, rule));
	}
	if (!s->failed)
		expand_underused(s, rule);
}

static void sequitur_check(struct sequitur *s, uint32_t symbol, bool *matched)
{
	uint32_t found;

	*matched = false;
	if (s->failed || !is_pair(s, symbol))
		return;
	found = find_pair(s, symbol);
	if (found == NONE) {
		sequitur_add_pair(s, symbol);
		return;
	}
	*matched = found != symbol && sequitur_after(s, found) != symbol &&
		   sequitur_after(s, symbol) != found;
	if (*matched)
		match(s, symbol, found);
}

/* --- interface ------------------------------------------------------------ */

struct sequitur *sequitur_create(void)
{
	struct sequitur *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->free_symbol = s->free_rule = NONE;
	s->bucket_count = INITIAL_BUCKETS;
	s->buckets = malloc(s->bucket_count * sizeof(*s->buckets));
	if (s->buckets != NULL)
		memset(s->buckets, 0xff, s->bucket_count * sizeof(*s->buckets));
	if (s->buckets == NULL || new_rule(s) == NONE) {
		sequitur_destroy(s);
		return NULL;
	}
	return s;
}

void sequitur_destroy(struct sequitur *sequitur)
{
	if (sequitur == NULL)
		return;
	free(sequitur->symbols);
	free(sequitur->rules);
	free(sequitur->buckets);
	free(sequitur);
}

int sequitur_append(struct sequitur *sequitur, uint32_t token)
{
	uint32_t symbol = sequitur->failed ? NONE : new_symbol(sequitur, token & ~KIND);
	bool matched;

	if (symbol == NONE)
		return -ENOMEM;
	insert_after(sequitur, last_of(sequitur, 0), symbol);
	sequitur_check(sequitur, before(sequitur, symbol), &matched);
	return sequitur->failed ? -ENOMEM : 0;
}

/* --- export of the grammar ------------------------------------------------ */

/*
 * @number: for each rule its new number, known after all its uses have been visited
 * @left:   for each rule the number of uses not yet visited
 * @order:  old numbers
 */
struct export
{
	const struct sequitur *sequitur;
	struct sequitur_grammar *grammar;
	uint32_t *left;
	uint32_t *number;
	uint32_t *order;
	uint32_t symbols;
};

static void export_rule(struct export *export, uint32_t rule)
{
	const struct sequitur *s = export->sequitur;

	for (uint32_t i = first_of(s, rule); !is_guard(s, i); i = sequitur_after(s, i)) {
		uint32_t used = number_of(s, i);

		export->grammar->symbols[export->symbols++] = s->symbols[i].value;
		if (!is_rule(s, i) || --export->left[used] > 0)
			continue;
		export->number[used] = export->grammar->rules;
		export->order[export->grammar->rules++] = used;
	}
}

static void export_all(struct export *export)
{
	struct sequitur_grammar *grammar = export->grammar;

	export->order[grammar->rules++] = 0;
	for (uint32_t r = 0; r < grammar->rules; r++) {
		grammar->first[r] = export->symbols;
		export_rule(export, export->order[r]);
	}
	grammar->first[grammar->rules] = export->symbols;
	for (uint32_t i = 0; i < export->symbols; i++) {
		uint32_t value = grammar->symbols[i];

		if ((value & KIND) == SEQUITUR_RULE)
			grammar->symbols[i] = SEQUITUR_RULE | export->number[value & ~KIND];
	}
}

int sequitur_grammar(const struct sequitur *sequitur, struct sequitur_grammar *ret)
{
	size_t rules = sequitur->rule_count + 1;
	struct export export = {
		.sequitur = sequitur,
		.grammar = ret,
		.left = calloc(rules, sizeof(*export.left)),
		.number = calloc(rules, sizeof(*export.number)),
		.order = calloc(rules, sizeof(*export.order)),
	};
	int r = -ENOMEM;

	*ret = (struct sequitur_grammar){
		.first = calloc(rules, sizeof(*ret->first)),
		.symbols = calloc(sequitur->symbol_count + 1, sizeof(*ret->symbols)),
	};
	if (export.left != NULL && export.number != NULL && export.order != NULL &&
	    ret->first != NULL && ret->symbols != NULL && !sequitur->failed) {
		for (size_t i = 0; i < sequitur->rule_count; i++)
			export.left[i] = sequitur->rules[i].uses;
		export_all(&export);
		r = 0;
	}
	free(export.left);
	free(export.number);
	free(export.order);
	if (r < 0)
		sequitur_grammar_deinit(ret);
	return r;
}

void sequitur_grammar_deinit(struct sequitur_grammar *grammar)
{
	free(grammar->first);
	free(grammar->symbols);
	*grammar = (struct sequitur_grammar){0};
}
