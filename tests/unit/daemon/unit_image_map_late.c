// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that were pending when a process was scanned. A scan finds their outcome, but samples from
 * before it are not attributed to that outcome. A process maps, unmaps and execs at random. Events
 * arrive late, scans occur at random, and each sample is looked up after all earlier events. The
 * model is the history of mappings.
 */
#include "tests/fixtures/image_map_fixture.h"

#define STEP_NS 100000000ULL
#define STEPS 6000

enum {
	PAGES = 4,
	IMAGES = 3,
	PID = 7,
	EXECS_SELDOM = 12,
};

/* Images mapped after step n, 0: none; and the event that made the change. */
static struct {
	uint32_t image[PAGES];
	uint32_t generation;
	struct image_event event;
} past[STEPS];

static void change(size_t now, uint32_t generation, uint64_t *seed)
{
	uint64_t first = unit_random(seed) % PAGES;
	uint64_t pages = 1 + unit_random(seed) % (PAGES - first);
	int image = (int)(unit_random(seed) % IMAGES);
	bool unmaps = unit_random(seed) % 2 == 0;

	past[now].event = map_event(PID, now * STEP_NS, image, first, pages, first * PAGE);
	if (unmaps)
		past[now].event.type = IMAGE_EVENT_UNMAP;
	past[now].event.has_generation = true;
	past[now].event.generation = generation;
	for (uint64_t i = first; i < first + pages; i++)
		past[now].image[i] = unmaps ? 0 : (uint32_t)image + 1;
}

/* @execs: occasionally exec */
static void live(bool execs, uint64_t *seed)
{
	uint32_t generation = 5;

	for (size_t now = 0; now < STEPS; now++) {
		memset(&past[now], 0, sizeof(past[now]));
		if (now == 0 || (execs && unit_random(seed) % EXECS_SELDOM == 0)) {
			generation = (generation + 1) % DCPI_GENERATION_MAX;
			past[now].event = (struct image_event){.type = IMAGE_EVENT_EXEC,
							       .pid = PID,
							       .time_ns = now * STEP_NS,
							       .has_generation = true,
							       .generation = generation,
							       .path = "x"};
		} else {
			memcpy(past[now].image, past[now - 1].image, sizeof(past[now].image));
			change(now, generation, seed);
		}
		past[now].generation = generation;
	}
}

static void scan(struct fixture *fixture, size_t now)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK,
				    .pid = PID,
				    .time_ns = now * STEP_NS + STEP_NS / 2,
				    .until_ns = now * STEP_NS + STEP_NS / 2 + 5,
				    .scanned = true};

	image_map_event(fixture->map, &event);
	image_map_set_generation(fixture->map, PID, past[now].generation, event.until_ns);
	for (uint64_t i = 0; i < PAGES; i++) {
		if (past[now].image[i] == 0)
			continue;
		event = map_event(PID, event.time_ns, (int)past[now].image[i] - 1, i, 1, i * PAGE);
		event.scanned = true;
		image_map_event(fixture->map, &event);
	}
}

/* Return: the number of samples that were found where a mapping existed. */
static size_t expect(struct fixture *fixture, size_t at, uint64_t part, bool own, size_t *were)
{
	size_t found = 0;

	for (uint64_t i = 0; i < PAGES; i++) {
		uint32_t generation =
			own ? image_map_generation(fixture->map, PID, at * STEP_NS + part)
			    : past[at].generation;
		struct image_place place =
			image_map_lookup(fixture->map, PID, generation, BASE + i * PAGE + 5);

		/* No code runs without a mapping. */
		if (past[at].image[i] == 0)
			continue;
		++*were;
		if (place.image == IMAGE_UNKNOWN)
			continue;
		found++;
		assert_int_equal(image_table_get(fixture->table, place.image)->identity[0],
				 past[at].image[i]);
		assert_int_equal(place.offset, i * PAGE + 5);
	}
	return found;
}

/* Return: the share of samples that were found, in percent. */
static size_t follow(bool own, bool execs, uint64_t seed)
{
	size_t told = 0, now, found = 0, were = 0;
	struct fixture fixture;

	live(execs, &seed);
	setup(&fixture, own);
	image_map_event(fixture.map, &past[0].event);
	for (now = 1; now < STEPS; now++) {
		if (unit_random(&seed) % 8 == 0)
			scan(&fixture, now);
		if (unit_random(&seed) % 6 != 0)
			continue;
		for (size_t at = told + 1; at <= now; at++)
			image_map_event(fixture.map, &past[at].event);
		for (size_t at = told + 1; at <= now; at++) {
			found += expect(&fixture, at, STEP_NS / 4, own, &were);
			found += expect(&fixture, at, 3 * STEP_NS / 4, own, &were);
		}
		told = now;
		image_map_expire(fixture.map, now * STEP_NS);
	}
	teardown(&fixture);
	return 100 * found / were;
}

static void mappings_come_late(void **state)
{
	(void)state;
	/*
	 * Late events reveal the earlier mappings. With the kernel's generations, most samples have
	 * several candidates.
	 */
	for (uint64_t seed = 1; seed <= 5; seed++) {
		assert_int_equal(follow(true, false, seed), 100);
		assert_true(follow(false, false, seed) > 15);
	}
}

static void execs_come_late(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		assert_true(follow(true, true, seed) > 85);
		assert_true(follow(false, true, seed) > 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_come_late),
		cmocka_unit_test(execs_come_late),
	};

	return cmocka_run_group_tests_name("image_map_late", tests, NULL, NULL);
}
