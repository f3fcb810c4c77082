// SPDX-License-Identifier: GPL-2.0-only
/* Perf maps and jitdumps: all records are read, however the file is written in pieces. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader-hook/jit/jit_dump.h"
#include "loader-hook/jit/jit_map.h"
#include "tests/fixtures/jit_files.h"

#define LINES 3000

struct seen {
	int fd;
	unsigned int count;
	uint64_t starts[LINES];
	uint64_t bytes[LINES];
	char names[LINES][64];
	size_t name_bytes[LINES];
};

static struct seen seen;

static void see(void *context, const struct jit_map_line *line)
{
	struct seen *to = context;
	char back[JIT_NAME_BYTES_MAX];

	assert_true(to->count < LINES);
	assert_true(line->name_bytes > 0 && line->name_bytes <= JIT_NAME_BYTES_MAX);
	/* The name is at its recorded position. */
	assert_int_equal(pread(to->fd, back, line->name_bytes, (off_t)line->name_at),
			 line->name_bytes);
	assert_memory_equal(back, line->name, line->name_bytes);
	to->starts[to->count] = line->start;
	to->bytes[to->count] = line->bytes;
	to->name_bytes[to->count] = line->name_bytes;
	snprintf(to->names[to->count++], sizeof(to->names[0]), "%.*s",
		 line->name_bytes > 63 ? 63 : (int)line->name_bytes, line->name);
}

static int new_file(void)
{
	int fd = memfd_create("map", 0);

	assert_true(fd >= 0);
	seen = (struct seen){.fd = fd};
	return fd;
}

static void put(int fd, const char *text, size_t bytes)
{
	assert_int_equal(write(fd, text, bytes), bytes);
}

/* A map written in random pieces and read after each gives every line once, in order. */
static void test_map_grows(void **state)
{
	static const char *const lines[] = {"0x%x 0X%X name %u of it\n", "%x %x name %u of it\n",
					    "%x %x name %u of it\r\n"};
	size_t budget, length = 0, written = 0;
	char *text = malloc((size_t)LINES * 128);
	struct jit_map map = {0};
	uint64_t seed = 1;
	int fd = new_file();

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < LINES; i++)
		length += (size_t)sprintf(text + length, lines[i % 3], i * 64, i % 63 + 1, i);
	while (written < length) {
		size_t n = unit_random(&seed) % 2000;

		if (n > length - written)
			n = length - written;
		put(fd, text + written, n);
		written += n;
		budget = 1 << 20;
		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	}
	assert_int_equal(seen.count, LINES);
	for (unsigned int i = 0; i < LINES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "name %u of it", i);
		assert_int_equal(seen.starts[i], i * 64);
		assert_int_equal(seen.bytes[i], i % 63 + 1);
		assert_string_equal(seen.names[i], name);
	}
	/* A truncated file counts as another file. */
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 1);
	assert_int_equal(map.position, 0);
	jit_map_deinit(&map);
	free(text);
	close(fd);
}

/* A file is rewritten, and longer than before, without being seen short. */
static void test_map_is_rewritten(void **state)
{
	static const char before[] = "1000 10 one\n2000 10 two\n";
	static const char after[] = "3000 10 zero\n1000 10 one\n2000 10 two\n4000 10 three\n";
	struct jit_map map = {0};
	size_t budget = 1 << 20;
	int fd = new_file();

	(void)state;
	put(fd, before, sizeof(before) - 1);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	put(fd, after, sizeof(after) - 1);
	seen.count = 0;
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 1);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(seen.count, 4);
	assert_string_equal(seen.names[0], "zero");
	assert_string_equal(seen.names[3], "three");
	jit_map_deinit(&map);
	close(fd);
}

/* A name is replaced with another one of the same length, so that the file's size is unchanged. */
static void test_map_is_rewritten_in_place(void **state)
{
	char text[40];
	uint64_t seed = 3;

	(void)state;
	for (unsigned int lines = 1; lines < LINES; lines += 397) {
		struct jit_map map = {0};
		size_t budget = 1 << 20;
		int fd = new_file(), r = 0;
		unsigned int other = (unsigned int)(unit_random(&seed) % lines);

		for (unsigned int i = 0; i < lines; i++)
			put(fd, text, (size_t)sprintf(text, "%08x 10 name_of_generation_1\n", i));
		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
		assert_true(map.at_end);
		assert_int_equal(lseek(fd, other * 33, SEEK_SET), other * 33);
		put(fd, text, (size_t)sprintf(text, "%08x 10 name_of_generation_2\n", other));
		seen.count = 0;
		for (int i = 0; i < 2 && r == 0; i++)
			r = jit_map_read(&map, fd, NULL, &budget, see, &seen);
		assert_int_equal(r, 1);
		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
		assert_int_equal(seen.count, lines);
		assert_string_equal(seen.names[other], "name_of_generation_2");
		jit_map_deinit(&map);
		close(fd);
	}
}

