/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A grammar that produces one sequence, built incrementally: Nevill-Manning and Witten,
 * "Identifying hierarchical structure in sequences: a linear-time algorithm", 1997. Invariants of
 * the grammar:
 *
 *	- no pair of adjacent symbols occurs twice (except overlaps, as in "aaa")
 *	- each rule except the first is used at least twice
 *
 * So repetitions become rules. Time and memory are linear in the length of the sequence.
 */
#ifndef DCPI_INSTRUMENT_SEQUITUR_H
#define DCPI_INSTRUMENT_SEQUITUR_H

#include <stddef.h>
#include <stdint.h>

struct sequitur;

/* The elements of a sequence are numbers below this. */
#define SEQUITUR_TOKENS (UINT32_C(1) << 30)

/* Marks a symbol of a rule that is the number of another rule. */
#define SEQUITUR_RULE (UINT32_C(1) << 31)

/**
 * struct sequitur_grammar - zero-initialised is empty; freed by sequitur_grammar_deinit()
 * @first:   rule r is symbols[first[r]] .. symbols[first[r + 1] - 1]; rule 0 is the sequence
 * @symbols: numbers of the sequence, or SEQUITUR_RULE | rule; the number of a rule is higher than
 *           those of all rules that use it
 */
struct sequitur_grammar {
	uint32_t *first;
	uint32_t *symbols;
	uint32_t rules;
};

/** sequitur_create() - create an empty sequence. Return: NULL: no memory. */
struct sequitur *sequitur_create(void);

/** sequitur_destroy() - free. NULL is fine. */
void sequitur_destroy(struct sequitur *sequitur);

/**
 * sequitur_append() - append a number to the sequence
 *
 * Return: 0; -ENOMEM, also if the grammar is too large for 32-bit numbers. After an error, the
 * grammar can only be destroyed.
 */
int sequitur_append(struct sequitur *sequitur, uint32_t token);

/** sequitur_grammar() - export the current grammar. @ret: out. Return: 0 or -ENOMEM. */
int sequitur_grammar(const struct sequitur *sequitur, struct sequitur_grammar *ret);

void sequitur_grammar_deinit(struct sequitur_grammar *grammar);

#endif
