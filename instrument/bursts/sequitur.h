/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A grammar that makes one sequence, built while the sequence comes in: Nevill-Manning and
 * Witten, "Identifying hierarchical structure in sequences: a linear-time algorithm", 1997.
 * Of the grammar it holds at any time that
 *
 *	no two neighbours occur twice in it (but for overlaps, as in "aaa"), and
 *	each rule but the first is used at least twice.
 *
 * So what repeats is a rule. Time and memory are linear in the length of the sequence.
 */
#ifndef DCPI_INSTRUMENT_SEQUITUR_H
#define DCPI_INSTRUMENT_SEQUITUR_H

#include <stddef.h>
#include <stdint.h>

struct sequitur;

/* What a sequence is made of is numbers below this. */
#define SEQUITUR_TOKENS (UINT32_C(1) << 30)

/* In a rule: what is not a number of the sequence is a rule's. */
#define SEQUITUR_RULE (UINT32_C(1) << 31)

/**
 * struct sequitur_grammar - zero-initialised is empty; freed by sequitur_grammar_deinit()
 * @first:   rule r is symbols[first[r]] .. symbols[first[r + 1] - 1]; rule 0 is all of it
 * @symbols: numbers of the sequence, or SEQUITUR_RULE | rule, whose number is higher than
 *           that of all rules that use it
 */
struct sequitur_grammar {
	uint32_t *first;
	uint32_t *symbols;
	uint32_t rules;
};

/** sequitur_create() - of an empty sequence. Return: NULL: no memory. */
struct sequitur *sequitur_create(void);

/** sequitur_destroy() - free. NULL is fine. */
void sequitur_destroy(struct sequitur *sequitur);

/**
 * sequitur_append() - the sequence goes on
 *
 * Return: 0; -ENOMEM, also if the grammar is too large for 32-bit numbers. After that
 * nothing can be done with it but to destroy it.
 */
int sequitur_append(struct sequitur *sequitur, uint32_t token);

/** sequitur_grammar() - as it is now. @ret: out. Return: 0 or -ENOMEM. */
int sequitur_grammar(const struct sequitur *sequitur, struct sequitur_grammar *ret);

void sequitur_grammar_deinit(struct sequitur_grammar *grammar);

#endif
