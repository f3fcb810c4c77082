// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perf maps and jitdumps that another process parses: the same lines and records as those parsed
 * here. A process that crashes, does not answer or sends an invalid message costs one request.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/jit/jit_parser.h"
#include "lib/broker.h"
#include "lib/clock.h"
#include "tests/fixtures/jit_files.h"

#define LINES 5000
#define UNTIL 1000

/* Lines or records, as text. */
struct seen {
	char *text;
	size_t bytes;
	FILE *stream;
};

static void seen_open(struct seen *seen)
{
	seen->stream = open_memstream(&seen->text, &seen->bytes);
	assert_non_null(seen->stream);
}

static void line_see(void *context, const struct jit_map_line *line)
{
	fprintf(context, "%lx %lx %lu %.*s\n", (unsigned long)line->start,
		(unsigned long)line->bytes, (unsigned long)line->name_at, (int)line->name_bytes,
		line->name);
}

static void record_see(void *context, const struct jit_dump_record *record, const char *name)
{
	fprintf(context, "%d %lu %lx %lx %lx %.*s\n", record->kind, (unsigned long)record->time_ns,
		(unsigned long)record->start, (unsigned long)record->bytes,
		(unsigned long)record->code_at, (int)record->name_bytes,
		record->kind == JIT_DUMP_LOAD ? name : "");
}

/* Compare two lists of lines or records, and free both. */
static void seen_equal(struct seen *seen, struct seen *expected)
{
	fclose(seen->stream);
	fclose(expected->stream);
	assert_int_equal(seen->bytes, expected->bytes);
	assert_memory_equal(seen->text, expected->text, seen->bytes);
	free(seen->text);
	free(expected->text);
}

/*
 * Return: a map with lines of all lengths, some of them malformed. Its time is in the future, so
 * that each read compares chunks, at any time of the test.
 */
static int map_make(void)
{
	const struct timespec times[2] = {{0, UTIME_OMIT}, {INT32_MAX, 0}};
	int fd = memfd_create("map", 0);
	FILE *file = fdopen(dup(fd), "w");
	uint64_t seed = 7;

	assert_non_null(file);
	for (unsigned int i = 0; i < LINES; i++) {
		unsigned int length = (unsigned int)(unit_random(&seed) % 700);

		fprintf(file, i % 10 == 3 ? "x%x %x " : "%x %x ", i << 8, i % 256);
		for (unsigned int j = 0; j < length; j++)
			fputc('a' + (int)(unit_random(&seed) % 26), file);
		fputc('\n', file);
	}
	fclose(file);
	assert_int_equal(futimens(fd, times), 0);
	return fd;
}

static int dump_make(void)
{
	int fd = memfd_create("dump", 0);
	FILE *file = fdopen(dup(fd), "w");
	char name[32];

	assert_non_null(file);
	jit_files_header(file, JIT_FILES_MACHINE, 0);
	for (unsigned int i = 0; i < LINES; i++) {
		snprintf(name, sizeof(name), "procedure %u", i);
		jit_files_load(file, i, 0x1000 + i * 64, i % 9 == 0 ? "" : name, "code", 4);
		if (i % 7 == 0)
			jit_files_move(file, i, 0x1000 + i * 64, 0x900000 + i * 64, 4);
	}
	fclose(file);
	return fd;
}

static void map_is_the_same(struct jit_parser *parser, int fd)
{
	const struct jit_map_reader reader = {.scan = jit_parser_map, .context = parser};
	struct jit_map here = {0}, there = {0};
	struct seen seen, expected;

	seen_open(&seen);
	seen_open(&expected);
	for (int i = 0; i < 20; i++) {
		size_t budget = 200000, same = budget;

		assert_int_equal(jit_map_read(&here, fd, NULL, &budget, line_see, expected.stream),
				 0);
		assert_int_equal(jit_map_read(&there, fd, &reader, &same, line_see, seen.stream),
				 0);
		assert_int_equal(same, budget);
		assert_int_equal(there.position, here.position);
	}
	assert_true(there.at_end);
	assert_int_equal(there.sum_count, here.sum_count);
	assert_memory_equal(there.sums, here.sums, here.sum_count * sizeof(here.sums[0]));
	seen_equal(&seen, &expected);
	jit_map_deinit(&here);
	jit_map_deinit(&there);
}

static void dump_is_the_same(struct jit_parser *parser, int fd)
{
	struct jit_dump here = {0}, there = {0};
	struct seen seen, expected;
	int r = 1;

	seen_open(&seen);
	seen_open(&expected);
	while (r == 1) {
		size_t records = 999, same = records;

		r = jit_dump_scan(&here, fd, UNTIL, &records, record_see, expected.stream);
		assert_int_equal(
			jit_parser_dump(parser, &there, fd, UNTIL, &same, record_see, seen.stream),
			r);
		assert_int_equal(same, records);
		assert_int_equal(there.position, here.position);
	}
	assert_int_equal(r, 0);
	seen_equal(&seen, &expected);
}

