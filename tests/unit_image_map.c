// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit.h"

#include <stdbool.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/image_map.h"
#include "daemon/image_table.h"
#include "daemon/loss_list.h"
#include "daemon/mapping_list.h"
#include "kmod/uapi/dcpi_uapi.h"
#include "loader-hook/image_event.h"

enum {
	PAGE = 4096,
	PAGES = 24,
	PIDS = 12,
	IMAGES = 5,
	SPACES = 512, /* image_map.c drops older ones */
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
	process->last_generation = process->last_generation % (DCPI_GENERATION_MAX - 1) + 1;
	space.generation = model->own ? process->last_generation : generation;
	space.start_ns = time_ns;
	space.end_ns = UINT64_MAX;
	process->spaces[process->count++] = space;
	process->alive = true;
	if (process->count > SPACES)
		model_drop_oldest(process);
	return newest(process);
}

/* The newest version once more, to be changed. */
static struct model_space *model_another(struct model *model, struct model_process *process,
					 uint64_t time_ns)
{
	struct model_space copy = *newest(process);

	return model_begin(model, process, &copy, time_ns, copy.generation);
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
	if (replaces)
		space = model_another(model, process, event->time_ns);
	for (i = 0; i < event->bytes / PAGE; i++) {
		space->page[first + i] = (uint8_t)(image + 2);
		space->offset[first + i] = event->file_offset + i * PAGE;
	}
}