static void ignore(void *context, const struct jit_map_line *line)
{
	(void)context;
	(void)line;
}

/* A large map is not modified again, so that only the rotation over its chunks finds the change. */
static void test_large_map_is_rewritten_in_place(void **state)
{
	struct timespec times[2] = {{0, UTIME_OMIT}, {1, 0}};
	struct jit_map map = {0};
	size_t budget = (size_t)1 << 30;
	int fd = new_file(), reads = 0, r = 0;
	const int lines = 32 * JIT_MAP_CHUNK_BYTES / 16;

	(void)state;
	for (int i = 0; i < lines; i++)
		dprintf(fd, "%08x 10 one\n", i + 1);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	assert_int_equal(map.sum_count, 32);
	assert_int_equal(lseek(fd, 16 * (lines / 2), SEEK_SET), 16 * (lines / 2));
	dprintf(fd, "%08x 10 two\n", lines / 2 + 1);
	assert_int_equal(futimens(fd, times), 0);
	for (; reads < 32 && r == 0; reads++)
		r = jit_map_read(&map, fd, NULL, &budget, ignore, NULL);
	assert_int_equal(r, 1);
	assert_true(reads > 2);
	/* When all of it was compared, it is not read again. */
	for (reads = 0; reads < 20; reads++)
		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	budget = 1 << 20;
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	assert_int_equal(budget, 1 << 20);
	jit_map_deinit(&map);
	close(fd);
}

/* A sparse file has any size, but its checksums take little memory. */
static void test_map_is_read_up_to_a_limit(void **state)
{
	struct jit_map map = {.position = JIT_MAP_BYTES_MAX - JIT_MAP_CHUNK_BYTES,
			      .skipping = true};
	size_t budget = 1 << 20;
	int fd = new_file();

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	assert_true(map.position < JIT_MAP_BYTES_MAX + JIT_MAP_REQUEST_BYTES_MAX);
	assert_false(map.at_end);
	assert_true(jit_map_bytes(&map) <= 1 << 18);
	jit_map_deinit(&map);
	close(fd);
}

/* One call reads no more than its budget; later calls read the rest. */
static void test_map_budget(void **state)
{
	struct jit_map map = {0};
	int fd = new_file(), calls = 0;

	(void)state;
	for (int i = 0; i < 2900; i++)
		put(fd,
		    "1000 10 a name that makes this line have one hundred bytes, "
		    "so that the map has several buffers' bytes.\n",
		    104);
	do {
		size_t budget = 70000;

		assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
		calls++;
	} while (seen.count < 2900 && calls < 100);
	assert_int_equal(seen.count, 2900);
	assert_true(calls > 3);
	jit_map_deinit(&map);
	close(fd);
}

/* A map that has changed costs an eighth of the bytes that are checked, and none without budget. */
static void test_map_check_is_charged(void **state)
{
	struct jit_map map = {0};
	size_t all = (size_t)1 << 20, budget = all;
	int fd = new_file();

	(void)state;
	for (int i = 0; i < 6000; i++)
		put(fd, "1000 10 a name that makes this line have fifty bytes.\n", 54);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	assert_true(map.at_end);
	put(fd, "1000 10 new\n", 12);
	budget = 1000;
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, ignore, NULL), 0);
	assert_int_equal(budget, 1000);
	assert_false(map.at_end);
	budget = all;
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(budget, all - 12 - 4 * JIT_MAP_CHUNK_BYTES / 8);
	assert_true(map.at_end);
	assert_int_equal(seen.count, 1);
	jit_map_deinit(&map);
	close(fd);
}

static void test_map_malformed(void **state)
{
	static const char *const bad[] = {
		"\n",
		" \n",
		"x 10 name\n",
		"10 name\n",
		"10 0 none\n",
		"10 10\n",
		"10 10 \n",
		"-1 10 name\n",
		"11111111111111111 1 name\n",
		"8000000000000000 1 kernel\n",
		"7fffffffffffffff 2 beyond\n",
		"10 ffffffffffffffff wraps\n",
		"0x 1 name\n",
		"10\t10 name\n",
	};
	struct jit_map map = {0};
	size_t budget = 1 << 24;
	int fd = new_file();
	char *line = malloc(100000);

	(void)state;
	assert_non_null(line);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		put(fd, bad[i], strlen(bad[i]));
	put(fd, "10 10 a\0b\n", 10);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(seen.count, 0);
	/* A line of excessive length is skipped, and the next one is read. */
	memset(line, 'x', 100000);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the line continues */
	memcpy(line, "10 10 ", 6);
	put(fd, line, 100000);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	put(fd, "20 20 still the same line\n30 30 next\n", 37);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.names[0], "next");
	/* A long name is truncated at the end of a character. */
	put(fd, line, 6 + JIT_NAME_BYTES_MAX - 1);
	put(fd, "\xc3\xa4\n", 3);
	assert_int_equal(jit_map_read(&map, fd, NULL, &budget, see, &seen), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.name_bytes[1], JIT_NAME_BYTES_MAX - 1);
	jit_map_deinit(&map);
	free(line);
	close(fd);
}

