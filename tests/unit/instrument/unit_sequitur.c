// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sequitur's grammar expands to the input sequence, no pair of adjacent symbols occurs twice, and
 * all rules are used at least twice. Its time is linear.
 */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/sequitur.h"

#define LENGTH_MAX 400
#define ROUNDS 3000

static bool is_rule(uint32_t symbol)
{
	return (symbol & SEQUITUR_RULE) != 0;
}

/* Expand rule @r, which uses only later rules. Return: its length. */
static size_t expand(const struct sequitur_grammar *grammar, uint32_t r, uint32_t *out)
{
	size_t length = 0;

	for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
		uint32_t symbol = grammar->symbols[i];

		if (is_rule(symbol)) {
			assert_true((symbol & ~SEQUITUR_RULE) > r);
			length += expand(grammar, symbol & ~SEQUITUR_RULE, out + length);
		} else {
			out[length++] = symbol;
		}
	}
	return length;
}

/* Check that no pair occurs twice; equal pairs may overlap, one symbol apart. */
static void assert_pairs_once(const struct sequitur_grammar *grammar)
{
	const uint32_t *symbols = grammar->symbols;

	for (uint32_t r = 0; r < grammar->rules; r++) {
		for (uint32_t i = grammar->first[r]; i + 1 < grammar->first[r + 1]; i++) {
			for (uint32_t q = r; q < grammar->rules; q++) {
				uint32_t k = q == r ? i + 1 : grammar->first[q];

				for (; k + 1 < grammar->first[q + 1]; k++) {
					if (symbols[i] != symbols[k] ||
					    symbols[i + 1] != symbols[k + 1])
						continue;
					assert_int_equal(k, i + 1);
				}
			}
		}
	}
}

static void assert_rules_used(const struct sequitur_grammar *grammar)
{
	uint32_t *uses = calloc(grammar->rules + 1, sizeof(*uses));

	for (uint32_t i = 0; i < grammar->first[grammar->rules]; i++) {
		if (is_rule(grammar->symbols[i]))
			uses[grammar->symbols[i] & ~SEQUITUR_RULE]++;
	}
	for (uint32_t r = 1; r < grammar->rules; r++) {
		assert_true(uses[r] >= 2);
		assert_true(grammar->first[r + 1] - grammar->first[r] >= 2);
	}
	free(uses);
}

static void assert_makes(struct sequitur *sequitur, const uint32_t *sequence, size_t length)
{
	struct sequitur_grammar grammar;
	uint32_t made[LENGTH_MAX];

	assert_int_equal(sequitur_grammar(sequitur, &grammar), 0);
	assert_int_equal(expand(&grammar, 0, made), length);
	assert_memory_equal(made, sequence, length * sizeof(*made));
	assert_pairs_once(&grammar);
	assert_rules_used(&grammar);
	sequitur_grammar_deinit(&grammar);
}

/* Make a sequence of few letters, with repeated pieces. */
static size_t make_sequence(uint32_t *sequence, uint64_t *random)
{
	size_t length = unit_random(random) % LENGTH_MAX, made = 0;
	uint32_t letters = 1 + (uint32_t)(unit_random(random) % 8);

	while (made < length) {
		size_t piece = unit_random(random) % 30, from;

		if (made == 0 || unit_random(random) % 3 == 0) {
			sequence[made++] = (uint32_t)(unit_random(random) % letters);
			continue;
		}
		from = unit_random(random) % made;
		for (; piece > 0 && made < length; piece--)
			sequence[made++] = sequence[from++];
	}
	return length;
}

static void test_random_sequences(void **state)
{
	uint64_t random = 1997;
	uint32_t sequence[LENGTH_MAX];

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		size_t length = make_sequence(sequence, &random);
		struct sequitur *sequitur = sequitur_create();
		bool at_each = round % 50 == 0;

		assert_non_null(sequitur);
		for (size_t i = 0; i < length; i++) {
			assert_int_equal(sequitur_append(sequitur, sequence[i]), 0);
			if (at_each)
				assert_makes(sequitur, sequence, i + 1);
		}
		assert_makes(sequitur, sequence, length);
		sequitur_destroy(sequitur);
	}
}

static void append_text(struct sequitur *sequitur, const char *text)
{
	for (; *text != '\0'; text++)
		assert_int_equal(sequitur_append(sequitur, (unsigned char)*text), 0);
}

/* Write the grammar as text, with rules in parentheses. */
static void write_grammar(const struct sequitur_grammar *grammar, uint32_t r, char **out)
{
	for (uint32_t i = grammar->first[r]; i < grammar->first[r + 1]; i++) {
		uint32_t symbol = grammar->symbols[i];

		if (!is_rule(symbol)) {
			*(*out)++ = (char)symbol;
			continue;
		}
		*(*out)++ = '(';
		write_grammar(grammar, symbol & ~SEQUITUR_RULE, out);
		*(*out)++ = ')';
	}
}

/*
 * The paper's examples: abcdbc, and abcdbcabcdbc, in which the rule for the whole uses that for bc.
 */
static void test_papers_examples(void **state)
{
	static const char *const examples[][2] = {
		{"abcdbc", "a(bc)d(bc)"},
		{"abcdbcabcdbc", "(a(bc)d(bc))(a(bc)d(bc))"},
		{"aaaa", "(aa)(aa)"},
		{"abcabdabcabd", "((ab)c(ab)d)((ab)c(ab)d)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct sequitur *sequitur = sequitur_create();
		struct sequitur_grammar grammar;
		char text[200], *end = text;

		append_text(sequitur, examples[i][0]);
		assert_int_equal(sequitur_grammar(sequitur, &grammar), 0);
		write_grammar(&grammar, 0, &end);
		*end = '\0';
		assert_string_equal(text, examples[i][1]);
		sequitur_grammar_deinit(&grammar);
		sequitur_destroy(sequitur);
	}
}

/* A long repetition needs few rules: their number is logarithmic in the length. */
static void test_grammar_is_small(void **state)
{
	struct sequitur *sequitur = sequitur_create();
	struct sequitur_grammar grammar;

	(void)state;
	for (uint32_t i = 0; i < 1 << 20; i++)
		assert_int_equal(sequitur_append(sequitur, i % 37), 0);
	assert_int_equal(sequitur_grammar(sequitur, &grammar), 0);
	assert_in_range(grammar.rules, 2, 60);
	assert_in_range(grammar.first[grammar.rules], 37, 400);
	sequitur_grammar_deinit(&grammar);
	sequitur_destroy(sequitur);
	sequitur_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_sequences),
		cmocka_unit_test(test_papers_examples),
		cmocka_unit_test(test_grammar_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
