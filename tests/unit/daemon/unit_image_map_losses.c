// SPDX-License-Identifier: GPL-2.0-only
/* The image map after lost events, and after scans that compensate for them. */
#include "tests/fixtures/image_map_fixture.h"

#include <stdio.h>

#include "daemon/image/address_spaces.h"
#include "daemon/image/loss_list.h"
#include "daemon/image/mapping_list.h"

/* The results of a scan override older events that arrive after it. */
static void scan_overrules_older_events(void **state)
{
	struct image_event fork = {
		.type = IMAGE_EVENT_FORK, .pid = 9, .time_ns = 1000, .scanned = true};
	struct image_event exec = {.type = IMAGE_EVENT_EXEC, .pid = 9, .path = "old"};
	struct image_event exit = {.type = IMAGE_EVENT_EXIT, .pid = 9, .time_ns = 998};
	struct image_event map = map_event(9, 1000, 0, 0, 4, 0);
	struct image_event old_map = map_event(9, 999, 1, 0, 4, 0);
	struct fixture fixture;
	uint32_t generation;

	(void)state;
	setup(&fixture, true);
	/* Lookup before the scan. */
	assert_int_equal(image_map_generation(fixture.map, 9, 900), 0);
	map.scanned = true;
	image_map_event(fixture.map, &fork);
	image_map_event(fixture.map, &map);
	exec.time_ns = 997;
	image_map_event(fixture.map, &exec);
	image_map_event(fixture.map, &exit);
	image_map_event(fixture.map, &old_map);
	generation = image_map_generation(fixture.map, 9, 5);
	assert_int_equal(generation, image_map_generation(fixture.map, 9, 2000));
	assert_int_equal(generation, image_map_generation(fixture.map, 9, UINT64_MAX));
	assert_int_not_equal(generation, 0);
	assert_int_equal(image_map_lookup(fixture.map, 9, generation, BASE).image, 1);
	assert_int_equal(image_map_lookup(fixture.map, 9, 0, BASE).image, 1);
	exec.time_ns = 1001;
	image_map_event(fixture.map, &exec);
	assert_int_not_equal(image_map_generation(fixture.map, 9, 1001), generation);
	assert_string_equal(image_map_command(fixture.map, 9), "old");
	assert_int_equal(image_map_lookup(fixture.map, 9, generation, BASE).image, 1);
	teardown(&fixture);
}

/* For a process that started earlier, its mappings are the only events. */
static void lost_beginnings(void **state)
{
	struct image_event map = map_event(3, 500, 0, 0, 1, 7ULL * PAGE);
	struct fixture fixture;
	struct image_place place;

	(void)state;
	setup(&fixture, false);
	image_map_event(fixture.map, &map);
	place = image_map_lookup(fixture.map, 3, 77, BASE + 5);
	assert_int_equal(place.image, 1);
	assert_int_equal(place.offset, 7 * PAGE + 5);
	image_map_set_generation(fixture.map, 3, 1024 + 6, 2);
	assert_int_equal(image_map_lookup(fixture.map, 3, 77, BASE).unknown, IMAGE_UNKNOWN_PROCESS);
	assert_int_equal(image_map_lookup(fixture.map, 3, 6, BASE).image, 1);
	image_map_set_generation(fixture.map, 4, 1, 2);
	assert_string_equal(image_map_command(fixture.map, 4), "");
	teardown(&fixture);
}

static void exec_image(struct fixture *fixture, uint32_t pid, uint64_t time_ns, int image)
{
	struct image_event exec = {
		.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = time_ns, .path = "x"};
	struct image_event map = map_event(pid, time_ns + 1, image, 0, 1, 0);

	image_map_event(fixture->map, &exec);
	image_map_event(fixture->map, &map);
}

static void scan_image(struct fixture *fixture, uint32_t pid, uint64_t time_ns, uint64_t until_ns,
		       int image)
{
	struct image_event fork = {.type = IMAGE_EVENT_FORK,
				   .pid = pid,
				   .time_ns = time_ns,
				   .until_ns = until_ns,
				   .scanned = true};
	struct image_event map = map_event(pid, time_ns, image, 0, 1, 0);

	map.scanned = true;
	image_map_event(fixture->map, &fork);
	image_map_event(fixture->map, &map);
}

