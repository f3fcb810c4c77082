// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call stacks of recordings: layouts of perf, and files that perf never writes. A stack of a sample
 * is compared with the frames that were written. (tests/cli/cli_import_stacks.sh has real ones.)
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/import/import.h"
#include "db/profile_read.h"
#include "db/profile_recording.h"
#include "db/profile_write.h"
#include "lib/error.h"
#include "tests/fixtures/perfdata_writer.h"

#define PID 100
#define BASE 0x400000
#define IMAGE_BYTES 0x10000
#define NOWHERE 0x7000000
#define KERNEL_ADDRESS 0xffffffff81000000
#define NODES_MAX 4096
#define FRAMES_MAX 64
#define USER PERF_RECORD_MISC_USER
#define KERNEL PERF_RECORD_MISC_KERNEL

struct fixture {
	char db[64];
	char file[32];
	int fd;
	struct profile_writer *writer;
	struct import_result result;
	struct error err;
	struct perfdata_writer recording;
	uint64_t time_ns;
};

/* The stored tree; @unknown: the node is in the image of unknown samples. */
struct tree {
	struct profile_reader *reader;
	uint64_t rows[NODES_MAX][PROFILE_STACK_COLUMNS];
	bool unknown[NODES_MAX];
	size_t count;
	uint64_t stacks;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	snprintf(fixture->db, sizeof(fixture->db), "/tmp/unit_import_stacks.%d.db", getpid());
	assert_int_equal(profile_writer_open(&fixture->writer, fixture->db, &fixture->err), 0);
	fixture->fd = memfd_create("perf.data", 0);
	assert_true(fixture->fd >= 0);
	snprintf(fixture->file, sizeof(fixture->file), "/proc/self/fd/%d", fixture->fd);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	static const char *const suffixes[] = {"", "-lock", "-wal", "-shm"};
	struct fixture *fixture = *state;
	char path[80];

	profile_writer_close(fixture->writer);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", fixture->db, suffixes[i]);
		unlink(path);
	}
	close(fixture->fd);
	perfdata_writer_free(&fixture->recording);
	free(fixture);
	return 0;
}

static void begin(struct fixture *fixture, const struct perf_event_attr *stacks)
{
	perfdata_writer_free(&fixture->recording);
	fixture->recording.stacks = stacks;
	fixture->time_ns = 10;
	perfdata_writer_begin(&fixture->recording, 1, 0);
	perfdata_writer_task(&fixture->recording, PERF_RECORD_FORK, PID, 1, fixture->time_ns++);
	perfdata_writer_map(&fixture->recording, PID, fixture->time_ns++, BASE, IMAGE_BYTES, 0, 1);
}

static void sample(struct fixture *fixture, uint16_t misc, uint64_t ip, const uint64_t *words,
		   size_t count)
{
	perfdata_writer_stack(&fixture->recording, misc, PID, fixture->time_ns++, ip, words,
			      count * sizeof(*words));
}

static int tree_take(void *context, const struct profile_recording *recording)
{
	const struct profile_recording_table *table = &recording->tables[PROFILE_STACKS_NODES];
	struct tree *tree = context;
	struct profile_image image;
	struct error err;

	assert_int_equal(recording->tables[PROFILE_STACKS_HEAD].values[PROFILE_STACKS_EVERY], 1);
	assert_int_equal(profile_reader_image(tree->reader, recording->image, &image, &err), 0);
	for (size_t i = 0; i < table->rows; i++) {
		const uint64_t *row = profile_recording_row(table, i);

		assert_true(tree->count < NODES_MAX);
		memcpy(tree->rows[tree->count], row, sizeof(tree->rows[0]));
		tree->unknown[tree->count++] = image.kind == PROFILE_IMAGE_UNKNOWN;
		tree->stacks += row[PROFILE_STACK_STACKS];
	}
	return 0;
}

/* Import, and check that each sample has one stack. */
static void import(struct fixture *fixture, struct tree *tree)
{
	struct profile_filter filter = {.epochs = &fixture->result.epoch, .epoch_count = 1};
	struct perfdata_writer *recording = &fixture->recording;
	struct error err;

	perfdata_writer_end(recording);
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(pwrite(fixture->fd, recording->bytes, recording->used, 0),
			 (ssize_t)recording->used);
	assert_int_equal(
		import_file(fixture->writer, fixture->file, NULL, &fixture->result, &fixture->err),
		0);
	memset(tree, 0, sizeof(*tree));
	assert_int_equal(profile_reader_open(&tree->reader, fixture->db, &err), 0);
	assert_int_equal(profile_reader_recordings(tree->reader, &filter, PROFILE_RECORDING_STACKS,
						   tree_take, tree, &err),
			 0);
	profile_reader_close(tree->reader);
	assert_int_equal(fixture->result.stacks, fixture->result.samples);
	assert_int_equal(tree->stacks, fixture->result.stacks);
}