static void files_are_the_same(void **state)
{
	struct jit_parser parser = {.cpu_ns = 0};
	int map = map_make(), dump = dump_make();

	(void)state;
	map_is_the_same(&parser, map);
	dump_is_the_same(&parser, dump);
	assert_true(parser.cpu_ns > 0);
	assert_int_equal(parser.failed, 0);
	jit_parser_end(&parser);
	jit_parser_end(&parser);
	close(map);
	close(dump);
}

/* Read the first records. Return: as jit_parser_dump(). */
static int dump_read(struct jit_parser *parser, int fd)
{
	struct jit_dump dump = {0};
	size_t records = 10;
	char text[4096];
	FILE *ignored = fmemopen(text, sizeof(text), "w");
	int r = jit_parser_dump(parser, &dump, fd, UNTIL, &records, record_see, ignored);

	fclose(ignored);
	assert_true(r == 1 || dump.position == 0);
	return r;
}

static void failure_costs_one_request(void **state)
{
	struct jit_parser parser = {.cpu_ns = 0};
	int fd = dump_make();
	uint64_t began_ns;

	(void)state;
	assert_int_equal(dump_read(&parser, fd), 1);
	kill(parser.process.pid, SIGSEGV);
	waitid(P_PID, (id_t)parser.process.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	assert_int_equal(dump_read(&parser, fd), 1);
	assert_int_equal(parser.failed, 0);
	kill(parser.process.pid, SIGSTOP);
	began_ns = clock_monotonic_ns();
	assert_int_equal(dump_read(&parser, fd), -EIO);
	assert_true(clock_monotonic_ns() - began_ns >= JIT_PARSER_MS * NS_PER_MS);
	assert_int_equal(parser.failed, 1);
	assert_int_equal(parser.process.pid, 0);
	assert_int_equal(dump_read(&parser, fd), 1);
	jit_parser_end(&parser);
	close(fd);
}

/* A process that answers the first request with the messages of a test. */
struct liar {
	struct jit_parser parser;
	int socket;
};

static void liar_init(struct liar *liar)
{
	int ends[2];
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	liar->parser = (struct jit_parser){.process = {.pid = child, .socket = ends[0]}};
	liar->socket = ends[1];
}

static void liar_send(struct liar *liar, enum broker_operation operation,
		      enum jit_parser_flags flags, const void *data, size_t bytes)
{
	struct broker_packet packet;

	broker_packet_init(&packet, operation);
	packet.message.flags = flags;
	packet.message.bytes = (uint32_t)bytes;
	if (bytes > 0)
		memcpy(packet.message.data, data, bytes);
	assert_int_equal(broker_send(liar->socket, &packet), 0);
}

static void lie_is_found(struct liar *liar, int r)
{
	assert_int_equal(r, -EIO);
	assert_int_equal(liar->parser.failed, 1);
	assert_int_equal(liar->parser.process.pid, 0);
	close(liar->socket);
}

static void line_ignore(void *context, const struct jit_map_line *line)
{
	++*(int *)context;
	assert_true(jit_map_line_is_valid(line));
}

/* A message has two lines, and the second one is not possible. @name: its 4 bytes */
static void line_is_refused(const struct jit_parser_item *bad, const char *name)
{
	const struct jit_parser_item good = {.start = 1, .bytes = 1, .at = 104, .name_bytes = 4};
	const struct jit_map_request request = {.position = 100, .bytes_max = 100000};
	char data[2 * (sizeof(good) + 4)];
	struct jit_map_reply reply;
	struct liar liar;
	int lines = 0;

	memcpy(data, &good, sizeof(good));
	memcpy(data + sizeof(good), "good", 4);
	memcpy(data + sizeof(good) + 4, bad, sizeof(*bad));
	memcpy(data + sizeof(good) + 4 + sizeof(*bad), name, 4);
	liar_init(&liar);
	liar_send(&liar, BROKER_JIT_MAP, JIT_PARSER_ITEMS, data, sizeof(data));
	lie_is_found(&liar, jit_parser_map(&liar.parser, &request, STDIN_FILENO, line_ignore,
					   &lines, &reply));
	assert_int_equal(lines, 1);
}

static void impossible_lines_are_refused(void **state)
{
	static const struct jit_parser_item bad[] = {
		{.start = 1ULL << 63, .bytes = 1, .at = 200, .name_bytes = 4},
		{.start = 1, .bytes = 0, .at = 200, .name_bytes = 4},
		{.start = 1, .bytes = UINT64_MAX, .at = 200, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = 200, .name_bytes = 0},
		{.start = 1, .bytes = 1, .at = 200, .name_bytes = 5},
		{.start = 1, .bytes = 1, .at = 200, .name_bytes = UINT32_MAX},
		/* Before the previous line, or after the bytes that were to be read. */
		{.start = 1, .bytes = 1, .at = 104, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = 100098, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = UINT64_MAX, .name_bytes = 4},
	};
	const struct jit_parser_item named = {.start = 1, .bytes = 1, .at = 200, .name_bytes = 4};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		line_is_refused(&bad[i], "evil");
	line_is_refused(&named, "a\0b");
}

/* A reply about a map, after the request for its first 100,000 bytes. */
static void reply_is_refused(const struct jit_map_reply *lie, size_t bytes)
{
	const struct jit_map_request request = {.position = 0, .bytes_max = 100000};
	struct jit_map_reply reply;
	struct liar liar;

	liar_init(&liar);
	liar_send(&liar, BROKER_JIT_MAP, JIT_PARSER_RESULT, lie, bytes);
	lie_is_found(&liar, jit_parser_map(&liar.parser, &request, STDIN_FILENO, line_ignore, NULL,
					   &reply));
}

static void impossible_replies_are_refused(void **state)
{
	static const struct jit_map_reply bad[] = {
		{.position = 70000, .bytes = 65536, .sum_count = 2},
		{.position = 70000, .bytes = 100001, .sum_count = 2},
		{.position = 70000, .bytes = 80000, .sum_count = 1},
		{.position = 70000, .bytes = 80000, .sum_count = UINT32_MAX},
		{.position = 70000, .bytes = 80000, .sum_count = 2, .at_end = 2},
		{.position = 70000, .bytes = 80000, .sum_count = 2, .skipping = 2},
		/* No end, and no progress. */
		{.position = 10, .bytes = 10, .sum_count = 1},
	};
	const struct jit_map_reply good = {.position = 70000, .bytes = 80000, .sum_count = 2};
	struct liar liar;
	int lines = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		reply_is_refused(&bad[i], sizeof(bad[i]));
	reply_is_refused(&good, sizeof(good) - 1);
	/* A message without lines, and one of another request. */
	liar_init(&liar);
	liar_send(&liar, BROKER_JIT_MAP, JIT_PARSER_ITEMS, NULL, 0);
	lie_is_found(&liar, jit_parser_map(&liar.parser, &(struct jit_map_request){.bytes_max = 1},
					   STDIN_FILENO, line_ignore, &lines,
					   &(struct jit_map_reply){.position = 0}));
	liar_init(&liar);
	liar_send(&liar, BROKER_JIT_MAP, JIT_PARSER_RESULT, &good, sizeof(good));
	lie_is_found(&liar, dump_read(&liar.parser, STDIN_FILENO));
}

static void impossible_records_are_refused(void **state)
{
	static const struct jit_parser_item bad[] = {
		{.start = 1ULL << 63, .bytes = 1, .at = 1, .name_bytes = 4},
		{.start = 1, .bytes = 0, .at = 1, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = 0, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = UINT64_MAX, .name_bytes = 4},
		{.start = 1, .bytes = 1, .at = 1, .name_bytes = 4, .time_ns = UNTIL + 1},
		{.start = 1, .bytes = 1, .at = 1, .name_bytes = 4, .kind = JIT_DUMP_OTHER},
		{.start = 1, .bytes = 1, .at = 1, .name_bytes = 4, .kind = UINT32_MAX},
		{.start = 1, .bytes = 1, .at = 1, .name_bytes = 5},
	};
	const struct jit_parser_item good = {.start = 1, .bytes = 1, .kind = JIT_DUMP_MOVE};
	struct liar liar;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char data[sizeof(bad[i]) + 4] = "";

		memcpy(data, &bad[i], sizeof(bad[i]));
		liar_init(&liar);
		liar_send(&liar, BROKER_JIT_DUMP, JIT_PARSER_ITEMS, data, sizeof(data));
		lie_is_found(&liar, dump_read(&liar.parser, STDIN_FILENO));
	}
	/* One record more than were requested. */
	liar_init(&liar);
	for (int i = 0; i < 11; i++)
		liar_send(&liar, BROKER_JIT_DUMP, JIT_PARSER_ITEMS, &good, sizeof(good));
	lie_is_found(&liar, dump_read(&liar.parser, STDIN_FILENO));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_the_same),
		cmocka_unit_test(failure_costs_one_request),
		cmocka_unit_test(impossible_lines_are_refused),
		cmocka_unit_test(impossible_replies_are_refused),
		cmocka_unit_test(impossible_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
