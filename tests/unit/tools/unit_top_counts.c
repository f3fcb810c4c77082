// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of dcpitop, compared with a model: a daemon merges at random, epochs change, and images
 * and procedures are displayed or not.
 */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>

#include "tools/top/top_counts.h"

#define IMAGES 3
#define PROCEDURES 4
#define EVENTS 2
#define PROCEDURE_BYTES 256
#define ROUNDS 400

struct cell {
	uint64_t now;
	uint64_t last;
	uint64_t base;
};

struct world {
	struct profile_writer *writer;
	struct top_counts *counts;
	struct top_rows rows;
	int64_t images[IMAGES];
	struct cell cells[IMAGES][PROCEDURES][EVENTS];
	int64_t now_ns;
	uint64_t interrupts;
	uint64_t random;
	bool first; /* no refresh yet in this epoch */
	struct error err;
};

static uint64_t draw(struct world *world, uint64_t below)
{
	world->random = world->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world->random >> 33) % below;
}

static void begin_epoch(struct world *world)
{
	struct profile_epoch epoch = model_epoch(0);
	struct error err;

	world->now_ns += 1000000000;
	epoch.start_ns = world->now_ns;
	assert_ok(profile_writer_epoch_next(world->writer, world->now_ns, &epoch, model_events,
					    EVENTS, &err));
	memset(world->cells, 0, sizeof(world->cells));
	world->interrupts = 0;
	world->first = true;
}

static void add_images(struct world *world)
{
	static const char names[] = "one\0two\0three\0four";
	struct profile_symbol symbols[PROCEDURES];
	struct error err;
	const char *name = names;

	for (unsigned int i = 0; i < PROCEDURES; i++, name += strlen(name) + 1)
		symbols[i] = (struct profile_symbol){.offset = (uint64_t)i * PROCEDURE_BYTES,
						     .bytes = PROCEDURE_BYTES,
						     .name = name};
	assert_ok(profile_writer_begin(world->writer, &err));
	for (unsigned int i = 0; i < IMAGES; i++) {
		struct profile_image image = {.kind = PROFILE_IMAGE_KERNEL,
					      .identity_kind = PROFILE_IDENTITY_BUILD_ID,
					      .identity_bytes = 20,
					      .path = "kernel"};

		memset(image.identity, (int)i + 1, 20);
		assert_ok(profile_writer_image(world->writer, &image, &world->images[i], &err));
		assert_ok(profile_writer_symbols(world->writer, world->images[i], symbols,
						 PROCEDURES, &err));
	}
	assert_ok(profile_writer_commit(world->writer, &err));
}

static void merge(struct world *world)
{
	struct error err;

	world->now_ns += 1000000000 + (int64_t)draw(world, 1000);
	assert_ok(profile_writer_begin(world->writer, &err));
	for (uint64_t i = draw(world, 6); i > 0; i--) {
		uint64_t image = draw(world, IMAGES), procedure = draw(world, PROCEDURES);
		uint64_t event = draw(world, EVENTS);
		struct profile_sample sample = {procedure * PROCEDURE_BYTES +
							draw(world, PROCEDURE_BYTES),
						1 + draw(world, 9)};

		assert_ok(profile_writer_add(world->writer, world->images[image], (uint32_t)event,
					     PROFILE_PID_ALL, &sample, 1, &err));
		world->cells[image][procedure][event].now += sample.count;
		world->interrupts += sample.count;
	}
	assert_ok(profile_writer_totals(world->writer, world->now_ns, world->interrupts, NULL, 0,
					&err));
	assert_ok(profile_writer_commit(world->writer, &err));
}

static void refresh(struct world *world, enum top_level level, int64_t image)
{
	struct error err;

	assert_ok(top_counts_refresh(world->counts, level, image, &err));
}

/* Advance the model after a refresh; the first refresh of an epoch sets all bases. */
static void step_model(struct world *world)
{
	struct cell *cell = &world->cells[0][0][0];

	for (size_t i = 0; i < sizeof(world->cells) / sizeof(*cell); i++) {
		if (world->first)
			cell[i].base = cell[i].now;
		cell[i].last = cell[i].now;
	}
	world->first = false;
}

static struct cell image_cell(const struct world *world, unsigned int image, unsigned int event)
{
	struct cell sum = {0};

	for (unsigned int i = 0; i < PROCEDURES; i++) {
		sum.now += world->cells[image][i][event].now;
		sum.last += world->cells[image][i][event].last;
		sum.base += world->cells[image][i][event].base;
	}
	return sum;
}

static const struct top_row *find_row(const struct world *world, int64_t image, const char *name)
{
	for (size_t i = 0; i < world->rows.count; i++) {
		const struct top_row *row = &world->rows.list[i];

		if (row->image == image &&
		    (name == NULL ? row->procedure == NULL
				  : row->procedure != NULL && strcmp(row->procedure, name) == 0))
			return row;
	}
	return NULL;
}

static void assert_row(const struct world *world, int64_t image, const char *name, struct cell cell,
		       bool of_epoch)
{
	const struct top_row *row = find_row(world, image, name);
	uint64_t interval = world->first ? 0 : cell.now - cell.last;
	uint64_t total = of_epoch || world->first ? cell.now : cell.now - cell.base;

	if (!of_epoch && world->first)
		total = 0;
	assert_int_equal(row != NULL ? row->interval : 0, interval);
	assert_int_equal(row != NULL ? row->total : 0, total);
	assert_true(row == NULL || row->has_interval == !world->first);
}