static void model_unmap(struct model *model, struct model_process *process,
			const struct image_event *event)
{
	uint64_t first = (event->start - BASE) / PAGE, i;
	struct model_space *space = newest(process);
	bool mapped = false;

	for (i = first; i < first + event->bytes / PAGE; i++)
		mapped |= space->page[i] != 0;
	if (mapped)
		memset(model_another(model, process, event->time_ns)->page + first, 0,
		       event->bytes / PAGE);
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

/*
 * What a sample may be of: the page of every version of its generation. @found:
 * out: one with anything there, or one of them. Return: whether they disagree.
 */
static bool model_look_up(const struct model *model, const struct model_process *process,
			  uint32_t generation, uint64_t page, const struct model_space **found)
{
	const struct model_space *space;
	size_t i;

	*found = NULL;
	for (i = process->count; i-- > 0;) {
		space = &process->spaces[i];
		if (space->generation != generation)
			continue;
		if (*found != NULL && (*found)->page[page] != 0 && space->page[page] != 0 &&
		    ((*found)->page[page] != space->page[page] ||
		     (space->page[page] > 1 && (*found)->offset[page] != space->offset[page])))
			return true;
		if (*found == NULL || (*found)->page[page] == 0)
			*found = space;
		if (model->own)
			break;
	}
	return false;
}

/* An answer holds for all of its range, and so does its range. */
static void check_range(struct fixture *fixture, uint32_t pid, uint32_t generation, uint64_t pc,
			const struct image_place *place)
{
	uint64_t other;

	assert_true(pc - place->start < place->bytes);
	for (other = place->start; other - place->start < place->bytes; other += PAGE / 2) {
		struct image_place same = image_map_lookup(fixture->map, pid, generation, other);

		assert_int_equal(same.image, place->image);
		assert_int_equal(same.offset - other, place->offset - pc);
		assert_int_equal(same.start, place->start);
		assert_int_equal(same.bytes, place->bytes);
	}
}

static void check_lookup(struct fixture *fixture, struct model *model, uint32_t pid, uint64_t *seed)
{
	struct model_process *process = &model->processes[pid - 1];
	uint64_t page = unit_random(seed) % PAGES, at = unit_random(seed) % PAGE;
	const struct model_space *space;
	struct image_place place;
	uint32_t generation = 1;
	bool replaced;

	if (process->count > 0)
		generation = process->spaces[unit_random(seed) % process->count].generation;
	if (unit_random(seed) % 8 == 0)
		generation = (generation + 1) & DCPI_GENERATION_MAX;
	if (model->own && generation == IMAGE_MAP_GENERATION_LOST)
		return;
	replaced = model_look_up(model, process, generation, page, &space);
	place = image_map_lookup(fixture->map, pid, generation, BASE + page * PAGE + at);
	if (replaced || space == NULL || space->page[page] < 2) {
		assert_int_equal(place.image, IMAGE_UNKNOWN);
		assert_int_equal(place.offset, 0);
		assert_int_equal(place.unknown, replaced		 ? IMAGE_UNKNOWN_REPLACED
						: space == NULL		 ? IMAGE_UNKNOWN_PROCESS
						: space->page[page] == 0 ? IMAGE_UNKNOWN_ADDRESS
									 : IMAGE_UNKNOWN_ANONYMOUS);
		return;
	}
	assert_int_equal(image_table_get(fixture->table, place.image)->identity[0],
			 space->page[page] - 1);
	assert_int_equal(place.offset, space->offset[page] + at);
	check_range(fixture, pid, generation, BASE + page * PAGE + at, &place);
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
	case 7:
		if (!process->alive)
			break;
		event = map_event(pid, now, image, first, 1 + unit_random(seed) % (PAGES - first),
				  0);
		event.type = IMAGE_EVENT_UNMAP;
		image_map_event(fixture->map, &event);
		model_unmap(model, process, &event);
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
	image_map_set_generation(fixture.map, 1, 5, 2);
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

/* The last of the model's addresses, which nothing is mapped to, is the last of all. */
static void narrows_as_model(const struct mapping_list *list, const uint32_t *image, int last,
			     int at)
{
	uint64_t start = 0, end = UINT64_MAX;
	int low = at, high = at;

	while (low > 0 && image[low - 1] == image[at])
		low--;
	while (high <= last && image[high] == image[at])
		high++;
	mapping_list_narrow(list, at < last ? (uint64_t)at : UINT64_MAX, &start, &end);
	assert_true(start == (uint64_t)low);
	assert_true(end == (high <= last ? (uint64_t)high : UINT64_MAX));
}

/* Mapping lists against a plain array of addresses, and shared lists stay as they are. */
static void mapping_list_follows_model(void **state)
{
	enum {
		SPAN = 200
	};
	uint32_t image[SPAN + 1] = {0};
	uint64_t seed = 3;
	struct mapping_list *list = NULL;
	int i, at;

	(void)state;
	narrows_as_model(NULL, image, SPAN, SPAN);
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
			uint64_t low = 0, high = UINT64_MAX;
			const struct mapping *found = mapping_list_find(list, (uint64_t)at);

			assert_int_equal(found != NULL ? found->image : 0, image[at]);
			assert_ptr_equal(
				mapping_list_narrow(list, (uint64_t)at, &low, &high), found);
		}
		narrows_as_model(list, image, SPAN, SPAN);
		narrows_as_model(list, image, SPAN, (int)(unit_random(&seed) % SPAN));
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

/* What was known before events were lost says nothing of what was after it. */
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
	/* A process that was not known has no past. */
	scan_image(&fixture, 3, 3500, 3510, 1);
	assert_int_equal(place_at(&fixture, 3, 3400).image, IMAGE_UNKNOWN);
	assert_int_equal(image_map_lookup(fixture.map, 3, 0, BASE).image, IMAGE_UNKNOWN);
	assert_int_equal(place_at(&fixture, 3, 3600).image, 2);
	/* An exec or a scan ends the doubt. */
	exec_image(&fixture, 1, 4000, 1);
	scan_image(&fixture, 2, 4000, 4010, 0);
	assert_int_equal(place_at(&fixture, 1, 4001).image, 2);
	assert_int_equal(place_at(&fixture, 2, 4001).image, 1);
	assert_int_equal(place_at(&fixture, 1, 1500).image, 1);
	/* But an exec so near to the scan may have been before or after it. */
	exec_image(&fixture, 2, 4010 + slack, 1);
	exec_image(&fixture, 3, 3511 + slack, 0);
	assert_int_equal(place_at(&fixture, 2, 5000).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 2, 4010 + slack).image, 2);
	assert_int_equal(place_at(&fixture, 3, 5000).image, 2);
	/* And one before it that was told of after it ended what was before. */
	now = 2 * slack;
	exec_image(&fixture, 4, now, 1);
	scan_image(&fixture, 4, now + 200, now + 210, 0);
	exec_image(&fixture, 4, now + 100, 0);
	assert_int_equal(place_at(&fixture, 4, now + 99).image, 2);
	assert_int_equal(place_at(&fixture, 4, now + 100).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 4, now + 199).unknown, IMAGE_UNKNOWN_LOST);
	assert_int_equal(place_at(&fixture, 4, now + 200).image, 1);
	teardown(&fixture);
}

/* Which generation an exec begins is known only if none before it was lost. */
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
	exec_image(&fixture, 4, 3500, 0); /* never heard of */
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
	/* While it is scanned: 22 may be this one or the next. */
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

/*
 * More execs between two flushes than there are generations: samples of each are of
 * its image or unknown, and the latest are known while no other had their generation.
 */
static void generations_come_round(bool own, uint64_t execs)
{
	enum {
		MOST = 3000,
		KNOWN = 500,
		OTHER = DCPI_GENERATION_MAX - SPACES - 1, /* that many later it was dropped */
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
	/* After a flush there is only one that is meant. */
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

/* Times of losses: exact for the latest, never forgotten. */
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
		cmocka_unit_test(lost_events_leave_doubt),
		cmocka_unit_test(lost_execs_are_not_counted),
		cmocka_unit_test(generations_that_come_round_are_unknown),
		cmocka_unit_test(losses_are_found),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(kernel_text_replaces),
	};

	return cmocka_run_group_tests_name("image_map", tests, NULL, NULL);
}
