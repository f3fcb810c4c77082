// SPDX-License-Identifier: GPL-2.0-only
/* Perf maps with lines that overlap, read in parts: the last line applies. */
#include "tests/lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/image/image_map.h"
#include "daemon/image/jit_file.h"
#include "daemon/jit/jit_image.h"
#include "daemon/jit/jit_program.h"
#include "daemon/jit/jit_reading.h"
#include "lib/error.h"

#define SPACE 256
#define LINES 500
#define START 0x1000
#define FILLER 0x100000
#define LONG_NAME 8000

/* A program with a perf map. @fd: a second descriptor of the map, for writing */
struct fixture {
	struct jit_program program;
	struct jit_reading reading;
	struct jit_images *images;
	int fd;
};

static void no_room(void *context)
{
	(void)context;
	fail();
}

static void fixture_init(struct fixture *fixture)
{
	struct jit_file file = {.device = 1, .inode = 1};
	struct error err;

	*fixture = (struct fixture){.reading = {.bytes_max = JIT_BYTES_MAX, .room = no_room}};
	fixture->fd = memfd_create("map", 0);
	file.fd = dup(fixture->fd);
	assert_true(fixture->fd >= 0 && file.fd >= 0);
	assert_int_equal(jit_images_create(&fixture->images, &err), 0);
	jit_program_init(&fixture->program, 0);
	assert_true(
		jit_program_set_file(&fixture->program, JIT_PROGRAM_MAP, &file, &fixture->reading));
	fixture->program.image = 1;
}

static void fixture_deinit(struct fixture *fixture)
{
	jit_program_deinit(&fixture->program, &fixture->reading);
	jit_reading_deinit(&fixture->reading);
	jit_images_destroy(fixture->images);
	close(fixture->fd);
}

static void drain(struct fixture *fixture)
{
	struct jit_reading *reading = &fixture->reading;

	reading->drain++;
	reading->now_ns = reading->until_ns = reading->drain * 1000;
	reading->window_ns = reading->now_ns - 1;
	jit_program_read(&fixture->program, reading);
}

static void map_write(const struct fixture *fixture, uint64_t start, unsigned int bytes,
		      const char *name)
{
	assert_true(dprintf(fixture->fd, "%lx %x %s\n", (unsigned long)start, bytes, name) > 0);
}

/* Write lines of other addresses. @bytes: their size in the file */
static void filler_write(const struct fixture *fixture, size_t bytes)
{
	static uint64_t start = FILLER;
	char name[LONG_NAME + 1];

	memset(name, 'x', LONG_NAME);
	name[LONG_NAME] = '\0';
	for (size_t done = 0; done < bytes; done += LONG_NAME, start += 16)
		map_write(fixture, start, 16, name);
}

/* Look up a sample taken after the last drain. */
static enum jit_answer place_at(struct fixture *fixture, uint64_t pc)
{
	const struct jit_window now = {fixture->reading.now_ns, fixture->reading.now_ns};
	struct image_place place;
	struct jit_window begin;

	return jit_program_place(&fixture->program, fixture->images, &now, pc, &place, &begin);
}

/* Return: the number in the name of a sample; 0: it has no name */
static unsigned int number_at(struct fixture *fixture, uint64_t pc)
{
	uint64_t now_ns = fixture->reading.now_ns;
	unsigned int number = 0;
	const struct jit_code *code;
	char name[16] = "";
	bool ambiguous;

	if (place_at(fixture, pc) != JIT_NAMED)
		return 0;
	code = jit_codes_find(&fixture->program.codes, pc, now_ns, now_ns, &ambiguous);
	assert_true(code->name_bytes < sizeof(name));
	memcpy(name, code->name, code->name_bytes);
	assert_int_equal(sscanf(name, "code%u", &number), 1);
	return number;
}

/*
 * Random lines, a few read at a time. The model executes one line after the other: each
 * removes the ranges that it overlaps.
 */
static void last_line_applies(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (unsigned int round = 0; round < 10; round++) {
		unsigned int model[SPACE] = {0};
		struct fixture fixture;

		fixture_init(&fixture);
		for (unsigned int line = 1; line <= LINES; line++) {
			unsigned int bytes = 1 + (unsigned int)(unit_random(&seed) % 24);
			unsigned int at = (unsigned int)(unit_random(&seed) % (SPACE - bytes));
			char name[16];

			snprintf(name, sizeof(name), "code%u", line);
			map_write(&fixture, START + at, bytes, name);
			for (unsigned int i = at; i < at + bytes; i++) {
				unsigned int gone = model[i];

				for (unsigned int j = 0; j < SPACE; j++)
					model[j] = gone != 0 && model[j] == gone ? 0 : model[j];
				model[i] = line;
			}
			if (unit_random(&seed) % (1 + 3 * round) != 0)
				continue;
			drain(&fixture);
			for (unsigned int i = 0; i < SPACE; i++)
				assert_int_equal(number_at(&fixture, START + i), model[i]);
		}
		fixture_deinit(&fixture);
	}
}