static void compare(struct world *world, enum top_level level)
{
	static const char *const names[PROCEDURES] = {"one", "two", "three", "four"};

	for (unsigned int k = 0; k < 2 * EVENTS; k++) {
		unsigned int event = k / 2;
		bool of_epoch = k % 2 == 0;

		assert_int_equal(top_counts_rows(world->counts, level, TOP_ALL_IMAGES, event,
						 of_epoch, &world->rows),
				 0);
		for (unsigned int i = 0; i < IMAGES; i++) {
			if (level == TOP_BY_IMAGE)
				assert_row(world, world->images[i], NULL,
					   image_cell(world, i, event), of_epoch);
			for (unsigned int p = 0; level == TOP_BY_PROCEDURE && p < PROCEDURES; p++)
				assert_row(world, world->images[i], names[p],
					   world->cells[i][p][event], of_epoch);
		}
	}
}

static void world_init(struct world *world, uint64_t seed)
{
	struct profile_epoch epoch = model_epoch(0);
	struct top_config config;
	struct error err;
	char name[32];

	snprintf(name, sizeof(name), "top-%u.db", (unsigned int)seed);
	*world = (struct world){.random = seed, .now_ns = 1000000000, .first = true};
	/* The kernel is an image like the others if idle time has a share. */
	config = (struct top_config){.database = path_of(name), .include.idle = true};
	world->writer = open_writer(config.database);
	assert_ok(profile_writer_epoch_begin(world->writer, &epoch, model_events, EVENTS, &err));
	add_images(world);
	assert_ok(top_counts_create(&world->counts, &config, &err));
}

static void world_deinit(struct world *world)
{
	top_counts_destroy(world->counts);
	profile_writer_close(world->writer);
	free(world->rows.list);
}

static void play(uint64_t seed, enum top_level level)
{
	struct world world;

	world_init(&world, seed);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		if (draw(&world, 40) == 0)
			begin_epoch(&world);
		merge(&world);
		refresh(&world, level, TOP_ALL_IMAGES);
		compare(&world, level);
		step_model(&world);
	}
	world_deinit(&world);
}

static void test_images_are_counted(void **state)
{
	(void)state;
	play(1, TOP_BY_IMAGE);
}

static void test_procedures_are_counted(void **state)
{
	(void)state;
	play(2, TOP_BY_PROCEDURE);
}

/* A row displayed again has a correct total, and no rate for an interval in which it was hidden. */
static void test_uncounted_images_have_no_interval(void **state)
{
	struct world world;
	const struct top_row *row;

	(void)state;
	world_init(&world, 3);
	merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	for (unsigned int i = 0; i < 20; i++)
		merge(&world);
	refresh(&world, TOP_BY_IMAGE, TOP_ALL_IMAGES);
	for (unsigned int i = 0; i < 20; i++)
		merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	top_counts_rows(world.counts, TOP_BY_PROCEDURE, world.images[0], 0, true, &world.rows);
	row = find_row(&world, world.images[0], "one");
	assert_non_null(row);
	assert_int_equal(row->total, world.cells[0][0][0].now);
	assert_false(row->has_interval);
	step_model(&world);
	merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, world.images[0]);
	top_counts_rows(world.counts, TOP_BY_PROCEDURE, world.images[0], 0, true, &world.rows);
	row = find_row(&world, world.images[0], "one");
	assert_non_null(row);
	assert_true(row->has_interval);
	assert_int_equal(row->interval, world.cells[0][0][0].now - world.cells[0][0][0].last);
	world_deinit(&world);
}

/* A refresh without new data keeps the last interval. */
static void test_no_new_samples_change_nothing(void **state)
{
	struct world world;

	(void)state;
	world_init(&world, 4);
	merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	step_model(&world);
	for (unsigned int i = 0; i < 5; i++)
		merge(&world);
	for (unsigned int i = 0; i < 3; i++) {
		refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
		compare(&world, TOP_BY_PROCEDURE);
		compare(&world, TOP_BY_IMAGE);
	}
	world_deinit(&world);
}

static void test_totals_can_be_reset(void **state)
{
	struct world world;
	uint64_t before;

	(void)state;
	world_init(&world, 5);
	for (unsigned int i = 0; i < 5; i++)
		merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	for (unsigned int i = 0; i < 5; i++)
		merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	top_counts_begin(world.counts);
	before = image_cell(&world, 0, 0).now;
	top_counts_rows(world.counts, TOP_BY_IMAGE, TOP_ALL_IMAGES, 0, false, &world.rows);
	assert_int_equal(world.rows.total, 0);
	for (unsigned int i = 0; i < 20; i++)
		merge(&world);
	refresh(&world, TOP_BY_PROCEDURE, TOP_ALL_IMAGES);
	top_counts_rows(world.counts, TOP_BY_IMAGE, world.images[0], 0, false, &world.rows);
	assert_int_equal(find_row(&world, world.images[0], NULL)->total,
			 image_cell(&world, 0, 0).now - before);
	world_deinit(&world);
}

static void test_reports_missing_epoch(void **state)
{
	struct profile_writer *writer = open_writer(path_of("empty.db"));
	struct top_config config = {.database = path_of("empty.db")};
	struct top_counts *counts = NULL;
	struct error err;

	(void)state;
	assert_ok(top_counts_create(&counts, &config, &err));
	assert_int_equal(top_counts_refresh(counts, TOP_BY_IMAGE, TOP_ALL_IMAGES, &err), -ENOENT);
	assert_string_equal(err.message, "no epoch yet");
	top_counts_destroy(counts);
	profile_writer_close(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_images_are_counted),
		cmocka_unit_test(test_procedures_are_counted),
		cmocka_unit_test(test_uncounted_images_have_no_interval),
		cmocka_unit_test(test_no_new_samples_change_nothing),
		cmocka_unit_test(test_totals_can_be_reset),
		cmocka_unit_test(test_reports_missing_epoch),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