static FILE *dump_file(int *fd)
{
	FILE *file;

	*fd = memfd_create("dump", 0);
	assert_true(*fd >= 0);
	file = fdopen(dup(*fd), "w");
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	return file;
}

static void read_string(int fd, uint64_t at, uint64_t bytes, const char *want)
{
	char text[64] = "";

	assert_true(bytes < sizeof(text));
	assert_int_equal(pread(fd, text, bytes, (off_t)at), bytes);
	assert_memory_equal(text, want, strlen(want));
	assert_int_equal(bytes, strlen(want));
}

static void test_dump_records(void **state)
{
	struct jit_dump dump = {0};
	struct jit_dump_record record;
	FILE *file;
	int fd;

	(void)state;
	file = dump_file(&fd);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 0);
	jit_files_header(file, JIT_FILES_MACHINE, 0);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 0);
	jit_files_load(file, 100, 0x1000, "first", "code", 4);
	jit_files_u32(file, 2); /* source lines */
	jit_files_u32(file, 24);
	jit_files_u64(file, 150);
	jit_files_u64(file, 0);
	jit_files_move(file, 200, 0x1000, 0x2000, 4);
	/* Invalid records are skipped. */
	jit_files_load(file, 210, UINT64_MAX - 2, "second", "code", 4);
	jit_files_u32(file, 0);
	jit_files_u32(file, 20);
	jit_files_u64(file, 220);
	jit_files_u32(file, 0);
	assert_int_equal(jit_dump_next(&dump, fd, 99, &record), 0);
	assert_int_equal(jit_dump_next(&dump, fd, 100, &record), 1);
	assert_int_equal(record.kind, JIT_DUMP_LOAD);
	assert_int_equal(record.time_ns, 100);
	assert_int_equal(record.start, 0x1000);
	assert_int_equal(record.bytes, 4);
	read_string(fd, record.name_at, record.name_bytes, "first");
	read_string(fd, record.code_at, record.bytes, "code");
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 1);
	assert_int_equal(record.kind, JIT_DUMP_OTHER);
	assert_int_equal(jit_dump_next(&dump, fd, 199, &record), 0);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 1);
	assert_int_equal(record.kind, JIT_DUMP_MOVE);
	assert_int_equal(record.from, 0x1000);
	assert_int_equal(record.start, 0x2000);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 1);
	assert_int_equal(record.kind, JIT_DUMP_OTHER);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 1);
	assert_int_equal(record.kind, JIT_DUMP_OTHER);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 0);
	/* A partial record is not read yet; a record without a length ends the file. */
	jit_files_u32(file, 3);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 0);
	jit_files_u32(file, 1000);
	jit_files_u64(file, 300);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 0);
	for (int i = 0; i < 984 / 8; i++)
		jit_files_u64(file, 0);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), 1);
	for (int i = 0; i < 8; i++)
		jit_files_u64(file, 0);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), -EBADMSG);
	fclose(file);
	close(fd);
}

static void test_dump_headers(void **state)
{
	struct jit_dump_record record;
	struct jit_dump dump = {0};
	FILE *file;
	int fd;

	(void)state;
	file = dump_file(&fd);
	jit_files_header(file, EM_68K, 0);
	assert_int_equal(jit_dump_next(&dump, fd, UINT64_MAX, &record), -ENOEXEC);
	fclose(file);
	close(fd);
	/* Times of another clock are ignored. */
	dump = (struct jit_dump){0};
	file = dump_file(&fd);
	jit_files_header(file, JIT_FILES_MACHINE, 1);
	jit_files_load(file, UINT64_MAX, 0x1000, "first", "code", 4);
	assert_int_equal(jit_dump_next(&dump, fd, 5, &record), 1);
	assert_int_equal(record.time_ns, 0);
	fclose(file);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_grows),
		cmocka_unit_test(test_map_is_rewritten),
		cmocka_unit_test(test_map_is_rewritten_in_place),
		cmocka_unit_test(test_large_map_is_rewritten_in_place),
		cmocka_unit_test(test_map_is_read_up_to_a_limit),
		cmocka_unit_test(test_map_budget),
		cmocka_unit_test(test_map_check_is_charged),
		cmocka_unit_test(test_map_malformed),
		cmocka_unit_test(test_dump_records),
		cmocka_unit_test(test_dump_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