static size_t node_find(const struct tree *tree, uint64_t number)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->rows[i][PROFILE_STACK_NODE] == number)
			return i;
	}
	fail_msg("the tree has no node %llu", (unsigned long long)number);
	return 0;
}

/* Write the only stack of a tree: its frames, innermost first, and the reason of its end. */
static size_t stack_of(const struct tree *tree, uint64_t frames[FRAMES_MAX],
		       enum profile_stack_end *end)
{
	uint64_t number = 0;
	size_t count = 0;

	*end = PROFILE_STACK_COMPLETE;
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->rows[i][PROFILE_STACK_STACKS] == 1)
			number = tree->rows[i][PROFILE_STACK_NODE];
	}
	while (number != 0) {
		size_t i = node_find(tree, number);

		assert_true(count < FRAMES_MAX);
		frames[count++] = tree->rows[i][PROFILE_STACK_OFFSET];
		number = tree->rows[i][PROFILE_STACK_PARENT];
		if (number == 0 && tree->unknown[i]) {
			*end = (enum profile_stack_end)tree->rows[i][PROFILE_STACK_OFFSET];
			count--;
		}
	}
	return count;
}

/* One sample: its frames in the image, innermost first, and its reason. */
static void expect(struct fixture *fixture, enum profile_stack_end end, const uint64_t *want,
		   size_t count)
{
	enum profile_stack_end got;
	uint64_t frames[FRAMES_MAX];
	struct tree tree;

	import(fixture, &tree);
	assert_int_equal(stack_of(&tree, frames, &got), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(frames[i], want[i]);
	assert_int_equal(got, end);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXPECT(fixture, end, ...)                                                                  \
	expect(fixture, end, (const uint64_t[]){__VA_ARGS__}, COUNT(((uint64_t[]){__VA_ARGS__})))

static const struct perf_event_attr chains = {.sample_type = PERF_SAMPLE_CALLCHAIN};

/* Callers are found at the call, the byte before the return address; the PC is the sample's. */
static void chain_of_user_space(void **state)
{
	const uint64_t words[] = {4, PERF_CONTEXT_USER, BASE + 0x10, BASE + 0x25, BASE + 0x31};

	begin(*state, &chains);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_CHAIN, 0x10, 0x24, 0x30);
}

/* Here the kernel is in no image, so its frames are at offset 0 of the unknown image. */
static void chain_through_the_kernel(void **state)
{
	const uint64_t words[] = {6,
				  PERF_CONTEXT_KERNEL,
				  KERNEL_ADDRESS,
				  KERNEL_ADDRESS + 9,
				  PERF_CONTEXT_USER,
				  BASE + 0x10,
				  BASE + 0x25};

	begin(*state, &chains);
	sample(*state, KERNEL, KERNEL_ADDRESS, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_CHAIN, 0, 0, 0x10, 0x24);
}

static void chain_of_a_kernel_thread_is_complete(void **state)
{
	const uint64_t words[] = {2, PERF_CONTEXT_KERNEL, KERNEL_ADDRESS};
	struct fixture *fixture = *state;
	struct tree tree;

	begin(fixture, &chains);
	sample(fixture, KERNEL, KERNEL_ADDRESS, words, COUNT(words));
	import(fixture, &tree);
	assert_int_equal(fixture->result.complete, 1);
	assert_int_equal(tree.count, 1);
}

static void chain_of_maximum_length(void **state)
{
	const struct perf_event_attr short_chains = {.sample_type = PERF_SAMPLE_CALLCHAIN,
						     .sample_max_stack = 2};
	const uint64_t words[] = {3, PERF_CONTEXT_USER, BASE + 0x10, BASE + 0x25};

	begin(*state, &short_chains);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_FRAMES, 0x10, 0x24);
}

static void chain_leaves_the_images(void **state)
{
	const uint64_t words[] = {4, PERF_CONTEXT_USER, BASE + 0x10, NOWHERE, BASE + 0x31};

	begin(*state, &chains);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_BAD_ADDRESS, 0x10);
}

/* A user program can write any address to its stack: the kernel is not its caller. */
static void kernel_address_in_user_space(void **state)
{
	const uint64_t words[] = {3, PERF_CONTEXT_USER, BASE + 0x10, KERNEL_ADDRESS};

	begin(*state, &chains);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_BAD_ADDRESS, 0x10);
}

static void empty_and_deferred_chains(void **state)
{
	const uint64_t none[] = {0}, deferred[] = {2, (uint64_t)-640, 77};

	begin(*state, &chains);
	sample(*state, USER, BASE + 0x10, none, COUNT(none));
	EXPECT(*state, PROFILE_STACK_CHAIN, 0x10);
	begin(*state, &chains);
	sample(*state, USER, BASE + 0x20, deferred, COUNT(deferred));
	EXPECT(*state, PROFILE_STACK_CHAIN, 0x20);
}

