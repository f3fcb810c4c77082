// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit.h"

#include <stdbool.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/image_map.h"
#include "daemon/image_table.h"
#include "daemon/mapping_list.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "loader-hook/image_event.h"

enum {
	PAGE = 4096,
	PAGES = 24,
	PIDS = 12,
	IMAGES = 5,
	SPACES = 32, /* image_map.c drops older ones */
	STEPS = 200000,
};
#define BASE 0x400000UL

/*
 * The reference: every version of every process' address space, page by page.
 * A page is 0: free; 1: anonymous; 2 + n: image n.
 */
struct model_space {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t generation;
	uint8_t page[PAGES];
	uint64_t offset[PAGES];
};

struct model_process {
	struct model_space spaces[SPACES + 1];
	size_t count;
	bool alive;
	uint32_t last_generation;
};

struct model {
	struct model_process processes[PIDS];
	bool own;
};

struct fixture {
	struct image_table *table;
	struct image_map *map;
};

static void setup(struct fixture *fixture, bool own)
{
	assert_int_equal(image_table_create(&fixture->table, NULL), 0);
	assert_int_equal(image_map_create(&fixture->map, fixture->table, own, NULL), 0);
}

static void teardown(struct fixture *fixture)
{
	image_map_destroy(fixture->map);
	image_table_destroy(fixture->table);
}

static struct image_event map_event(uint32_t pid, uint64_t time_ns, int image, uint64_t first_page,
				    uint64_t pages, uint64_t offset)
{
	struct image_event event = {
		.type = IMAGE_EVENT_MAP,
		.pid = pid,
		.time_ns = time_ns,
		.start = BASE + first_page * PAGE,
		.bytes = pages * PAGE,
		.file_offset = offset,
		.path = image < 0 ? "//anon" : "/image",
	};

	if (image >= 0) {
		event.build_id_bytes = 20;
		memset(event.build_id, image + 1, 20);
	}
	return event;
}

static struct model_space *newest(struct model_process *process)
{
	return process->count > 0 ? &process->spaces[process->count - 1] : NULL;
}

static void model_drop_oldest(struct model_process *process)
{
	memmove(process->spaces, process->spaces + 1,
		--process->count * sizeof(process->spaces[0]));
	if (process->count == 0)
		process->last_generation = 0;
}

static struct model_space *model_begin(struct model *model, struct model_process *process,
				       const struct model_space *from, uint64_t time_ns,
				       uint32_t generation)
{
	struct model_space space = {0};

	if (from != NULL)
		space = *from;
	if (process->alive)
		newest(process)->end_ns = time_ns;
	process->last_generation = process->last_generation % DCPI_GENERATION_MAX + 1;
	space.generation = model->own ? process->last_generation : generation;
	space.start_ns = time_ns;
	space.end_ns = UINT64_MAX;
	process->spaces[process->count++] = space;
	process->alive = true;
	if (process->count > SPACES)
		model_drop_oldest(process);
	return newest(process);
}

static void model_map(struct model *model, struct model_process *process,
		      const struct image_event *event, int image)
{
	struct model_space *space = newest(process);
	uint64_t first = (event->start - BASE) / PAGE, i;
	bool replaces = false;

	for (i = 0; i < event->bytes / PAGE; i++) {
		uint8_t old = space->page[first + i];

		if (old != 0 &&
		    (old != image + 2 ||
		     (image >= 0 && space->offset[first + i] != event->file_offset + i * PAGE)))
			replaces = true;
	}
	if (replaces && model->own) {
		struct model_space copy = *space;

		space = model_begin(model, process, &copy, event->time_ns, 0);
	}
	for (i = 0; i < event->bytes / PAGE; i++) {
		space->page[first + i] = (uint8_t)(image + 2);
		space->offset[first + i] = event->file_offset + i * PAGE;
	}
}

static void model_expire(struct model *model, uint64_t time_ns)
{
	int i;

	for (i = 0; i < PIDS; i++) {
		struct model_process *process = &model->processes[i];

		while (process->count > 0 && process->spaces[0].end_ns < time_ns)
			model_drop_oldest(process);
	}
}

static void check_lookup(struct fixture *fixture, struct model *model, uint32_t pid, uint64_t *seed)
{
	struct model_process *process = &model->processes[pid - 1];
	uint64_t page = unit_random(seed) % PAGES, at = unit_random(seed) % PAGE;
	const struct model_space *space = NULL;
	struct image_place place;
	uint32_t generation = 1;
	size_t i;

	if (process->count > 0)
		generation = process->spaces[unit_random(seed) % process->count].generation;
	if (unit_random(seed) % 8 == 0)
		generation = (generation + 1) & DCPI_GENERATION_MAX;
	for (i = process->count; i-- > 0 && space == NULL;) {
		if (process->spaces[i].generation == generation)
			space = &process->spaces[i];
	}
	place = image_map_lookup(fixture->map, pid, generation, BASE + page * PAGE + at);
	if (space == NULL || space->page[page] < 2) {
		assert_int_equal(place.image, IMAGE_UNKNOWN);
		assert_int_equal(place.offset, 0);
		assert_int_equal(place.unknown, space == NULL		 ? IMAGE_UNKNOWN_PROCESS
						: space->page[page] == 0 ? IMAGE_UNKNOWN_ADDRESS
									 : IMAGE_UNKNOWN_ANONYMOUS);
		return;
	}
	assert_int_equal(image_table_get(fixture->table, place.image)->identity[0],
			 space->page[page] - 1);
	assert_int_equal(place.offset, space->offset[page] + at);
}

