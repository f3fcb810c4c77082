// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fixtures/image_map_fixture.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/image/address_spaces.h"

enum {
	PAGES = 24,
	PIDS = 12,
	IMAGES = 5,
	SPACES = ADDRESS_SPACES_MAX, /* older ones are dropped */
	STEPS = 200000,
};

/*
 * The reference: every version of every process's address space, page by page. A page is 0: free;
 * 1: anonymous; 2 + n: image n.
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

/* Begin another version, as a copy of the newest one, to be changed. */
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
 * Look up the page in all versions of the generation. @found: out: a version with a mapping at the
 * page, else any version. Return: true if the versions disagree.
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

/* Check that a result is valid for all of its range, with the same range. */
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

	/* Occasionally an id that is in use: the exit event was lost. */
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

/* Ended processes are not listed, and processes may end during the listing. */
static void the_living(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK};
	struct fixture fixture;
	size_t cursor = 0;
	uint32_t pid, met = 0;

	(void)state;
	setup(&fixture, true);
	for (event.pid = 1; event.pid <= 100; event.pid++) {
		event.time_ns++;
		image_map_event(fixture.map, &event);
	}
	event.type = IMAGE_EVENT_EXIT;
	for (pid = 10; pid <= 100; pid += 10) {
		event.pid = pid;
		event.time_ns++;
		image_map_event(fixture.map, &event);
	}
	while ((event.pid = image_map_next(fixture.map, &cursor)) != 0) {
		assert_int_not_equal(event.pid % 10, 0);
		event.time_ns++;
		image_map_event(fixture.map, &event);
		met++;
	}
	assert_int_equal(met, 90);
	cursor = 0;
	assert_int_equal(image_map_next(fixture.map, &cursor), 0);
	image_map_expire(fixture.map, UINT64_MAX);
	assert_int_equal(image_map_processes(fixture.map, NULL), 0);
	teardown(&fixture);
}

static uint32_t changes(const struct fixture *fixture, uint32_t pid)
{
	uint64_t since_ns;

	return image_map_changes(fixture->map, pid, &since_ns);
}

static uint64_t since(const struct fixture *fixture, uint32_t pid)
{
	uint64_t since_ns;

	image_map_changes(fixture->map, pid, &since_ns);
	return since_ns;
}

/* The next process with the same id has another change number. */
static void changes_are_told_apart(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK, .pid = 3, .parent = 2, .time_ns = 1};
	struct image_event map = map_event(3, 2, 0, 0, 1, 0);
	struct fixture fixture;
	uint32_t seen[5];

	(void)state;
	setup(&fixture, false);
	assert_int_equal(changes(&fixture, 3), 0);
	image_map_event(fixture.map, &event);
	seen[0] = changes(&fixture, 3);
	image_map_event(fixture.map, &map);
	seen[1] = changes(&fixture, 3);
	event.type = IMAGE_EVENT_RENAME;
	event.path = "other";
	image_map_event(fixture.map, &event);
	assert_int_equal(changes(&fixture, 3), seen[1]);
	map.type = IMAGE_EVENT_UNMAP;
	image_map_event(fixture.map, &map);
	seen[2] = changes(&fixture, 3);
	event.type = IMAGE_EVENT_EXIT;
	event.time_ns = 3;
	image_map_event(fixture.map, &event);
	image_map_expire(fixture.map, UINT64_MAX);
	assert_int_equal(changes(&fixture, 3), 0);
	event.type = IMAGE_EVENT_FORK;
	image_map_event(fixture.map, &event);
	seen[3] = changes(&fixture, 3);
	event.pid = 4;
	image_map_event(fixture.map, &event);
	seen[4] = changes(&fixture, 4);
	for (size_t i = 0; i < 5; i++) {
		assert_int_not_equal(seen[i], 0);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	}
	teardown(&fixture);
}

/*
 * Adding a mapping does not advance the time since which all is unchanged; removing or replacing
 * one does.
 */
