// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_PARTS 31 /* 62K +- 2K */
#define WINDOW_LEAST 512
#define PERIOD_FIRST 24

void sim_samplers_init(struct sim_samplers *samplers)
{
	*samplers = (struct sim_samplers){.next = UINT64_MAX};
}

/* Vigna's xorshift64* */
static uint64_t draw(struct sim_sampler *sampler)
{
	sampler->random ^= sampler->random >> 12;
	sampler->random ^= sampler->random << 25;
	sampler->random ^= sampler->random >> 27;
	return sampler->random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static uint64_t interval(struct sim_sampler *sampler)
{
	return sampler->period_min +
	       draw(sampler) % (sampler->period_max - sampler->period_min + 1);
}

static void period_set(struct sim_sampler *sampler, uint64_t period)
{
	uint64_t window = period / WINDOW_PARTS;

	if (window < WINDOW_LEAST)
		window = period / 2 < WINDOW_LEAST ? period / 2 : WINDOW_LEAST;
	sampler->period_min = period - window;
	sampler->period_max = period + window;
}

int sim_samplers_add(struct sim_samplers *samplers, uint64_t period, uint64_t budget, uint64_t seed)
{
	struct sim_sampler *sampler = &samplers->list[samplers->count];

	if (samplers->count == SIM_SAMPLERS_MAX)
		return -E2BIG;
	if (budget > 0 ? period != 0 || budget > UINT32_MAX / 4 : period < 2 || period > UINT32_MAX)
		return -EINVAL;
	if (budget > 0)
		period = PERIOD_FIRST;
	*sampler = (struct sim_sampler){
		.budget = budget,
		.seed = seed,
		.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ period ^ budget << 20,
	};
	period_set(sampler, period);
	sampler->next = 1 + draw(sampler) % period;
	if (sampler->next < samplers->next)
		samplers->next = sampler->next;
	samplers->count++;
	return 0;
}

/* Selection state: @keep of the @of samples that are still to be considered will be kept. */
struct lottery {
	uint64_t of;
	uint64_t keep;
};

/* Knuth's selection sampling (3.4.2, algorithm S) */
static uint32_t kept(struct sim_sampler *sampler, struct lottery *lottery, uint32_t count)
{
	uint32_t good = 0;

	for (; count > 0 && lottery->of > 0; count--) {
		if (draw(sampler) % lottery->of-- < lottery->keep) {
			lottery->keep--;
			good++;
		}
	}
	return good;
}

/*
 * Drop all but @keep samples, chosen at random. The number of skidded samples may differ by one, as
 * the last skidded sample may be pending.
 */
static void forget(struct sim_samplers *samplers, uint32_t index, uint64_t keep)
{
	struct sim_sampler *sampler = &samplers->list[index];
	struct lottery now = {sampler->samples, keep}, late = now;
	size_t i;

	for (i = 0; i < samplers->sampled_count; i++) {
		struct sim_insn *insn = samplers->sampled[i];

		insn->samples[index] = kept(sampler, &now, insn->samples[index]);
		insn->skidded[index] = kept(sampler, &late, insn->skidded[index]);
	}
	sampler->samples = keep;
}

static void *checked(void *memory)
{
	if (!memory) {
		fprintf(stderr, "sim_plugin: out of memory\n");
		exit(2);
	}
	return memory;
}

static void room_make(struct sim_samplers *samplers, struct sim_insn *insn)
{
	size_t count = samplers->sampled_count;

	if (insn->samples)
		return;
	insn->samples = checked(calloc(samplers->count * 2, sizeof(*insn->samples)));
	insn->skidded = insn->samples + samplers->count;
	if ((count & (count - 1)) == 0)
		samplers->sampled = checked(realloc(
			samplers->sampled, (count ? 2 * count : 1) * sizeof(struct sim_insn *)));
	samplers->sampled[samplers->sampled_count++] = insn;
}

void sim_samplers_take(struct sim_samplers *samplers, struct sim_insn *insn, uint64_t until)
{
	uint64_t next = UINT64_MAX;
	uint32_t i;

	room_make(samplers, insn);
	for (i = 0; i < samplers->count; i++) {
		struct sim_sampler *sampler = &samplers->list[i];

		while (sampler->next <= until) {
			insn->samples[i]++;
			samplers->late[i]++;
			sampler->samples++;
			sampler->next += interval(sampler);
		}
		if (sampler->budget > 0 && sampler->samples >= 2 * sampler->budget) {
			forget(samplers, i, sampler->budget);
			period_set(sampler, sampler->period_min + sampler->period_max);
		}
		if (sampler->next < next)
			next = sampler->next;
	}
	samplers->next = next;
	samplers->late_any = true;
}

void sim_samplers_skid(struct sim_samplers *samplers, struct sim_insn *insn)
{
	uint32_t i;

	room_make(samplers, insn);
	for (i = 0; i < samplers->count; i++)
		insn->skidded[i] += samplers->late[i];
	memset(samplers->late, 0, sizeof(samplers->late));
	samplers->late_any = false;
}

void sim_samplers_end(struct sim_samplers *samplers, uint64_t cycles)
{
	uint32_t i;

	for (i = 0; i < samplers->count; i++) {
		struct sim_sampler *sampler = &samplers->list[i];

		uint64_t most = sampler->samples, period;

		if (sampler->budget == 0 || most == 0)
			continue;
		if (most > sampler->budget)
			most = sampler->budget;
		period = (cycles + most - 1) / most;
		forget(samplers, i, (cycles + period / 2) / period);
		sampler->period_min = sampler->period_max = period;
	}
}