static struct image_place place_at(struct fixture *fixture, uint32_t pid, uint64_t time_ns)
{
	return image_map_lookup(fixture->map, pid, image_map_generation(fixture->map, pid, time_ns),
				BASE);
}

/* Knowledge from before a loss does not apply after it. */
static void lost_events_leave_doubt(void **state)
{
	const struct image_event lost = {
		.type = IMAGE_EVENT_LOST, .time_ns = 2000, .until_ns = 3000};
	const struct image_event fork = {
		.type = IMAGE_EVENT_FORK, .pid = 2, .parent = 1, .time_ns = 3200};
	const uint64_t slack = 10000000;
	struct fixture fixture;
	uint64_t now;

	(void)state;
	setup(&fixture, true);
	exec_image(&fixture, 1, 1000, 0);
	image_map_event(fixture.map, &lost);
	image_map_event(fixture.map, &fork);
	assert_int_equal(place_at(&fixture, 1, 1999).image, 1);
	for (now = 2000; now < 4000; now += 100)
		assert_int_equal(place_at(&fixture, 1, now).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 2, 3300).unknown, IMAGE_UNKNOWN_LOST);
	/* A newly discovered process has no history. */
	scan_image(&fixture, 3, 3500, 3510, 1);
	assert_int_equal(place_at(&fixture, 3, 3400).image, IMAGE_UNKNOWN);
	assert_int_equal(image_map_lookup(fixture.map, 3, 0, BASE).image, IMAGE_UNKNOWN);
	assert_int_equal(place_at(&fixture, 3, 3600).image, 2);
	/* An exec or a scan restores certainty. */
	exec_image(&fixture, 1, 4000, 1);
	scan_image(&fixture, 2, 4000, 4010, 0);
	assert_int_equal(place_at(&fixture, 1, 4001).image, 2);
	assert_int_equal(place_at(&fixture, 2, 4009).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 2, 4010).image, 1);
	assert_int_equal(place_at(&fixture, 1, 1500).image, 1);
	/* An exec close to a scan may have been before or after it. */
	exec_image(&fixture, 2, 4010 + slack, 1);
	exec_image(&fixture, 3, 3511 + slack, 0);
	assert_int_equal(place_at(&fixture, 2, 5000).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 2, 4010 + slack).image, 2);
	assert_int_equal(place_at(&fixture, 3, 5000).image, 2);
	/* An exec from before the scan, reported after it, ended the state before. */
	now = 2 * slack;
	exec_image(&fixture, 4, now, 1);
	scan_image(&fixture, 4, now + 200, now + 210, 0);
	exec_image(&fixture, 4, now + 100, 0);
	assert_int_equal(place_at(&fixture, 4, now + 99).image, 2);
	assert_int_equal(place_at(&fixture, 4, now + 100).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 4, now + 209).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 4, now + 210).image, 1);
	teardown(&fixture);
}

