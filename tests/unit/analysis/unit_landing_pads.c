// SPDX-License-Identifier: GPL-2.0-only
/* Landing pads of images compiled during the test, of invalid tables, and in graphs. */
#include "analysis/image/landing_pads.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/image/image_code.h"
#include "lib/cleanup.h"
#include "tests/fixtures/cfg_check.h"
#include "tests/fixtures/procedure_test.h"

#define PADS_MAX 16

/*
 * Two hand-made tables. One has LEB128 numbers, one of them longer than necessary, relative to the
 * frame. The other has 32-bit numbers relative to a base, with types, and calls without landing
 * pads. "none" has no table.
 */
static const char assembly[] = ".text\n"
			       ".globl none\n.type none,@function\n"
			       "none: .cfi_startproc\nret\n.cfi_endproc\n.size none,.-none\n"
			       ".globl leb\n.type leb,@function\n"
			       "leb: .cfi_startproc\n.cfi_lsda 0x1b,.Lleb_table\n"
			       "push %rbx\n.cfi_adjust_cfa_offset 8\n"
			       "call none\n.Lleb_middle: call none\n.Lleb_calls: pop %rbx\nret\n"
			       "leb_first: mov %rax,%rdi\njmp .Lleb_calls\n"
			       "leb_second: call none\nhlt\n"
			       ".cfi_endproc\n.size leb,.-leb\n"
			       ".globl wide\n.type wide,@function\n"
			       "wide: .cfi_startproc\n.cfi_lsda 0x1b,.Lwide_table\n"
			       "push %rbx\n.cfi_adjust_cfa_offset 8\n"
			       "call none\n.Lwide_calls: pop %rbx\nret\n"
			       "wide_only: mov %rax,%rdi\ncall none\nhlt\n"
			       ".cfi_endproc\n.size wide,.-wide\n"
			       ".globl _start\n_start: hlt\n"
			       ".section .gcc_except_table,\"a\",@progbits\n"
			       ".Lleb_table: .byte 0xff,0xff,1\n"
			       ".uleb128 .Lleb_end - .Lleb_begin\n"
			       ".Lleb_begin: .uleb128 0\n.uleb128 .Lleb_middle - leb\n"
			       ".uleb128 leb_first - leb\n.uleb128 1\n"
			       ".uleb128 .Lleb_middle - leb\n.byte 0x85,0x80,0x00\n"
			       ".uleb128 leb_second - leb\n.uleb128 0\n"
			       ".Lleb_end:\n"
			       ".Lwide_table: .byte 0x1b\n.long none - .\n.byte 0x9b\n"
			       ".uleb128 .Lwide_end - .Lwide_types\n.Lwide_types: .byte 3\n"
			       ".uleb128 .Lwide_end - .Lwide_begin\n"
			       ".Lwide_begin: .long 0,1,0\n.byte 0\n"
			       ".long 1, .Lwide_calls - wide - 1, wide_only - none\n.byte 1\n"
			       ".Lwide_end:\n";

/* Cleanups of C are also handlers. */
static const char c_source[] =
	"extern void may_throw(int n);\n"
	"volatile int sink;\n"
	"void release(int *p) { sink += *p; }\n"
	"int holds(int n) { __attribute__((cleanup(release))) int held = n; may_throw(n);\n"
	"	for (int i = 0; i < n; i++) may_throw(sink + i); return sink; }\n"
	"int plain(int n) { may_throw(n); return sink + 1; }\n";

struct pads {
	uint64_t addresses[PADS_MAX];
	size_t count;
};

static void collect(void *context, uint64_t address)
{
	struct pads *pads = context;

	assert_true(pads->count < PADS_MAX);
	pads->addresses[pads->count++] = address;
}

struct fixture {
	char *directory;
	char path[512];
};

static void build(struct fixture *fixture, const char *name, const char *suffix, const char *text,
		  const char *flags)
{
	char source[512];
	FILE *file;

	snprintf(source, sizeof(source), "%s/%s.%s", fixture->directory, name, suffix);
	file = fopen(source, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
	snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->directory, name);
	test_command("gcc -w -O2 %s -o '%s' '%s'", flags, fixture->path, source);
}

static struct image_code *open_code(const char *path)
{
	struct profile_image image = test_image(path);
	struct debug_file_options options = {.directory = "/nonexistent"};
	struct image_code *code = NULL;
	struct error err = {0};

