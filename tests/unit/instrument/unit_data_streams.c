// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hot data streams found are the sequences that were made to recur. They cover no more than all
 * references, and none spans two bursts. The overlap of two profiles consists of streams in both.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instrument/bursts/streams_report.h"
#include "lib/error.h"

#define INSTRUCTIONS 64
#define FIRST_ADDRESS 0x1000
#define REFERENCES_MAX 40000

struct scene {
	struct bursts_map map;
	struct bursts_profile profile;
	uint64_t random;
	uint32_t burst;
};

static void scene_init(struct scene *scene, uint64_t seed)
{
	uint64_t instructions[INSTRUCTIONS];

	for (uint32_t i = 0; i < INSTRUCTIONS; i++)
		instructions[i] = FIRST_ADDRESS + 4 * i;
	*scene = (struct scene){.random = seed, .burst = 1};
	scene->map.path = strdup("/bin/scene");
	assert_int_equal(
		bursts_map_add(&scene->map, "procedure", FIRST_ADDRESS, instructions, INSTRUCTIONS),
		0);
	scene->profile.all = calloc(REFERENCES_MAX, sizeof(*scene->profile.all));
	assert_non_null(scene->profile.all);
}

static void scene_deinit(struct scene *scene)
{
	bursts_profile_deinit(&scene->profile);
	bursts_map_deinit(&scene->map);
}

static void refer(struct scene *scene, uint32_t number, uint64_t address)
{
	assert_true(scene->profile.count < REFERENCES_MAX);
	scene->profile.all[scene->profile.count++] = (struct bursts_reference){
		.address = address, .number = number, .burst = scene->burst};
}

/* Add references that never recur. */
static void make_noise(struct scene *scene, unsigned int count)
{
	for (; count > 0; count--)
		refer(scene, (uint32_t)(unit_random(&scene->random) % INSTRUCTIONS),
		      unit_random(&scene->random));
}

/* Add a stream of @length instructions, starting at @first. */
static void make_stream(struct scene *scene, uint32_t first, uint32_t length, uint64_t address)
{
	for (uint32_t i = 0; i < length; i++)
		refer(scene, first + i, address + 8 * i);
}

static void find(const struct scene *scene, double cover, struct data_streams *ret)
{
	struct data_streams_options options = DATA_STREAMS_DEFAULT;
	uint64_t heat = 0;

	options.cover = cover;
	assert_int_equal(data_streams_find(ret, &scene->map, &scene->profile, &options), 0);
	for (size_t i = 0; i < ret->count; i++) {
		const struct data_stream *stream = &ret->all[i];

		assert_in_range(stream->length, options.shortest, options.longest);
		assert_true(stream->heat == stream->length * stream->frequency);
		assert_true(i == 0 || stream->heat <= stream[-1].heat);
		heat += stream->heat;
	}
	assert_true(heat == ret->covered && heat <= scene->profile.count);
}

static void test_finds_streams(void **state)
{
	struct data_streams streams;
	struct scene scene;

	(void)state;
	scene_init(&scene, 1);
	for (unsigned int i = 0; i < 100; i++) {
		make_noise(&scene, 3);
		make_stream(&scene, 0, 12, 0x10000);
		make_noise(&scene, 2);
		if (i % 2 == 0)
			make_stream(&scene, 20, 30, 0x20000);
	}
	find(&scene, 0.99, &streams);
	assert_int_equal(streams.count, 2);
	assert_int_equal(streams.all[0].length, 30);
	assert_int_equal(streams.all[0].frequency, 50);
	assert_int_equal(streams.all[1].length, 12);
	assert_int_equal(streams.all[1].frequency, 100);
	for (uint32_t i = 0; i < 12; i++)
		assert_true(streams.instructions[streams.all[1].first + i] ==
			    FIRST_ADDRESS + 4 * i);
	data_streams_deinit(&streams);
	/* The hotter stream alone covers the requested share. */
	find(&scene, 0.4, &streams);
	assert_int_equal(streams.count, 1);
	assert_int_equal(streams.threshold, 30 * 50);
	data_streams_deinit(&streams);
	scene_deinit(&scene);
}

/* Equal signatures at two addresses are one stream. */
static void test_signatures(void **state)
{
	struct data_streams streams;
	struct scene scene;

	(void)state;
	scene_init(&scene, 2);
	for (unsigned int i = 0; i < 40; i++) {
		make_stream(&scene, 5, 15, i % 2 ? 0x10000 : 0x90000);
		make_noise(&scene, 4);
	}
	find(&scene, 1, &streams);
	assert_int_equal(streams.count, 1);
	assert_int_equal(streams.all[0].frequency, 40);
	data_streams_deinit(&streams);
	scene_deinit(&scene);
}