/* The generation of an exec is known only if no earlier exec was lost. */
static void lost_execs_are_not_counted(void **state)
{
	const struct image_event lost = {
		.type = IMAGE_EVENT_LOST, .time_ns = 2000, .until_ns = 3000};
	struct fixture fixture;
	uint32_t generation;

	(void)state;
	setup(&fixture, false);
	scan_image(&fixture, 1, 100, 110, 0);
	image_map_set_generation(fixture.map, 1, 5, 120);
	exec_image(&fixture, 1, 1000, 1);
	assert_int_equal(image_map_lookup(fixture.map, 1, 6, BASE).image, 2);
	image_map_event(fixture.map, &lost);
	exec_image(&fixture, 1, 3500, 0);
	exec_image(&fixture, 4, 3500, 0); /* an unknown process */
	assert_int_equal(image_map_lookup(fixture.map, 1, 5, BASE).image, 1);
	assert_int_equal(image_map_lookup(fixture.map, 1, 6, BASE).unknown, IMAGE_UNKNOWN_LOST);
	for (generation = 7; generation < 1024; generation++)
		assert_int_equal(image_map_lookup(fixture.map, 1, generation, BASE).image,
				 IMAGE_UNKNOWN);
	for (generation = 0; generation < 1024; generation++)
		assert_int_equal(image_map_lookup(fixture.map, 4, generation, BASE).image,
				 IMAGE_UNKNOWN);
	scan_image(&fixture, 1, 4000, 4010, 0);
	image_map_set_generation(fixture.map, 1, 20, 4020);
	assert_int_equal(image_map_lookup(fixture.map, 1, 20, BASE).image, 1);
	exec_image(&fixture, 1, 4100, 1);
	assert_int_equal(image_map_lookup(fixture.map, 1, 21, BASE).image, 2);
	/* During a scan: generation 22 may be this one or the next. */
	scan_image(&fixture, 1, 5000, 5010, 0);
	image_map_set_generation(fixture.map, 1, 22, 5020);
	exec_image(&fixture, 1, 5015, 1);
	assert_int_equal(image_map_lookup(fixture.map, 1, 22, BASE).image, IMAGE_UNKNOWN);
	assert_int_equal(image_map_lookup(fixture.map, 1, 23, BASE).image, IMAGE_UNKNOWN);
	scan_image(&fixture, 1, 6000, 6010, 0);
	image_map_set_generation(fixture.map, 1, 30, 6020);
	assert_int_equal(image_map_lookup(fixture.map, 1, 30, BASE).image, 1);
	image_map_doubt(fixture.map, 1);
	exec_image(&fixture, 1, 6100, 1);
	assert_int_equal(image_map_lookup(fixture.map, 1, 30, BASE).image, IMAGE_UNKNOWN);
	assert_int_equal(image_map_lookup(fixture.map, 1, 31, BASE).image, IMAGE_UNKNOWN);
	teardown(&fixture);
}

/* A process of unknown generation, which its children inherit, is queried before them. */
static void untold_generations_are_named(void **state)
{
	const struct image_event fork = {
		.type = IMAGE_EVENT_FORK, .pid = 2, .parent = 1, .time_ns = 1000};
	const struct image_event second = {
		.type = IMAGE_EVENT_FORK, .pid = 3, .parent = 1, .time_ns = 3000};
	const struct image_event exit = {.type = IMAGE_EVENT_EXIT, .pid = 1, .time_ns = 4000};
	struct fixture fixture;

	(void)state;
	setup(&fixture, false);
	scan_image(&fixture, 1, 100, 110, 0);
	image_map_set_generation(fixture.map, 1, 5, 120);
	assert_int_equal(image_map_next_unscanned(fixture.map), 0);
	/* An exec during the scan: generation 5 is ambiguous. */
	exec_image(&fixture, 1, 115, 1);
	exec_image(&fixture, 1, 200, 1);
	image_map_event(fixture.map, &fork);
	exec_image(&fixture, 2, 1100, 0);
	assert_int_equal(image_map_lookup(fixture.map, 2, 7, BASE).image, IMAGE_UNKNOWN);
	assert_int_equal(image_map_next_unscanned(fixture.map), 1);
	assert_int_equal(image_map_next_unscanned(fixture.map), 2);
	assert_int_equal(image_map_next_unscanned(fixture.map), 0);
	/* Only the parent is queried: its later children are known. */
	scan_image(&fixture, 1, 2000, 2010, 1);
	image_map_set_generation(fixture.map, 1, 7, 2020);
	image_map_event(fixture.map, &second);
	exec_image(&fixture, 3, 3100, 0);
	assert_int_equal(image_map_lookup(fixture.map, 3, 7, BASE).image, 2);
	assert_int_equal(image_map_lookup(fixture.map, 3, 8, BASE).image, 1);
	assert_int_equal(image_map_next_unscanned(fixture.map), 0);
	/* An ended process cannot be queried. */
	image_map_doubt(fixture.map, 1);
	image_map_event(fixture.map, &exit);
	assert_int_equal(image_map_next_unscanned(fixture.map), 0);
	teardown(&fixture);
}

/*
 * More execs between two flushes than there are generations. Samples of each exec get its image or
 * are unknown. The latest are known as long as their generation was not used before.
 */
