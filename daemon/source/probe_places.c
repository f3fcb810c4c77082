// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_places.h"

#include <string.h>

#include "lib/clock.h"

/*
 * If a breakpoint is placed again within this time, samples from before may not have been drained
 * yet, so the existing entry is continued.
 */
#define DRAINED_NS (10 * NS_PER_SECOND)

void probe_places_init(struct probe_places *places)
{
	memset(places->table, 0, sizeof(places->table));
	memset(places->areas, 0, sizeof(places->areas));
	pthread_mutex_init(&places->lock, NULL);
}

void probe_places_deinit(struct probe_places *places)
{
	pthread_mutex_destroy(&places->lock);
}

static struct probe_place *probe_place_of(struct probe_places *places, uint32_t pid,
					  uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15;

	return &places->table[(hash >> 32) % PROBE_PLACES_NR];
}

static bool place_is(const struct probe_place *place, uint32_t pid, uint64_t address)
{
	return place->since_ns != 0 && place->pid == pid && place->address == address;
}

/* Return: the start time of a breakpoint that is placed again. */
static uint64_t since_ns_of(const struct probe_place *known, uint64_t now_ns)
{
	return known->until_ns == 0 || known->until_ns + DRAINED_NS > now_ns ? known->since_ns
									     : now_ns;
}

void probe_places_add(struct probe_places *places, uint32_t pid, uint64_t address, uint64_t now_ns)
{
	struct probe_place *place = probe_place_of(places, pid, address);
	uint64_t since_ns;

	pthread_mutex_lock(&places->lock);
	since_ns = place_is(place, pid, address) && place->from == 0 ? since_ns_of(place, now_ns)
								     : now_ns;
	*place = (struct probe_place){.address = address, .since_ns = since_ns, .pid = pid};
	pthread_mutex_unlock(&places->lock);
}

void probe_places_remove(struct probe_places *places, uint32_t pid, uint64_t address,
			 uint64_t now_ns)
{
	struct probe_place *place = probe_place_of(places, pid, address);

	pthread_mutex_lock(&places->lock);
	if (place_is(place, pid, address))
		place->until_ns = now_ns;
	pthread_mutex_unlock(&places->lock);
}

void probe_places_add_area(struct probe_places *places, uint32_t pid, uint64_t start, uint64_t end,
			   uint64_t since_ns)
{
	struct probe_area *area = &places->areas[pid % PROBE_AREAS_NR];

	pthread_mutex_lock(&places->lock);
	if (place_is(&area->place, pid, start))
		since_ns = since_ns_of(&area->place, since_ns);
	area->place = (struct probe_place){.address = start, .since_ns = since_ns, .pid = pid};
	area->end = end;
	pthread_mutex_unlock(&places->lock);
}

void probe_places_remove_area(struct probe_places *places, uint32_t pid, uint64_t now_ns)
{
	struct probe_area *area = &places->areas[pid % PROBE_AREAS_NR];

	pthread_mutex_lock(&places->lock);
	if (area->place.pid == pid)
		area->place.until_ns = now_ns;
	pthread_mutex_unlock(&places->lock);
}

void probe_places_add_target(struct probe_places *places, uint32_t pid, uint64_t from, uint64_t to)
{
	struct probe_place *place = probe_place_of(places, pid, to);

	pthread_mutex_lock(&places->lock);
	if (!place_is(place, pid, to) || place->from != 0)
		*place = (struct probe_place){
			.address = to, .from = from, .since_ns = 1, .pid = pid};
	pthread_mutex_unlock(&places->lock);
}

static bool is_then(const struct probe_place *place, uint64_t time_ns)
{
	return time_ns >= place->since_ns && (place->until_ns == 0 || time_ns <= place->until_ns);
}

static bool is_there(struct probe_places *places, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	const struct probe_place *place = probe_place_of(places, pid, address);

	return place_is(place, pid, address) && place->from == 0 && is_then(place, time_ns);
}

static bool is_target(struct probe_places *places, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	const struct probe_place *place = probe_place_of(places, pid, address);

	return place_is(place, pid, address) && place->from != 0 &&
	       is_there(places, pid, place->from, time_ns);
}

static bool is_in_area(const struct probe_area *area, uint32_t pid, uint64_t user_pc,
		       uint64_t time_ns)
{
	return place_is(&area->place, pid, area->place.address) && user_pc >= area->place.address &&
	       user_pc < area->end && is_then(&area->place, time_ns);
}

bool probe_places_has(struct probe_places *places, uint32_t pid, uint64_t user_pc, uint64_t time_ns)
{
	bool found;

	pthread_mutex_lock(&places->lock);
	found = is_there(places, pid, user_pc - 1, time_ns) ||
		is_there(places, pid, user_pc, time_ns) ||
		is_target(places, pid, user_pc, time_ns) ||
		is_in_area(&places->areas[pid % PROBE_AREAS_NR], pid, user_pc, time_ns);
	pthread_mutex_unlock(&places->lock);
	return found;
}