static void check_generation(struct fixture *fixture, struct model *model, uint32_t pid,
			     uint64_t time_ns)
{
	struct model_process *process = &model->processes[pid - 1];
	uint32_t expected = 0;
	size_t i;

	for (i = process->count; i-- > 0 && expected == 0;) {
		if (process->spaces[i].start_ns <= time_ns)
			expected = process->spaces[i].generation;
	}
	assert_int_equal(image_map_generation(fixture->map, pid, time_ns),
			 model->own ? expected : 0);
}

static void step_fork(struct fixture *fixture, struct model *model, uint64_t now, uint64_t *seed)
{
	uint32_t parent = 1 + unit_random(seed) % PIDS, pid = 1 + unit_random(seed) % PIDS;
	struct model_process *from = &model->processes[parent - 1];
	struct image_event event = {
		.type = IMAGE_EVENT_FORK, .pid = pid, .parent = parent, .time_ns = now};
	struct model_space copy;

	/* An id that is in use now and then: the exit was lost. */
	if (pid == parent || !from->alive ||
	    (model->processes[pid - 1].alive && unit_random(seed) % 4 != 0))
		return;
	copy = *newest(from);
	image_map_event(fixture->map, &event);
	model_begin(model, &model->processes[pid - 1], &copy, now, copy.generation);
}

static void step(struct fixture *fixture, struct model *model, uint64_t now, uint64_t *seed)
{
	uint32_t pid = 1 + unit_random(seed) % PIDS;
	struct model_process *process = &model->processes[pid - 1];
	struct image_event event = {.pid = pid, .time_ns = now, .path = "x"};
	uint64_t first = unit_random(seed) % PAGES;
	int image = (int)(unit_random(seed) % (IMAGES + 1)) - 1;

	switch (unit_random(seed) % 16) {
	case 0:
	case 1:
		step_fork(fixture, model, now, seed);
		break;
	case 2:
		if (!process->alive)
			break;
		event.type = IMAGE_EVENT_EXEC;
		image_map_event(fixture->map, &event);
		model_begin(model, process, NULL, now,
			    (newest(process)->generation + 1) & DCPI_GENERATION_MAX);
		break;
	case 3:
		if (!process->alive || pid == 1)
			break;
		event.type = IMAGE_EVENT_EXIT;
		image_map_event(fixture->map, &event);
		process->alive = false;
		newest(process)->end_ns = now;
		break;
	case 4:
	case 5:
	case 6:
		if (!process->alive)
			break;
		event = map_event(pid, now, image, first, 1 + unit_random(seed) % (PAGES - first),
				  unit_random(seed) % 4 * PAGE + first * PAGE);
		image_map_event(fixture->map, &event);
		model_map(model, process, &event, image);
		break;
	default:
		check_lookup(fixture, model, pid, seed);
		check_generation(fixture, model, pid, now - unit_random(seed) % 200);
	}
}

static void follow_model(bool own)
{
	static struct model model;
	struct image_event first = {
		.type = IMAGE_EVENT_FORK, .pid = 1, .scanned = true, .time_ns = 1};
	uint64_t seed = 7 + own, now = 1000;
	struct fixture fixture;
	size_t bytes;
	int i;

	memset(&model, 0, sizeof(model));
	model.own = own;
	setup(&fixture, own);
	image_map_event(fixture.map, &first);
	image_map_set_generation(fixture.map, 1, 5);
	model_begin(&model, &model.processes[0], NULL, 0, 5);
	for (i = 0; i < STEPS; i++) {
		now += unit_random(&seed) % 3;
		step(&fixture, &model, now, &seed);
		if (i % 64 == 0) {
			image_map_expire(fixture.map, now - 100);
			model_expire(&model, now - 100);
		}
	}
	for (i = 2; i <= PIDS; i++) {
		struct image_event event = {
			.type = IMAGE_EVENT_EXIT, .pid = (uint32_t)i, .time_ns = now};

		image_map_event(fixture.map, &event);
	}
	image_map_expire(fixture.map, UINT64_MAX);
	assert_int_equal(image_map_processes(fixture.map, &bytes), 1);
	assert_true(bytes < 8192);
	teardown(&fixture);
}

static void own_generations_follow_model(void **state)
{
	(void)state;
	follow_model(true);
}

static void kernel_generations_follow_model(void **state)
{
	(void)state;
	follow_model(false);
}

