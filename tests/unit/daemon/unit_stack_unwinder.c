// SPDX-License-Identifier: GPL-2.0-only
/*
 * The unwinder of sampled stacks: ends of call chains, and the limits of the CPU time and memory of
 * tables.
 * The only image is the test program itself, and addresses are offsets in its file.
 */
#include "tests/lib/unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/stack_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/image/image_table.h"
#include "daemon/source/source_stack.h"
#include "db/profile_recording.h"
#include "db/profile_write.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "loader-hook/build_id.h"
#include "tests/lib/patience.h"

#define NODES_MAX 1024
/* Addresses of the C library, and of no image. */
#define LIBRARY (UINT64_C(1) << 32)
#define NOWHERE (UINT64_C(1) << 40)
/* Addresses of anonymous memory, as of JIT code. */
#define ANONYMOUS (UINT64_C(1) << 41)
/* No call frame information describes the header of the file. */
#define UNDESCRIBED UINT64_C(0x20)
#define STACK UINT64_C(0x7fff0000)

struct fixture {
	struct image_table *images;
	uint32_t self;
	uint32_t library;
	uint64_t entry;
	struct stack_unwinder *unwinder;
};

static struct image_place place_of(void *context, uint64_t tag, uint64_t pc)
{
	const struct fixture *fixture = context;
	struct image_place place = {.image = IMAGE_UNKNOWN, .unknown = IMAGE_UNKNOWN_ADDRESS};

	(void)tag;
	if (pc < NOWHERE) {
		place.image = pc < LIBRARY ? fixture->self : fixture->library;
		place.offset = pc % LIBRARY;
	}
	if (pc >= ANONYMOUS)
		place.unknown = IMAGE_UNKNOWN_ANONYMOUS;
	return place;
}

static uint32_t root_of(void *context, uint32_t pid)
{
	(void)context;
	(void)pid;
	return 0;
}

/* Tags of stacks: that of the profiler's process, and another one. */
enum {
	TAG_OTHER,
	TAG_PROFILER,
};

static bool is_profiler(void *context, uint64_t tag)
{
	(void)context;
	return tag == TAG_PROFILER;
}

static void unwinder_renew(struct fixture *fixture, size_t table_bytes, uint32_t permille,
			   uint64_t start_ns)
{
	const struct stack_unwinder_code code = {
		.place = place_of,
		.uid = root_of,
		.is_profiler = is_profiler,
		.context = fixture,
		.images = fixture->images,
		.table_bytes = table_bytes,
		.held_bytes = STACK_UNWINDER_HELD_BYTES,
		.off_cpu = true,
		.build_permille = permille,
		.build_start_ns = start_ns,
	};

	stack_unwinder_destroy(fixture->unwinder);
	fixture->unwinder = stack_unwinder_create(&code, NODES_MAX);
	assert_non_null(fixture->unwinder);
}

static uint32_t image_add(struct fixture *fixture, const char *name, Elf64_Ehdr *head)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE,
				      .identity_kind = PROFILE_IDENTITY_BUILD_ID};
	char *path = realpath(name, NULL);
	struct build_id build_id;
	int fd, number;

	assert_non_null(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, head, sizeof(*head), 0), (ssize_t)sizeof(*head));
	assert_int_equal(build_id_from_file(&build_id, fd), 0);
	close(fd);
	image.path = path;
	image.identity_bytes = build_id.bytes;
	memcpy(image.identity, build_id.data, build_id.bytes);
	number = image_table_add(fixture->images, &image);
	assert_true(number >= 0);
	free(path);
	return (uint32_t)number;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;
	Elf64_Ehdr head;
	Dl_info library;

	assert_non_null(fixture);
	assert_int_equal(image_table_create(&fixture->images, &err), 0);
	assert_true(dladdr((const void *)(uintptr_t)gnu_get_libc_version, &library) != 0);
	fixture->library = image_add(fixture, library.dli_fname, &head);
	fixture->self = image_add(fixture, "/proc/self/exe", &head);
	fixture->entry = head.e_entry;
	unwinder_renew(fixture, STACK_UNWINDER_TABLE_BYTES, 0, 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	stack_unwinder_destroy(fixture->unwinder);
	image_table_destroy(fixture->images);
	free(fixture);
	return 0;
}

static uint64_t count_of(const struct fixture *fixture, const char *name)
{
	struct counter_set tally = {.count = 0};

	stack_unwinder_counters(fixture->unwinder, &tally);
	return counter_set_get(&tally, "stat", name);
}

static void chain_add(struct fixture *fixture, const uint64_t *addresses, size_t count, bool full)
{
	const struct source_stack stack = {
		.user_allowed = true,
		.has_chain = true,
		.chain = addresses,
		.chain_count = count,
		.chain_full = full,
	};

	stack_unwinder_add(fixture->unwinder, &stack);
	stack_unwinder_finish(fixture->unwinder, true);
}