	if (image_code_open(&code, &image, &options, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	return code;
}

static const struct procedure *procedure_of(const struct image_code *code, const char *name,
					    size_t *index)
{
	const struct procedure_table *table = image_code_procedures(code);

	for (*index = 0; *index < procedure_table_count(table); ++*index) {
		const struct procedure *procedure = procedure_table_get(table, *index);

		if (strcmp(procedure->name, name) == 0)
			return procedure;
	}
	fail_msg("there is no %s", name);
	return NULL;
}

static struct pads pads_of(const struct image_code *code, const char *name)
{
	struct pads pads = {.count = 0};
	size_t index;
	const struct procedure *procedure = procedure_of(code, name, &index);

	image_code_landing_pads(code, procedure->address, procedure->address + procedure->bytes,
				collect, &pads);
	return pads;
}

static void test_tables(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;
	struct pads pads;
	size_t index;
	uint64_t leb, wide;

	build(fixture, "tables", "s", assembly, "-nostdlib -static");
	code = open_code(fixture->path);
	leb = procedure_of(code, "leb", &index)->address;
	wide = procedure_of(code, "wide", &index)->address;
	assert_int_equal(pads_of(code, "none").count, 0);
	pads = pads_of(code, "leb");
	assert_int_equal(pads.count, 2);
	/* push, two calls, pop, ret; then mov and a short jmp */
	assert_int_equal(pads.addresses[0], leb + 1 + 5 + 5 + 1 + 1);
	assert_int_equal(pads.addresses[1], pads.addresses[0] + 3 + 2);
	pads = pads_of(code, "wide");
	assert_int_equal(pads.count, 1);
	assert_int_equal(pads.addresses[0], wide + 1 + 5 + 1 + 1);
	image_code_close(code);
}

static uint32_t handlers_of(struct image_code *code, const char *name)
{
	struct pads pads = pads_of(code, name);
	struct cfg *cfg = NULL;
	uint32_t handlers = 0;
	size_t index;

	procedure_of(code, name, &index);
	assert_int_equal(cfg_create(&cfg, code, index, NULL, NULL), 0);
	assert_null(cfg_check(cfg));
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		bool listed = false;

		for (size_t i = 0; i < pads.count; i++)
			listed |= pads.addresses[i] == cfg->insns[block->first].address;
		assert_int_equal(listed, (block->flags & CFG_BLOCK_HANDLER) != 0);
		if (listed)
			assert_int_equal(block->flags & CFG_BLOCK_UNREACHED, 0);
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].kind != CFG_EDGE_HANDLER)
			continue;
		assert_int_equal(cfg->edges[e].from, CFG_ENTRY);
		assert_true(cfg->blocks[cfg->edges[e].to].flags & CFG_BLOCK_HANDLER);
		handlers++;
	}
	cfg_destroy(cfg);
	return handlers;
}

/* Exceptions enter at handlers, which are reached and begin blocks. */
static void test_graphs(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;

	build(fixture, "tables", "s", assembly, "-nostdlib -static");
	code = open_code(fixture->path);
	assert_int_equal(handlers_of(code, "none"), 0);
	assert_int_equal(handlers_of(code, "leb"), 2);
	assert_int_equal(handlers_of(code, "wide"), 1);
	image_code_close(code);
	build(fixture, "cleanup", "c", c_source, "-fexceptions -shared -fPIC");
	code = open_code(fixture->path);
	assert_int_equal(handlers_of(code, "plain"), 0);
	assert_true(handlers_of(code, "holds") > 0);
	image_code_close(code);
}

static void count_only(void *context, uint64_t address)
{
	(void)address;
	++*(size_t *)context;
}

/* The visit of an invalid table ends, and reads no byte after it. */
static void test_malformed_tables(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct unwind_range frame = {.address = 0x1000, .bytes = 64};
		size_t bytes = 1 + unit_random(&seed) % 48, count = 0;
		_cleanup_free_ uint8_t *data = malloc(bytes);
		struct landing_pads pads = {.frames = &frame,
					    .frame_count = 1,
					    .data = data,
					    .bytes = bytes,
					    .address = 0x2000,
					    .word_bytes = unit_random(&seed) % 2 ? 8 : 4};

		assert_non_null(data);
		for (size_t i = 0; i < bytes; i++)
			data[i] = (uint8_t)(unit_random(&seed) % 3 ? unit_random(&seed) % 6
								   : unit_random(&seed));
		if (unit_random(&seed) % 2)
			data[0] = 0xff;
		frame.handlers = 0x1ff0 + unit_random(&seed) % 80;
		landing_pads_visit(&pads, 0x1000, 0x1001, count_only, &count);
		/* An entry has four numbers of at least one byte. */
		assert_true(count <= bytes / 4);
		if (frame.handlers < 0x2000 || frame.handlers >= 0x2000 + bytes)
			assert_int_equal(count, 0);
	}
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->directory = test_directory();
	*state = fixture;
	return 0;
}

static void count_pad(void *context, uint64_t address)
{
	(void)address;
	++*(size_t *)context;
}

/* Twenty thousand frames share a table of ten thousand calls: the visit is bounded. */
static void test_shared_tables_end(void **state)
{
	enum {
		FRAMES = 20000,
		CALLS = 10000,
		HEADER = 6
	};
	uint8_t *data = calloc(HEADER + 4 * CALLS, 1);
	struct unwind_range *frames = calloc(FRAMES, sizeof(*frames));
	struct landing_pads pads = {.frames = frames,
				    .frame_count = FRAMES,
				    .data = data,
				    .bytes = HEADER + 4 * CALLS,
				    .address = 0x1000,
				    .word_bytes = 8};
	size_t count = 0;

	(void)state;
	assert_true(data != NULL && frames != NULL);
	/* No base, no types, LEB128, 40000 bytes. */
	memcpy(data, "\xff\xff\x01\xc0\xb8\x02", HEADER);
	for (size_t i = 0; i < CALLS; i++)
		data[HEADER + 4 * i + 2] = 1;
	for (size_t i = 0; i < FRAMES; i++)
		frames[i] = (struct unwind_range){.address = i, .bytes = 1, .handlers = 0x1000};
	landing_pads_visit(&pads, 0, 1, count_pad, &count);
	assert_int_equal(count, CALLS);
	landing_pads_visit(&pads, 0, FRAMES, count_pad, &count);
	assert_in_range(count, 2 * CALLS, 2000000);
	free(data);
	free(frames);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	test_remove(fixture->directory);
	free(fixture);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_malformed_tables),
		cmocka_unit_test(test_shared_tables_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