static void test_streams_end_at_bursts(void **state)
{
	struct data_streams streams;
	struct scene scene;

	(void)state;
	scene_init(&scene, 3);
	for (unsigned int i = 0; i < 50; i++) {
		make_stream(&scene, 0, 6, 0x10000);
		scene.burst++;
		make_stream(&scene, 30, 6, 0x20000);
		make_noise(&scene, 2);
	}
	find(&scene, 1, &streams);
	assert_int_equal(streams.count, 0);
	data_streams_deinit(&streams);
	scene_deinit(&scene);
}

/* Invariants that hold for any references, here with few addresses. */
static void test_random_references(void **state)
{
	(void)state;
	for (uint64_t seed = 10; seed < 60; seed++) {
		struct data_streams streams;
		struct scene scene;

		scene_init(&scene, seed);
		while (scene.profile.count < 3000) {
			make_stream(&scene, (uint32_t)(unit_random(&scene.random) % 3),
				    4 + (uint32_t)(unit_random(&scene.random) % 20), 0x10000);
			scene.burst += unit_random(&scene.random) % 50 == 0;
		}
		find(&scene, (double)(seed % 10) / 10, &streams);
		data_streams_deinit(&streams);
		scene_deinit(&scene);
	}
}

static void make_two(struct scene *scene, uint32_t first, uint32_t second)
{
	scene_init(scene, 7);
	for (unsigned int i = 0; i < 100; i++) {
		make_stream(scene, first, 10, 0x1000);
		make_noise(scene, 5);
		make_stream(scene, second, 20, 0x2000);
		make_noise(scene, 5);
	}
}

static void test_overlap(void **state)
{
	struct scene both, other;
	struct data_streams a, b;
	double overlap;

	(void)state;
	make_two(&both, 0, 20);
	make_two(&other, 0, 40);
	find(&both, 1, &a);
	find(&other, 1, &b);
	assert_int_equal(data_streams_overlap(&overlap, &a, &a), 0);
	assert_float_equal(overlap, 30.0 / 40, 1e-5);
	assert_int_equal(data_streams_overlap(&overlap, &a, &b), 0);
	assert_float_equal(overlap, 10.0 / 40, 1e-5);
	b.references *= 2; /* the streams are half of that share */
	assert_int_equal(data_streams_overlap(&overlap, &a, &b), 0);
	assert_float_equal(overlap, 5.0 / 40, 1e-5);
	data_streams_deinit(&a);
	data_streams_deinit(&b);
	scene_deinit(&both);
	scene_deinit(&other);
}

static int read_text(struct data_streams *ret, const char *text)
{
	char path[] = "/tmp/unit_data_streams.XXXXXX";
	int fd = mkstemp(path), r;
	struct error err;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	r = streams_report_read(ret, path, &err);
	close(fd);
	unlink(path);
	return r;
}

static void test_listing_round_trip(void **state)
{
	static const char *const bad[] = {
		"",
		"heat\n",
		"heat,references,length,frequency,signature\n10,5,1,1,0x1\n",
		"heat,references,length,frequency,signature\n10,50,2,1,0x1\n",
		"heat,references,length,frequency,signature\n10,50,99999999,1,0x1 0x2\n",
		"heat,references,length,frequency,signature\n10,50,2,1,0x1 0x2 0x3\n",
		"heat,references,length,frequency,signature\n40,50,1,1,0x1\n40,50,1,1,0x2\n",
	};
	struct data_streams streams, read;
	struct scene scene;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	double overlap;

	(void)state;
	make_two(&scene, 3, 30);
	find(&scene, 1, &streams);
	streams_report_print(out, &scene.map, &streams, 0, true);
	fclose(out);
	assert_int_equal(read_text(&read, text), 0);
	assert_int_equal(read.count, streams.count);
	assert_int_equal(data_streams_overlap(&overlap, &streams, &read), 0);
	assert_float_equal(overlap, 30.0 / 40, 1e-5);
	data_streams_deinit(&read);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_text(&read, bad[i]), -EBADMSG);
	free(text);
	data_streams_deinit(&streams);
	scene_deinit(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_streams),
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_streams_end_at_bursts),
		cmocka_unit_test(test_random_references),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_listing_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