/* _start has no caller: its call frame information says so. The address is that of the call. */
static void chain_ends_at_the_outermost_frame(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t whole[] = {fixture->entry + 64, fixture->entry + 2};
	const uint64_t part[] = {fixture->entry + 64, (uint64_t)(uintptr_t)0x40};

	chain_add(fixture, whole, 2, false);
	assert_int_equal(count_of(fixture, "stacks_complete"), 1);
	chain_add(fixture, whole, 2, true);
	assert_int_equal(count_of(fixture, "stacks_complete"), 2);
	chain_add(fixture, part, 2, false);
	assert_int_equal(count_of(fixture, "stacks_chain"), 1);
	chain_add(fixture, part, 2, true);
	assert_int_equal(count_of(fixture, "stacks_frames"), 1);
	assert_int_equal(count_of(fixture, "unwind_tables"), 1);
	assert_int_equal(count_of(fixture, "stacks"), 4);
}

static void chain_leaves_the_images(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t addresses[] = {fixture->entry, NOWHERE + 16, fixture->entry + 2};

	chain_add(fixture, addresses, 3, false);
	assert_int_equal(count_of(fixture, "stacks_bad_address"), 1);
}

/* Add a stack of two frame records. @callers: return addresses */
static void records_add(struct fixture *fixture, uint64_t pc, const uint64_t callers[2])
{
	const struct unwind_machine *machine = unwind_machine_here();
	const uint64_t memory[] = {STACK + 16, callers[0], STACK + 32, callers[1], 0, 0};
	struct source_stack stack = {
		.user_allowed = true,
		.registers = {.pc = pc,
			      .known = UINT32_C(1) << machine->sp | UINT32_C(1) << machine->fp},
		.stack = (const uint8_t *)memory,
		.stack_bytes = sizeof(memory),
	};

	stack.registers.reg[machine->sp] = stack.registers.reg[machine->fp] = STACK;
	stack_unwinder_add(fixture->unwinder, &stack);
	stack_unwinder_finish(fixture->unwinder, true);
}

/* Code that its image does not describe is left by its record, but only to the outermost frame. */
static void undescribed_code_is_left_by_its_record(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t whole[] = {UNDESCRIBED, fixture->entry + 3},
		       part[] = {UNDESCRIBED, NOWHERE + 16};
	const uint64_t end[] = {UNDESCRIBED, UNDESCRIBED};

	records_add(fixture, ANONYMOUS, whole);
	assert_int_equal(count_of(fixture, "stacks_complete"), 1);
	assert_int_equal(count_of(fixture, "stack_frames"), 3);
	/* The frame of the return address is not in the stack. */
	records_add(fixture, ANONYMOUS, part);
	assert_int_equal(count_of(fixture, "stacks_no_rule"), 1);
	assert_int_equal(count_of(fixture, "stack_frames"), 3 + 2);
	/* Its own record may not exist yet. */
	records_add(fixture, UNDESCRIBED, whole);
	assert_int_equal(count_of(fixture, "stacks_no_rule"), 2);
	assert_int_equal(count_of(fixture, "stack_frames"), 3 + 2 + 1);
	/* The last record does not show that its frame is the outermost one. */
	records_add(fixture, ANONYMOUS, end);
	assert_int_equal(count_of(fixture, "stacks_no_rule"), 3);
}

/* After the first table has used the time, a stack that needs another one ends, and does not wait.
 */
static void tables_are_limited(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t first[] = {fixture->entry + 2}, second[] = {LIBRARY + fixture->entry};
	uint64_t end_ns = patience_end_ns();

	/* If the first table takes a long time, a thousandth of it is enough for the second one. */
	do {
		unwinder_renew(fixture, STACK_UNWINDER_TABLE_BYTES, 1, 0);
		while (count_of(fixture, "stacks_complete") == 0 && clock_monotonic_ns() < end_ns)
			chain_add(fixture, first, 1, false);
		chain_add(fixture, second, 1, false);
	} while (count_of(fixture, "unwind_tables_postponed") == 0 &&
		 clock_monotonic_ns() < end_ns);
	assert_true(count_of(fixture, "unwind_tables_postponed") > 0);
	assert_int_equal(count_of(fixture, "unwind_tables"), 1);
	assert_true(count_of(fixture, "stacks_waiting") > 0);
	unwinder_renew(fixture, STACK_UNWINDER_TABLE_BYTES, 1, NS_PER_SECOND);
	chain_add(fixture, first, 1, false);
	chain_add(fixture, second, 1, false);
	assert_int_equal(count_of(fixture, "unwind_tables"), 2);
	assert_int_equal(count_of(fixture, "unwind_tables_postponed"), 0);
}