static void generations_come_round(bool own, uint64_t execs)
{
	enum {
		MOST = 3000,
		KNOWN = 500,
		OTHER = DCPI_GENERATION_MAX - ADDRESS_SPACES_MAX -
			1, /* dropped after that many later generations */
	};
	static uint32_t generation[MOST];
	struct fixture fixture;
	uint64_t i, known = 0;

	setup(&fixture, own);
	scan_image(&fixture, 1, 50, 60, 0);
	image_map_set_generation(fixture.map, 1, 0, 70);
	for (i = 0; i < execs; i++) {
		exec_image(&fixture, 1, 100000000 + 10 * i, (int)(i * 7 / 3 % 2));
		generation[i] = own ? image_map_generation(fixture.map, 1, 100000005 + 10 * i)
				    : (uint32_t)(i + 1) & DCPI_GENERATION_MAX;
	}
	for (i = 0; i < execs; i++) {
		struct image_place place = image_map_lookup(fixture.map, 1, generation[i], BASE);

		assert_true(place.image == IMAGE_UNKNOWN || place.image == 1 + i * 7 / 3 % 2);
		known += place.image != IMAGE_UNKNOWN;
		if (execs <= OTHER && i + KNOWN > execs)
			assert_int_not_equal(place.image, IMAGE_UNKNOWN);
	}
	assert_true(execs > 2UL * DCPI_GENERATION_MAX || known >= KNOWN / 2);
	assert_true(image_map_crowded(fixture.map));
	/* After a flush only one candidate remains. */
	image_map_expire(fixture.map, 100000000 + 10 * execs);
	assert_int_not_equal(image_map_lookup(fixture.map, 1, generation[execs - 1], BASE).image,
			     IMAGE_UNKNOWN);
	teardown(&fixture);
}

static void generations_that_come_round_are_unknown(void **state)
{
	static const uint64_t execs[] = {500, 511, 600, 1022, 1023, 1024, 1025, 1100, 2100, 3000};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(execs) / sizeof(execs[0]); i++) {
		generations_come_round(true, execs[i]);
		generations_come_round(false, execs[i]);
	}
}

/* Map one image over the first pages, and the maximal number of ranges of a version. */
static void fill_ranges(struct fixture *fixture, uint32_t pid)
{
	struct image_event event = {.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = 10};
	uint64_t i;

	event.path = "full";
	event.has_generation = true;
	event.generation = 3;
	image_map_event(fixture->map, &event);
	event = map_event(pid, 20, 0, 0, 3, 0);
	image_map_event(fixture->map, &event);
	for (i = 1; i < MAPPINGS_MAX; i++) {
		event = map_event(pid, 20, 0, 2 + 2 * i, 1, 0);
		image_map_event(fixture->map, &event);
	}
}

static struct image_place page_at(struct fixture *fixture, bool own, uint64_t time_ns,
				  uint64_t page)
{
	uint32_t generation = own ? image_map_generation(fixture->map, 9, time_ns) : 3;

	return image_map_lookup(fixture->map, 9, generation, BASE + page * PAGE);
}

/* Without room for a change, samples are not attributed to the previous mapping. */
static void no_room_for(bool own, enum image_event_type type)
{
	struct image_event exec = {.type = IMAGE_EVENT_EXEC, .pid = 9, .time_ns = 50, .path = "x"};
	struct image_event free = map_event(9, 30, 1, 1000000, 1, 0);
	struct image_event middle = map_event(9, 40, 1, 1, 1, 0);
	struct image_event again = map_event(9, 45, 1, 0, 1, 0);
	struct fixture fixture;

	setup(&fixture, own);
	fill_ranges(&fixture, 9);
	image_map_event(fixture.map, &free);
	assert_int_equal(page_at(&fixture, own, 35, 1000000).unknown, IMAGE_UNKNOWN_QUOTA_MAPPINGS);
	assert_int_equal(page_at(&fixture, own, 35, 1).image, 1);
	middle.type = type;
	image_map_event(fixture.map, &middle);
	assert_int_equal(page_at(&fixture, own, 41, 1).image, IMAGE_UNKNOWN);
	assert_int_equal(page_at(&fixture, own, 41, 1).unknown, IMAGE_UNKNOWN_QUOTA_MAPPINGS);
	/* The state before is known if samples have times. */
	assert_int_equal(page_at(&fixture, own, 39, 1).image, own ? 1 : IMAGE_UNKNOWN);
	image_map_event(fixture.map, &again);
	assert_int_equal(page_at(&fixture, own, 46, 1).image, IMAGE_UNKNOWN);
	image_map_event(fixture.map, &exec);
	middle = map_event(9, 51, 1, 1, 1, 0);
	image_map_event(fixture.map, &middle);
	assert_int_equal(image_map_lookup(fixture.map, 9,
					  own ? image_map_generation(fixture.map, 9, 52) : 4,
					  BASE + PAGE)
				 .image,
			 2);
	teardown(&fixture);
}