static void since_is_told(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_FORK, .pid = 3, .time_ns = 1};
	struct image_event map = {.type = IMAGE_EVENT_MAP,
				  .pid = 3,
				  .time_ns = 2,
				  .start = 0x1000,
				  .bytes = 0x1000,
				  .path = "/usr/bin/a"};
	struct fixture fixture;

	(void)state;
	setup(&fixture, false);
	assert_int_equal(since(&fixture, 3), 0);
	image_map_event(fixture.map, &event);
	assert_int_equal(since(&fixture, 3), 1);
	image_map_event(fixture.map, &map);
	assert_int_equal(since(&fixture, 3), 1);
	map.path = "/usr/bin/b";
	map.time_ns = 3;
	image_map_event(fixture.map, &map);
	assert_int_equal(since(&fixture, 3), 3);
	map.type = IMAGE_EVENT_UNMAP;
	map.time_ns = 4;
	image_map_event(fixture.map, &map);
	assert_int_equal(since(&fixture, 3), 4);
	map.time_ns = 5;
	image_map_event(fixture.map, &map);
	assert_int_equal(since(&fixture, 3), 4);
	event.type = IMAGE_EVENT_EXEC;
	event.time_ns = 6;
	event.path = "b";
	image_map_event(fixture.map, &event);
	assert_int_equal(since(&fixture, 3), 6);
	teardown(&fixture);
}

/*
 * During an exec the kernel maps the whole interpreter and then replaces its end: no code ran
 * there. Once the program runs, samples of a replaced mapping are unknown.
 */
static void what_exec_replaces_never_ran(void **state)
{
	struct image_event event = {.type = IMAGE_EVENT_EXEC,
				    .pid = 3,
				    .time_ns = 1,
				    .has_generation = true,
				    .generation = 5,
				    .path = "a"};
	struct image_event map = {.type = IMAGE_EVENT_MAP,
				  .pid = 3,
				  .time_ns = 2,
				  .has_generation = true,
				  .generation = 5,
				  .start = 0x1000,
				  .bytes = 0x4000,
				  .path = "/usr/bin/a",
				  .in_exec = true};
	const uint32_t generation = 5;
	struct fixture fixture;
	uint32_t second;

	(void)state;
	setup(&fixture, false);
	image_map_event(fixture.map, &event);
	image_map_event(fixture.map, &map);
	map.type = IMAGE_EVENT_UNMAP;
	map.start = 0x3000;
	map.bytes = 0x2000;
	image_map_event(fixture.map, &map);
	map.type = IMAGE_EVENT_MAP;
	map.bytes = 0x1000;
	map.path = "/usr/bin/b";
	image_map_event(fixture.map, &map);
	second = image_map_lookup(fixture.map, 3, generation, 0x3010).image;
	assert_int_not_equal(second, IMAGE_UNKNOWN);
	assert_int_not_equal(second, image_map_lookup(fixture.map, 3, generation, 0x1010).image);
	assert_int_equal(image_map_lookup(fixture.map, 3, generation, 0x4010).unknown,
			 IMAGE_UNKNOWN_ADDRESS);
	map.in_exec = false;
	map.time_ns = 3;
	map.path = "/usr/bin/c";
	image_map_event(fixture.map, &map);
	assert_int_equal(image_map_lookup(fixture.map, 3, generation, 0x3010).unknown,
			 IMAGE_UNKNOWN_REPLACED);
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
	image_map_forget_kernel(fixture.map);
	for (uint64_t at = 0; at < 0x3000; at += 0x1000)
		assert_int_equal(image_map_lookup(fixture.map, 0, 0, base + at).unknown,
				 IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(image_map_add_kernel(fixture.map, (uint32_t)first, base, 0x1000), 0);
	assert_int_equal(image_map_lookup(fixture.map, 0, 0, base + 7).image, first);
	teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_generations_follow_model),
		cmocka_unit_test(kernel_generations_follow_model),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(the_living),
		cmocka_unit_test(changes_are_told_apart),
		cmocka_unit_test(since_is_told),
		cmocka_unit_test(what_exec_replaces_never_ran),
		cmocka_unit_test(kernel_text_replaces),
	};

	return cmocka_run_group_tests_name("image_map", tests, NULL, NULL);
}
