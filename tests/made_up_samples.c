// SPDX-License-Identifier: GPL-2.0-only
#include "tests/made_up_samples.h"

#include "analysis/graph/cfg_create.h"
#include "tests/unit.h"

#include <stdlib.h>

void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (memory == NULL)
		abort();
	return memory;
}

static int compare_counts(const void *a, const void *b)
{
	const struct address_count *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void add_procedure(struct made_up *made_up, struct image_code *code, size_t index,
			  uint64_t *random)
{
	struct image_samples *samples = &made_up->samples;
	struct cfg *cfg;

	if (cfg_create(&cfg, code, index, NULL, NULL) != 0)
		return;
	for (uint32_t i = 0; i < cfg->insn_count && samples->time.count < COUNTS_MAX; i++) {
		uint64_t address = cfg->insns[i].address;

		if (unit_random(random) % 3 == 0)
			continue;
		made_up->time[samples->time.count++] =
			(struct address_count){address, (double)(unit_random(random) % 1000)};
		if (unit_random(random) % 4 == 0)
			made_up->misses[samples->roles[PROFILE_ROLE_DMISS].count++] =
				(struct address_count){address, 5};
	}
	cfg_destroy(cfg);
}

void make_up(struct made_up *made_up, struct image_code *code, unsigned int one_in)
{
	size_t count = procedure_table_count(image_code_procedures(code));
	struct image_event_samples *misses;
	uint64_t random = one_in;

	*made_up = (struct made_up){
		.time = allocate(COUNTS_MAX, sizeof(*made_up->time)),
		.misses = allocate(COUNTS_MAX, sizeof(*made_up->misses)),
	};
	misses = &made_up->samples.roles[PROFILE_ROLE_DMISS];
	for (size_t i = 0; i < count; i++)
		if (unit_random(&random) % one_in == 0)
			add_procedure(made_up, code, i, &random);
	qsort(made_up->time, made_up->samples.time.count, sizeof(*made_up->time), compare_counts);
	qsort(made_up->misses, misses->count, sizeof(*made_up->misses), compare_counts);
	made_up->samples.time.counts = made_up->time;
	made_up->samples.time.period = 62000;
	misses->counts = made_up->misses;
	misses->period = 100;
}

void forget(struct made_up *made_up)
{
	free(made_up->time);
	free(made_up->misses);
}