static void no_room_is_a_loss(void **state)
{
	(void)state;
	no_room_for(true, IMAGE_EVENT_MAP);
	no_room_for(true, IMAGE_EVENT_UNMAP);
	no_room_for(false, IMAGE_EVENT_MAP);
	no_room_for(false, IMAGE_EVENT_UNMAP);
}

/* A free place in a full list; an older version with the same generation had a mapping there. */
static void no_room_where_something_was(void **state)
{
	struct image_event first = map_event(9, 25, 0, 0, 3, 0);
	struct image_event other = map_event(9, 30, 1, 0, 3, 0);
	struct image_event last = map_event(9, 28, 0, 2000000, 1, 0);
	struct fixture fixture;

	(void)state;
	setup(&fixture, false);
	fill_ranges(&fixture, 9);
	first.type = IMAGE_EVENT_UNMAP;
	image_map_event(fixture.map, &first);
	assert_int_equal(page_at(&fixture, false, 0, 1).image, 1);
	image_map_event(fixture.map, &last);
	image_map_event(fixture.map, &other);
	assert_int_equal(page_at(&fixture, false, 0, 1).image, IMAGE_UNKNOWN);
	teardown(&fixture);
}

static size_t map_bytes(const struct fixture *fixture)
{
	size_t bytes;

	image_map_processes(fixture->map, &bytes);
	return bytes;
}

/* An unrelated process stays known, before and after its change. */
static void assert_bystander(struct fixture *fixture, bool own)
{
	uint32_t generation = own ? image_map_generation(fixture->map, 5, 30) : 3;

	assert_int_equal(image_map_lookup(fixture->map, 5, generation, BASE).image, 1);
	generation = own ? image_map_generation(fixture->map, 5, 50) : 4;
	assert_int_equal(image_map_lookup(fixture->map, 5, generation, BASE).image, 2);
}

static void bystander(struct fixture *fixture)
{
	struct image_event exec = {.type = IMAGE_EVENT_EXEC, .pid = 5, .path = "small"};
	struct image_event map = map_event(5, 20, 0, 0, 3, 0);

	exec.has_generation = true;
	exec.generation = 3;
	exec.time_ns = 10;
	image_map_event(fixture->map, &exec);
	image_map_event(fixture->map, &map);
	exec.generation = 4;
	exec.time_ns = 40;
	image_map_event(fixture->map, &exec);
	map = map_event(5, 41, 1, 0, 3, 0);
	image_map_event(fixture->map, &map);
}

/* Many versions with many ranges: the oldest are dropped and become unknown. */
static void versions_have_a_budget(void **state)
{
	enum {
		CHANGES = 500,
	};
	static uint32_t generation[CHANGES];
	struct fixture fixture;
	struct image_event map;
	int i;

	(void)state;
	setup(&fixture, true);
	bystander(&fixture);
	fill_ranges(&fixture, 9);
	assert_int_equal(image_map_dropped(fixture.map), 0);
	for (i = 0; i < CHANGES; i++) {
		map = map_event(9, 100 + (uint64_t)i, i % 2, 0, 3, 0);
		map.file_offset = (uint64_t)i * PAGE;
		image_map_event(fixture.map, &map);
		generation[i] = image_map_generation(fixture.map, 9, 100 + (uint64_t)i);
		assert_true(map_bytes(&fixture) <= ADDRESS_SPACES_BYTES_MAX + (1 << 20));
	}
	assert_true(image_map_dropped(fixture.map) > CHANGES / 2);
	assert_true(image_map_crowded(fixture.map));
	for (i = 0; i < CHANGES; i++) {
		struct image_place place = image_map_lookup(fixture.map, 9, generation[i], BASE);

		if (place.image == IMAGE_UNKNOWN && i < CHANGES - 50)
			assert_int_equal(place.unknown, IMAGE_UNKNOWN_REPLACED);
		else
			assert_int_equal(place.image, i % 2 + 1);
	}
	assert_int_equal(image_map_lookup(fixture.map, 9, generation[0], BASE).image,
			 IMAGE_UNKNOWN);
	assert_bystander(&fixture, true);
	teardown(&fixture);
}

