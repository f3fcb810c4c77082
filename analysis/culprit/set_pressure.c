// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/set_pressure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/culprit/cache_residency.h"
#include "lib/array.h"

static int add_line(struct set_pressure *sets, uint64_t number, double frequency)
{
	if (array_reserve(&sets->lines, &sets->capacity, sets->count + 1, sizeof(*sets->lines)) < 0)
		return -ENOMEM;
	sets->lines[sets->count++] = (struct set_line){number, frequency};
	return 0;
}

int set_pressure_add(struct set_pressure *sets, const struct machine_cache *cache,
		     const struct cfg *cfg, const struct frequency *frequency)
{
	int r = 0;

	for (uint32_t b = 0; b < cfg->block_count && cache->ways > 0; b++) {
		const struct insn *first = &cfg->insns[cfg->blocks[b].first];
		const struct insn *last = first + cfg->blocks[b].count - 1;
		double value = frequency->blocks[b].value;
		uint64_t end = (last->address + last->bytes - 1) / cache->line_bytes;

		/* Also excludes NaN. */
		if (!(value > 0))
			continue;
		for (uint64_t n = first->address / cache->line_bytes; r == 0 && n <= end; n++)
			r = add_line(sets, n, value);
	}
	return r;
}

static int by_number(const void *left, const void *right)
{
	const struct set_line *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

/* Blocks that share a line are mostly executed together. */
static void merge_blocks(struct set_pressure *sets)
{
	size_t kept = 0;

	for (size_t i = 0; i < sets->count; i++) {
		if (kept > 0 && sets->lines[kept - 1].number == sets->lines[i].number)
			sets->lines[kept - 1].frequency =
				fmax(sets->lines[kept - 1].frequency, sets->lines[i].frequency);
		else
			sets->lines[kept++] = sets->lines[i];
	}
	sets->count = kept;
}

/* struct set_lines - the lines of one set */
struct set_lines {
	const struct set_line *lines;
	size_t count;
};

static double executed_in(const void *code, double time)
{
	const struct set_lines *set = code;
	double sum = 0;

	for (size_t i = 0; i < set->count; i++)
		sum -= expm1(-set->lines[i].frequency * time);
	return sum;
}

/* Group the lines by set; their order within a set is not relevant. */
static int sort_by_set(struct set_pressure *sets, size_t *first)
{
	struct set_line *sorted = malloc((sets->count + 1) * sizeof(*sorted));

	if (sorted == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < sets->count; i++)
		first[sets->lines[i].number % sets->sets + 1]++;
	for (uint32_t set = 0; set < sets->sets; set++)
		first[set + 1] += first[set];
	for (size_t i = sets->count; i > 0; i--)
		sorted[--first[sets->lines[i - 1].number % sets->sets + 1]] = sets->lines[i - 1];
	free(sets->lines);
	sets->lines = sorted;
	return 0;
}

int set_pressure_settle(struct set_pressure *sets, const struct machine_cache *cache)
{
	size_t *first;
	int r;

	if (cache->ways == 0 || sets->count == 0)
		return 0;
	sets->line_bytes = cache->line_bytes;
	sets->sets = cache->bytes / cache->line_bytes / cache->ways;
	qsort(sets->lines, sets->count, sizeof(*sets->lines), by_number);
	merge_blocks(sets);
	first = calloc(sets->sets + (size_t)2, sizeof(*first));
	sets->residency = calloc(sets->sets, sizeof(*sets->residency));
	r = first != NULL && sets->residency != NULL ? sort_by_set(sets, first) : -ENOMEM;
	for (uint32_t set = 0; r == 0 && set < sets->sets; set++) {
		size_t end = set + 1 < sets->sets ? first[set + 2] : sets->count;
		const struct set_lines lines = {sets->lines + first[set + 1], end - first[set + 1]};

		sets->residency[set] = cache_residency(executed_in, &lines, cache->ways);
	}
	free(first);
	return r;
}

double set_pressure_miss_share(const struct set_pressure *sets, uint64_t address, double frequency)
{
	if (sets->residency == NULL)
		return 0;
	return exp(-frequency * sets->residency[address / sets->line_bytes % sets->sets]);
}

void set_pressure_deinit(struct set_pressure *sets)
{
	free(sets->lines);
	free(sets->residency);
	*sets = (struct set_pressure){0};
}