/* A map grows, and only its end is read: lines before the end replace code, too. */
static void unread_line_applies(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	map_write(&fixture, START, 64, "code1");
	map_write(&fixture, START + 64, 64, "code2");
	drain(&fixture);
	assert_int_equal(number_at(&fixture, START + 8), 1);
	map_write(&fixture, START + 32, 16, "code3");
	filler_write(&fixture, JIT_BYTES_MAX / 4 + LONG_NAME);
	for (int i = 0; i < 4; i++)
		drain(&fixture);
	assert_int_equal(number_at(&fixture, START + 8), 0);
	assert_int_equal(number_at(&fixture, START + 40), 3);
	assert_int_equal(number_at(&fixture, START + 70), 2);
	fixture_deinit(&fixture);
}

/* The names of sampled code are searched for in parts of a map: a later part applies. */
static void last_found_line_applies(void **state)
{
	struct fixture fixture;
	unsigned int drains = 0;

	(void)state;
	fixture_init(&fixture);
	map_write(&fixture, START, 64, "code1");
	filler_write(&fixture, 4 * JIT_USER_DRAIN_BYTES);
	map_write(&fixture, START + 16, 64, "code2");
	filler_write(&fixture, JIT_BYTES_MAX / 4 + LONG_NAME);
	while (!fixture.program.map.at_end)
		drain(&fixture);
	assert_int_equal(place_at(&fixture, START + 24), JIT_LIMIT);
	do {
		jit_reading_user(&fixture.reading, 0)->saved = 0;
		drain(&fixture);
		drains += fixture.program.searching;
		/* The first line is found several drains before the second. */
		if (fixture.program.searching)
			assert_int_equal(place_at(&fixture, START + 24), JIT_LIMIT);
	} while (fixture.program.searching && drains < 1000);
	assert_true(drains > 4);
	assert_int_equal(number_at(&fixture, START + 24), 2);
	assert_int_equal(number_at(&fixture, START + 8), 0);
	fixture_deinit(&fixture);
}

/* Stop the process that parses the map, so that the next drain fails. */
static void parser_stop(struct fixture *fixture)
{
	const struct jit_parser *parser = jit_reading_parser(&fixture->reading, 0);

	if (parser->process.pid == 0) {
		map_write(fixture, FILLER, 1, "filler");
		drain(fixture);
	}
	assert_int_equal(kill(parser->process.pid, SIGSTOP), 0);
}

/* Names are missing by name of the reason, and the map is read later, unless it fails repeatedly.
 */
static void failed_parsing_is_a_limit(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	for (unsigned int i = 1; i <= JIT_FAILURES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "code%u", i);
		parser_stop(&fixture);
		map_write(&fixture, START + 64 * i, 64, name);
		drain(&fixture);
		assert_int_equal(jit_reading_failed(&fixture.reading), i);
		assert_int_equal(place_at(&fixture, START + 64 * i), JIT_LIMIT);
		drain(&fixture);
		assert_int_equal(number_at(&fixture, START + 64 * i), i < JIT_FAILURES_MAX ? i : 0);
	}
	assert_false(jit_program_has_files(&fixture.program));
	assert_int_equal(number_at(&fixture, START + 64), 1);
	fixture_deinit(&fixture);
}

/* A large file without code takes memory for its checksums, which is accounted and released. */
static void file_without_code_is_closed(void **state)
{
	struct fixture fixture;
	size_t bytes;

	(void)state;
	fixture_init(&fixture);
	assert_int_equal(ftruncate(fixture.fd, 8 << 20), 0);
	drain(&fixture);
	bytes = jit_map_bytes(&fixture.program.map);
	assert_true(bytes >= (8 << 20) / JIT_MAP_CHUNK_BYTES * sizeof(uint64_t));
	assert_int_equal(fixture.reading.bytes, bytes + jit_codes_bytes(&fixture.program.codes));
	jit_program_evict(&fixture.program, &fixture.reading);
	assert_int_equal(jit_map_bytes(&fixture.program.map), 0);
	assert_int_equal(fixture.reading.bytes, jit_codes_bytes(&fixture.program.codes));
	assert_false(jit_program_has_files(&fixture.program));
	assert_int_equal(place_at(&fixture, START), JIT_LIMIT);
	fixture_deinit(&fixture);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_line_applies),
		cmocka_unit_test(unread_line_applies),
		cmocka_unit_test(last_found_line_applies),
		cmocka_unit_test(failed_parsing_is_a_limit),
		cmocka_unit_test(file_without_code_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