/* Mapping lists against a plain array of addresses, and shared lists stay as they are. */
static void mapping_list_follows_model(void **state)
{
	enum {
		SPAN = 200
	};
	uint32_t image[SPAN] = {0};
	uint64_t seed = 3;
	struct mapping_list *list = NULL;
	int i, at;

	(void)state;
	for (i = 0; i < 20000; i++) {
		uint64_t start = unit_random(&seed) % SPAN;
		struct mapping mapping = {
			.start = start,
			.end = start + 1 + unit_random(&seed) % (SPAN - start) / 4,
			.image = 1 + unit_random(&seed) % 3,
		};
		struct mapping_list *before = mapping_list_share(list);
		uint32_t count = before != NULL ? before->count : 0, n;

		assert_int_equal(mapping_list_add(&list, &mapping), 0);
		assert_true(before == NULL || before->count == count);
		mapping_list_release(before);
		for (at = (int)mapping.start; at < (int)mapping.end; at++)
			image[at] = mapping.image;
		for (at = 0; at < SPAN; at++) {
			const struct mapping *found = mapping_list_find(list, (uint64_t)at);

			assert_int_equal(found != NULL ? found->image : 0, image[at]);
		}
		for (n = 1; n < list->count; n++)
			assert_true(list->mappings[n].start > list->mappings[n - 1].end ||
				    (list->mappings[n].start == list->mappings[n - 1].end &&
				     list->mappings[n].image != list->mappings[n - 1].image));
	}
	mapping_list_release(list);
}

static void mapping_list_is_bounded(void **state)
{
	struct mapping_list *list = NULL;
	uint64_t i;

	(void)state;
	for (i = 0; i < MAPPINGS_MAX; i++) {
		struct mapping mapping = {.start = 3 * i, .end = 3 * i + 1, .image = 1};

		assert_int_equal(mapping_list_add(&list, &mapping), 0);
	}
	assert_int_equal(
		mapping_list_add(&list, &(struct mapping){.start = 3 * i, .end = 3 * i + 1}),
		-ENOSPC);
	assert_int_equal(list->count, MAPPINGS_MAX);
	mapping_list_release(list);
}

/* What a scan saw stands against older events that arrive after it. */
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
	/* Asked before the scan. */
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

/* Process that began before anybody looked: its mappings are all there is. */
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
	image_map_set_generation(fixture.map, 3, 1024 + 6);
	assert_int_equal(image_map_lookup(fixture.map, 3, 77, BASE).unknown, IMAGE_UNKNOWN_PROCESS);
	assert_int_equal(image_map_lookup(fixture.map, 3, 6, BASE).image, 1);
	image_map_set_generation(fixture.map, 4, 1);
	assert_string_equal(image_map_command(fixture.map, 4), "");
	teardown(&fixture);
}

static void nonsense_is_ignored(void **state)
{
	struct image_event map = map_event(3, 500, 0, 0, 1, 0);
	struct image_event fork = {.type = IMAGE_EVENT_FORK, .pid = 3, .parent = 3, .time_ns = 501};
	struct fixture fixture;

	(void)state;
	setup(&fixture, true);
	map.bytes = 0;
	image_map_event(fixture.map, &map);
	map.bytes = UINT64_MAX;
	image_map_event(fixture.map, &map);
	map.bytes = 4096;
	map.path = NULL;
	map.build_id_bytes = 0;
	image_map_event(fixture.map, &map);
	assert_int_equal(image_map_lookup(fixture.map, 3, 1, BASE).unknown,
			 IMAGE_UNKNOWN_ANONYMOUS);
	image_map_event(fixture.map, &fork);
	image_map_event(fixture.map, &fork);
	assert_int_equal(image_map_processes(fixture.map, NULL), 1);
	teardown(&fixture);
}

static void kernel_text_replaces(void **state)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_MODULE, .path = "m"};
	struct fixture fixture;
	struct image_place place;
	const uint64_t base = 0xffffffffc0000000;
	int first, second;

	(void)state;
	setup(&fixture, true);
	first = image_table_add(fixture.table, &image);
	image.path = "n";
	second = image_table_add(fixture.table, &image);
	assert_int_equal(image_map_add_kernel(fixture.map, (uint32_t)first, base, 0x3000), 0);
	assert_int_equal(image_map_add_kernel(fixture.map, (uint32_t)second, base + 0x1000, 0x1000),
			 0);
	assert_int_equal(image_map_add_kernel(fixture.map, 1, UINT64_MAX, 2), -EINVAL);
	place = image_map_lookup(fixture.map, 0, 0, base + 0x1010);
	assert_int_equal(place.image, second);
	assert_int_equal(place.offset, 0x10);
	place = image_map_lookup(fixture.map, 5, 9, base + 0x2010);
	assert_int_equal(place.image, first);
	assert_int_equal(place.offset, 0x2010);
	assert_int_equal(image_map_lookup(fixture.map, 0, 0, base + 0x3000).unknown,
			 IMAGE_UNKNOWN_KERNEL);
	teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_generations_follow_model),
		cmocka_unit_test(kernel_generations_follow_model),
		cmocka_unit_test(mapping_list_follows_model),
		cmocka_unit_test(mapping_list_is_bounded),
		cmocka_unit_test(scan_overrules_older_events),
		cmocka_unit_test(lost_beginnings),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(kernel_text_replaces),
	};

	return cmocka_run_group_tests_name("image_map", tests, NULL, NULL);
}
