// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/variation_slow.h"

#include "instrument/variation/variation_layout.h"

/* 2^64 divided by the golden ratio. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
/* The number of checks between two paths varies by up to an eighth. */
#define JITTER 8

/* Marsaglia's xorshift. */
static uint64_t variation_slow_draw(struct variation_area *area)
{
	uint64_t seed = area->seed;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	area->seed = seed;
	return seed;
}

void variation_slow_begin(const struct profile_layout_state *state,
			  const struct runtime_memory *memory)
{
	struct variation_area *area = memory->area;
	int64_t checks = (int64_t)state->parameters[VARIATION_CHECKS];
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	area->seed = (((uint64_t)high << 32 | low) * SPREAD) | 1;
	area->path = VARIATION_NO_PATH;
	area->bursts.checks =
		checks > 0 ? (int32_t)(variation_slow_draw(area) % (uint64_t)checks) : -1;
}

/* The check after these leads to the next path. */
static int32_t next_checks(const struct profile_layout_state *state, struct variation_area *area)
{
	uint64_t checks = state->parameters[VARIATION_CHECKS], jitter = checks / JITTER;

	if (checks == 0)
		return -1;
	return (int32_t)(checks - 1 - jitter + variation_slow_draw(area) % (2 * jitter + 1));
}

/* Restart the counter that has counted down to this path. In signal handlers, other counters may
 * have reached the end as well. */
static void begin_again(const struct profile_layout_state *state, struct variation_area *area)
{
	for (unsigned int c = 0; c < PROFILE_LAYOUT_COUNTERS; c++) {
		int32_t checks = runtime_checks(state, c);

		if (c == 0 && checks < -PROFILE_LAYOUT_CHECKS_KEPT)
			runtime_set_checks(state, c, ~checks);
		else if (checks < 0)
			runtime_set_checks(state, c, next_checks(state, area));
	}
}

/* At the target of an indirect jump, the sign of the first counter selects the clone. */
static void go_on(const struct profile_layout_state *state)
{
	int32_t checks = runtime_checks(state, 0);

	if (checks > INT32_MAX - PROFILE_LAYOUT_CHECKS_KEPT)
		checks = INT32_MAX - PROFILE_LAYOUT_CHECKS_KEPT;
	if (checks >= 0)
		runtime_set_checks(state, 0, ~(checks + PROFILE_LAYOUT_CHECKS_KEPT));
}

/* Return: its number + 1; 0 if there is no room. */
static uint16_t new_entry(struct variation_area *area, uint64_t key)
{
	uint32_t number;

	if (__atomic_load_n(&area->used, __ATOMIC_RELAXED) >= VARIATION_ENTRIES)
		return 0;
	number = __atomic_fetch_add(&area->used, 1, __ATOMIC_RELAXED);
	if (number >= VARIATION_ENTRIES)
		return 0;
	area->entries[number].key = key;
	return (uint16_t)(number + 1);
}

/* A signal handler may take the free place in between. Return: NULL if there is no room. */
static struct variation_entry *variation_slow_find_entry(struct variation_area *area, uint64_t key)
{
	uint64_t first = (key * SPREAD) >> (64 - VARIATION_PLACE_BITS);
	uint16_t own = 0;

	for (uint64_t i = first; i < first + VARIATION_PROBES; i++) {
		uint16_t number = __atomic_load_n(&area->places[i], __ATOMIC_ACQUIRE);

		if (number == 0) {
			own = own != 0 ? own : new_entry(area, key);
			if (own == 0)
				return 0;
			if (__atomic_compare_exchange_n(&area->places[i], &number, own, 0,
							__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
				number = own;
		}
		if (area->entries[number - 1].key == key)
			return &area->entries[number - 1];
	}
	return 0;
}

/* Keeps the compiler from moving stores that are visible if the program is killed in between. */
#define barrier() __asm__ volatile("" : : : "memory")

/* Sums before the buckets, which hold the number of times in the sums. */
static void record(struct variation_entry *entry, uint64_t time)
{
	uint64_t least = entry->least;

	if (time >= VARIATION_LONG) {
		entry->interrupted_total += time;
		barrier();
		entry->interrupted++;
		return;
	}
	while ((least == 0 || time < least) &&
	       !__atomic_compare_exchange_n(&entry->least, &least, time, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	entry->total += time;
	barrier();
	entry->buckets[variation_bucket(time)]++;
	barrier();
	entry->count++;
}

void variation_slow(const struct profile_layout_state *state, const struct runtime_memory *memory,
		    const struct runtime_frame *frame)
{
	struct variation_area *area = memory->area;
	uint32_t procedure = (uint32_t)frame->argument, path = area->path;
	uint64_t time = area->ended - area->began;
	struct variation_entry *entry;

	area->path = VARIATION_NO_PATH;
	begin_again(state, area);
	if (runtime_operation(frame) == VARIATION_OPERATION_JUMP)
		go_on(state);
	/* The difference is negative only if the thread has moved to a CPU with a lagging time
	 * stamp counter. */
	if (path >= VARIATION_NO_PATH || area->procedure != procedure || (int64_t)time < 0) {
		area->lost++;
		return;
	}
	entry = variation_slow_find_entry(area, (uint64_t)procedure << 32 | path);
	if (entry == 0)
		area->overflow++;
	else
		record(entry, time > 0 ? time : 1);
}