/* Many processes with many ranges, all still running. */
static void processes_have_a_budget(bool own)
{
	enum {
		PROCESSES = 200,
	};
	struct fixture fixture;
	struct image_place place;
	uint32_t pid, known = 0;
	struct image_event map;

	setup(&fixture, own);
	bystander(&fixture);
	for (pid = 100; pid < 100 + PROCESSES; pid++) {
		fill_ranges(&fixture, pid);
		assert_true(map_bytes(&fixture) <= ADDRESS_SPACES_BYTES_MAX + (1 << 20));
	}
	assert_true(image_map_dropped(fixture.map) > 0);
	for (pid = 100; pid < 100 + PROCESSES; pid++) {
		/* A process whose state was dropped stays unknown after further mappings. */
		map = map_event(pid, 30, 1, 50000, 1, 0);
		image_map_event(fixture.map, &map);
		place = image_map_lookup(fixture.map, pid,
					 own ? image_map_generation(fixture.map, pid, 25) : 3,
					 BASE);
		assert_true(place.image == 1 ||
			    (place.image == IMAGE_UNKNOWN &&
			     place.unknown == (own ? IMAGE_UNKNOWN_QUOTA_MAPPINGS
						   : IMAGE_UNKNOWN_REPLACED)));
		known += place.image == 1;
	}
	assert_in_range(known, 64, PROCESSES - 64);
	assert_bystander(&fixture, own);
	/* The process is known again after its next exec. */
	fill_ranges(&fixture, 99);
	for (pid = 100; pid < 100 + PROCESSES; pid++) {
		map = (struct image_event){
			.type = IMAGE_EVENT_EXEC, .pid = pid, .time_ns = 40, .path = "next"};
		image_map_event(fixture.map, &map);
		map = map_event(pid, 41, 1, 0, 1, 0);
		image_map_event(fixture.map, &map);
		place = image_map_lookup(fixture.map, pid,
					 own ? image_map_generation(fixture.map, pid, 42) : 4,
					 BASE);
		assert_int_equal(place.image, 2);
	}
	teardown(&fixture);
}

static void living_processes_have_a_budget(void **state)
{
	(void)state;
	processes_have_a_budget(true);
	processes_have_a_budget(false);
}

/* Times of losses are exact for the latest losses, and older ones are never forgotten. */
static void losses_are_found(void **state)
{
	enum {
		SPAN = 4096
	};
	static bool lost[SPAN];
	struct loss_list list = {.count = 0};
	uint64_t seed = 5, from = 0, to, oldest, one, other, i, rounds;

	(void)state;
	while (from < SPAN - 64) {
		from += 1 + unit_random(&seed) % 40;
		to = from + unit_random(&seed) % 20;
		loss_list_add(&list, from, to);
		for (i = from; i <= to; i++)
			lost[i] = true;
		oldest = list.count == LOSSES_MAX ? list.loss[0].to_ns + 1 : 0;
		for (rounds = 0; rounds < 50; rounds++) {
			bool any = false;

			one = unit_random(&seed) % (to + 10);
			other = unit_random(&seed) % (to + 10);
			for (i = one < other ? one : other; i <= (one > other ? one : other); i++)
				any |= lost[i];
			if (any || (one >= oldest && other >= oldest))
				assert_int_equal(loss_list_between(&list, one, other), any);
		}
	}
	assert_int_equal(list.count, LOSSES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scan_overrules_older_events),
		cmocka_unit_test(lost_beginnings),
		cmocka_unit_test(lost_events_leave_doubt),
		cmocka_unit_test(lost_execs_are_not_counted),
		cmocka_unit_test(untold_generations_are_named),
		cmocka_unit_test(generations_that_come_round_are_unknown),
		cmocka_unit_test(no_room_is_a_loss),
		cmocka_unit_test(no_room_where_something_was),
		cmocka_unit_test(versions_have_a_budget),
		cmocka_unit_test(living_processes_have_a_budget),
		cmocka_unit_test(losses_are_found),
	};

	return cmocka_run_group_tests_name("image_map_losses", tests, NULL, NULL);
}