/* All frames of the stacks of a process of the profiler are below a frame that says so. */
static void stacks_of_the_profiler_have_a_root(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t chain[] = {NOWHERE + 16};
	struct source_stack stack = {
		.user_allowed = true, .has_chain = true, .chain = chain, .chain_count = 1};
	const struct stack_store_node *nodes;
	uint32_t count;

	stack.tag = TAG_OTHER;
	stack_unwinder_add(fixture->unwinder, &stack);
	nodes = stack_store_nodes(stack_unwinder_store(fixture->unwinder), &count);
	assert_int_equal(count, 2);
	assert_int_equal(nodes[1].frame.offset, PROFILE_STACK_BAD_ADDRESS);
	stack.tag = TAG_PROFILER;
	stack_unwinder_add(fixture->unwinder, &stack);
	nodes = stack_store_nodes(stack_unwinder_store(fixture->unwinder), &count);
	assert_int_equal(count, 4);
	assert_int_equal(nodes[2].frame.image, IMAGE_UNKNOWN);
	assert_int_equal(nodes[2].frame.offset, PROFILE_STACK_OF_PROFILER);
	assert_int_equal(nodes[2].parent, 0);
	assert_int_equal(nodes[3].frame.offset, PROFILE_STACK_BAD_ADDRESS);
	assert_int_equal(nodes[3].parent, 2);
	assert_int_equal(nodes[3].weight, 1);
	assert_int_equal(count_of(fixture, "stacks_bad_address"), 2);
}

/* Add chains that end in the C library and in the program, in many pages. */
static void chains_add(struct fixture *fixture)
{
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t library[] = {fixture->entry, LIBRARY + (i * 5 % 64 << 14)},
			       self[] = {fixture->entry, fixture->entry + 2};

		chain_add(fixture, library, 2, false);
		chain_add(fixture, self, 2, false);
	}
}

/* With memory for some pages, stacks end as they do with memory for all of them. */
static void evicted_pages_are_built_again(void **state)
{
	struct fixture *fixture = *state;
	uint64_t chains, complete;

	chains_add(fixture);
	assert_int_equal(count_of(fixture, "unwind_pages_evicted"), 0);
	assert_int_equal(count_of(fixture, "stacks"), 80);
	chains = count_of(fixture, "stacks_chain");
	complete = count_of(fixture, "stacks_complete");
	assert_true(complete >= 40);
	/* The rules alone take half of it. */
	unwinder_renew(fixture, (size_t)40 << 10, 0, 0);
	chains_add(fixture);
	assert_true(count_of(fixture, "unwind_pages_evicted") > 0);
	assert_true(count_of(fixture, "unwind_tables") > 2);
	assert_int_equal(count_of(fixture, "stacks"), 80);
	assert_int_equal(count_of(fixture, "stacks_chain"), chains);
	assert_int_equal(count_of(fixture, "stacks_complete"), complete);
	assert_true(stack_unwinder_bytes(fixture->unwinder) < ((size_t)1 << 20));
}

/* An interval is stored by the states of its parts, and is one stack. */
static void off_cpu_time_is_stored_by_state(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t addresses[] = {fixture->entry + 64, fixture->entry + 2};
	const struct source_stack stack = {
		.user_allowed = true,
		.has_chain = true,
		.chain = addresses,
		.chain_count = 2,
		.is_off_cpu = true,
		.off_cpu_ns = {[OFF_CPU_RUNNABLE] = 30, [OFF_CPU_LOCK] = 400},
	};
	const struct stack_store_node *nodes;
	uint64_t stacks = 0, by_state[OFF_CPU_STATES] = {0};
	uint32_t count;

	stack_unwinder_add(fixture->unwinder, &stack);
	stack_unwinder_finish(fixture->unwinder, true);
	nodes = stack_store_nodes(stack_unwinder_off_cpu(fixture->unwinder), &count);
	assert_int_equal(count, 1 + 2 + 2);
	for (uint32_t i = 1; i < count; i++) {
		uint64_t offset = nodes[i].frame.offset;

		stacks += nodes[i].stacks;
		assert_true((nodes[i].weight > 0) == (nodes[i].frame.image == IMAGE_UNKNOWN));
		if (nodes[i].frame.image == IMAGE_UNKNOWN)
			by_state[offset - PROFILE_OFF_CPU_RUNNABLE] = nodes[i].weight;
	}
	assert_int_equal(stacks, 1);
	assert_int_equal(by_state[OFF_CPU_RUNNABLE], 30);
	assert_int_equal(by_state[OFF_CPU_LOCK], 400);
	assert_int_equal(count_of(fixture, "stacks"), 0);
	assert_int_equal(count_of(fixture, "off_cpu_stacks"), 1);
	assert_int_equal(count_of(fixture, "off_cpu_stacks_complete"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chain_ends_at_the_outermost_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(chain_leaves_the_images, setup, teardown),
		cmocka_unit_test_setup_teardown(undescribed_code_is_left_by_its_record, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stacks_of_the_profiler_have_a_root, setup,
						teardown),
		cmocka_unit_test_setup_teardown(off_cpu_time_is_stored_by_state, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(evicted_pages_are_built_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