/* Recursion and equal addresses are frames like others; a long chain ends with its reason. */
static void chain_with_a_loop(void **state)
{
	static uint64_t words[4000];
	struct fixture *fixture = *state;
	struct tree tree;

	words[0] = COUNT(words) - 1;
	words[1] = PERF_CONTEXT_USER;
	for (size_t i = 2; i < COUNT(words); i++)
		words[i] = BASE + 0x10;
	begin(fixture, &chains);
	sample(fixture, USER, BASE + 0x10, words, COUNT(words));
	import(fixture, &tree);
	assert_int_equal(fixture->result.complete, 0);
	assert_int_equal(tree.count, 1024 + 1);
}

/* Counters, raw data and the index of branch records are between the chain and the registers. */
static void fields_of_other_sizes(void **state)
{
	const struct perf_event_attr all = {
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 7,
	};
	const uint64_t words[] = {
		2,
		0,
		1,
		2,
		3,
		4,
		5,
		6, /* two counters: value, id, lost */
		2,
		PERF_CONTEXT_USER,
		BASE + 0x10, /* chain */
		(uint64_t)0xabababab << 32 | 12,
		7, /* raw data: its size, and 12 bytes */
		2,
		1,
		BASE + 0x44,
		BASE + 0x10,
		0,
		BASE + 0x55,
		BASE + 0x40,
		0, /* branches */
		PERF_SAMPLE_REGS_ABI_64,
		1,
		2,
		3,
	};

	begin(*state, &all);
	sample(*state, USER, BASE + 0x12, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_CHAIN, 0x12, 0x44, 0x55);
}

#if defined(__x86_64__)
/* The registers of perf record --call-graph dwarf; without call frame information: frame records */
static void copied_stack(void **state)
{
	const struct perf_event_attr copies = {
		.sample_type =
			PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.exclude_callchain_user = 1,
		.sample_regs_user = 0xff0fff,
		.sample_stack_user = 48,
	};
	const uint64_t sp = 0x7fff0000;
	const uint64_t words[] = {
		0,	     PERF_SAMPLE_REGS_ABI_64,
		0,	     1,
		2,	     3,
		4,	     5,
		sp + 16,     sp,
		BASE + 0x10, 9,
		10,	     11,
		16,	     17,
		18,	     19,
		20,	     21,
		22,	     23, /* registers */
		48,	     1,
		2,	     sp + 32,
		BASE + 0x25, 0,
		BASE + 0x31, 48, /* two frame records */
	};

	begin(*state, &copies);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_COMPLETE, 0x10, 0x24, 0x30);
}
#endif

/* Each stack of a damaged record has a reason, and the sample stays. */
static void damaged_records(void **state)
{
	const struct perf_event_attr all = {
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.read_format = PERF_FORMAT_GROUP,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 0xff0fff,
	};
	static const uint64_t hostile[] = {0,
					   1,
					   2,
					   3,
					   8,
					   0xff,
					   0xffff,
					   0x10000,
					   1ULL << 32,
					   1ULL << 61,
					   INT64_MAX,
					   UINT64_MAX,
					   PERF_CONTEXT_USER};
	struct fixture *fixture = *state;
	uint64_t seed = 46;
	struct tree tree;

	begin(fixture, &all);
	for (int i = 0; i < 3000; i++) {
		uint64_t words[40];
		size_t count = unit_random(&seed) % COUNT(words);

		for (size_t j = 0; j < count; j++)
			words[j] = unit_random(&seed) % 3 != 0
					   ? hostile[unit_random(&seed) % COUNT(hostile)]
					   : BASE + unit_random(&seed) % IMAGE_BYTES;
		sample(fixture, unit_random(&seed) % 2 != 0 ? USER : KERNEL,
		       unit_random(&seed) % 2 != 0 ? BASE + 1 : KERNEL_ADDRESS, words, count);
	}
	import(fixture, &tree);
	assert_int_equal(fixture->result.samples, 3000);
}

static void damaged_record_has_a_reason(void **state)
{
	const uint64_t words[] = {UINT64_MAX / 8 + 2, PERF_CONTEXT_USER, BASE + 0x10};

	begin(*state, &chains);
	sample(*state, USER, BASE + 0x10, words, COUNT(words));
	EXPECT(*state, PROFILE_STACK_DAMAGED, 0x10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chain_of_user_space, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_through_the_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_of_a_kernel_thread_is_complete, setup,
						teardown),
		cmocka_unit_test_setup_teardown(chain_of_maximum_length, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_leaves_the_images, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_address_in_user_space, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_and_deferred_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_with_a_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(fields_of_other_sizes, setup, teardown),
#if defined(__x86_64__)
		cmocka_unit_test_setup_teardown(copied_stack, setup, teardown),
#endif
		cmocka_unit_test_setup_teardown(damaged_records, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_record_has_a_reason, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
