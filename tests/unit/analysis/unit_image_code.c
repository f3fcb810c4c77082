// SPDX-License-Identifier: GPL-2.0-only
/* Images compiled by gcc during the test: results of image_code and cfg. */
#include "analysis/image/image_code.h"

#include "analysis/graph/cfg_create.h"
#include "tests/fixtures/cfg_check.h"
#include "tests/fixtures/procedure_test.h"

/*
 * "jumps" has a jump table; "part" has a part that is split off; "stop" never returns, "stops"
 * calls it. Only the call error(0, ...) in "fails" returns; "pointers" are relocated. "hidden"
 * follows zeros, which linkers use as padding, and has no unwind information. The table of
 * "adjoins" has two entries, no comparison limits it, and the table of "second" follows it.
 */
static const char source[] =
	"#include <error.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#define N __attribute__((noinline))\n"
	"volatile int sink;\n"
	"N int one(int n) { return n * 3 + sink; }\n"
	"N int two(int n) { return n ^ sink; }\n"
	"int (*const pointers[])(int) = {one, two, 0};\n"
	"static N void stop(const char *why) { fputs(why, stderr); exit(3); }\n"
	"N void stop_later(int n) { if (n > 5) stop(\"many\"); stop(\"few\"); }\n"
	"N int stops(int n) { if (n > 7) stop_later(n); return two(n) + 1; }\n"
	"N int fails(int n) { if (n > 9) error(2, 0, \"%d\", n); if (n == 8) error(3, 0, \"!\");\n"
	"if (n == 7) error(0, 0, \"?\"); return two(n) + 1; }\n"
	"N int jumps(int n) { switch (n) {\n"
	"case 0: one(n); break; case 1: return two(1); case 2: sink = 7; break;\n"
	"case 3: puts(\"x\"); break; case 4: sink++; /* fall through */\n"
	"case 5: one(3); two(n); break; case 6: return stops(sink); }\n"
	"return sink; }\n"
	"__attribute__((cold)) N int rare(int n) { return n ^ sink * 3; }\n"
	"N int part(int n) { int r = one(n);\n"
	"if (n > 1000) { r = rare(r) + one(r) * 5; sink = r; }\n"
	"return r + two(n); }\n"
	"int main(int c, char **v) { (void)v; return pointers[c & 1](c) + jumps(c) + part(c) + "
	"stops(c) + fails(c); }\n"
	"asm(\".zero 7; .type hidden, @function; hidden: leaq 1(%rdi), %rax; ret\\n\"\n"
	"\".size hidden, . - hidden\\n\"\n"
	"\".section .data.rel.ro, \\\"aw\\\"; .balign 8; .Lfirst: .quad 1f, 2f; .Lsecond: .quad "
	"3f, "
	"4f\\n\"\n"
	"\".text; .type adjoins, @function; adjoins: leaq .Lfirst(%rip), %rdx; jmp "
	"*(%rdx,%rdi,8)\\n\"\n"
	"\"1: ret; 2: incl %eax; ret; 3: decl %eax; ret; .size adjoins, . - adjoins\\n\"\n"
	"\".type second, @function; second: leaq .Lsecond(%rip), %rdx; jmp *(%rdx,%rdi,8)\\n\"\n"
	"\"4: ret; .size second, . - second\");\n";

struct fixture {
	char *directory;
	char path[512];
};

static void compile(struct fixture *fixture, const char *name, const char *flags)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/fixture.c", fixture->directory);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(source, 1, sizeof(source) - 1, file), sizeof(source) - 1);
	fclose(file);
	snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->directory, name);
	test_command("gcc -w -O2 -g %s -o '%s' '%s'", flags, fixture->path, path);
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

static long find_procedure(const struct image_code *code, const char *name)
{
	const struct procedure_table *table = image_code_procedures(code);

	for (size_t i = 0; i < procedure_table_count(table); i++) {
		if (strcmp(procedure_table_get(table, i)->name, name) == 0)
			return (long)i;
	}
	return -1;
}

static uint64_t address_of(const struct image_code *code, const char *name)
{
	long index = find_procedure(code, name);

	assert_true(index >= 0);
	return procedure_table_get(image_code_procedures(code), (size_t)index)->address;
}

static struct cfg *graph_of(struct image_code *code, uint64_t address,
			    const struct cfg_evidence *evidence)
{
	struct cfg *cfg = NULL;
	long index = image_code_find(code, address);

	assert_true(index >= 0);
	assert_int_equal(cfg_create(&cfg, code, (size_t)index, evidence, NULL), 0);
	assert_null(cfg_check(cfg));
	return cfg;
}

static unsigned int count_edges(const struct cfg *cfg, enum cfg_edge_kind kind)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < cfg->edge_count; i++)
		count += cfg->edges[i].kind == kind;
	return count;
}

static void test_addresses_and_bytes(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;
	uint64_t address, offset, back;
	size_t available = 0;
	const uint8_t *bytes;
	const char *file;
	unsigned int line;
	FILE *stream;

	compile(fixture, "pie", "-pie -fPIE");
	code = open_code(fixture->path);
	address = address_of(code, "jumps");
	assert_int_equal(image_code_offset(code, address, &offset), 0);
	assert_int_equal(image_code_address(code, offset, &back), 0);
	assert_int_equal(back, address);
	bytes = image_code_bytes(code, address, &available);
	assert_non_null(bytes);
	assert_true(available > 16);
	stream = fopen(fixture->path, "re");
	assert_non_null(stream);
	fseek(stream, (long)offset, SEEK_SET);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(bytes[i], fgetc(stream));
	fclose(stream);
	assert_null(image_code_bytes(code, 0, &available));
	assert_int_equal(image_code_line(code, address, &file, &line), 0);
	assert_non_null(strstr(file, "fixture.c"));
	assert_int_equal(line, 14);
	assert_int_equal(strlen(image_code_build_id(code)), 40);
	image_code_close(code);
}

/* Pointers to code have their relocated values; the values of variables are unknown. */
static void test_data(void **state)
{
	static const char *const modes[] = {"-pie -fPIE", "-no-pie -fno-pie",
					    "-pie -fPIE -Wl,-z,norelro"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct image_code *code;
		char command[1024], line[256];
		unsigned long pointers = 0, sink = 0;
		uint64_t values[2];
		FILE *pipe;

		compile(fixture, "data", modes[i]);
		code = open_code(fixture->path);
		snprintf(command, sizeof(command), "nm '%s'", fixture->path);
		pipe = popen(command, "r");
		while (fgets(line, sizeof(line), pipe) != NULL) {
			if (strstr(line, " pointers\n") != NULL)
				pointers = strtoul(line, NULL, 16);
			if (strstr(line, " sink\n") != NULL)
				sink = strtoul(line, NULL, 16);
		}
		pclose(pipe);
		assert_int_equal(image_code_data(code, pointers, values, sizeof(values)), 0);
		assert_int_equal(values[0], address_of(code, "one"));
		assert_int_equal(values[1], address_of(code, "two"));
		assert_int_equal(image_code_data(code, sink, values, 4), -ENOENT);
		assert_int_equal(image_code_data(code, UINT64_MAX - 3, values, 8), -ENOENT);
		image_code_close(code);
	}
}

static void test_noreturn_calls(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;
	struct cfg *cfg;
	unsigned int never = 0;

	compile(fixture, "returns", "-pie -fPIE");
	code = open_code(fixture->path);
	cfg = graph_of(code, address_of(code, "stops"), NULL);
	for (uint32_t i = 0; i < cfg->call_count; i++) {
		bool returns = cfg->calls[i].target != address_of(code, "stop_later");

		assert_int_equal(cfg->calls[i].returns, returns);
		never += !cfg->calls[i].returns;
	}
	assert_int_equal(never, 1);
	cfg_destroy(cfg);
	cfg = graph_of(code, address_of(code, "stop_later"), NULL);
	assert_int_equal(count_edges(cfg, CFG_EDGE_RETURN), 0);
	cfg_destroy(cfg);
	image_code_close(code);
}

/* Count the calls of a procedure that never return, without those of @but. */
static unsigned int calls_without_return(struct image_code *code, const char *name, const char *but)
{
	struct cfg *cfg = graph_of(code, address_of(code, name), NULL);
	unsigned int never = 0;

	assert_int_equal(count_edges(cfg, CFG_EDGE_RETURN) + count_edges(cfg, CFG_EDGE_TAIL) > 0,
			 true);
	for (uint32_t i = 0; i < cfg->call_count; i++) {
		if (cfg->calls[i].target != address_of(code, but))
			never += !cfg->calls[i].returns;
	}
	cfg_destroy(cfg);
	return never;
}

static void test_failure_functions_do_not_return(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;

	compile(fixture, "fails", "-pie -fPIE");
	code = open_code(fixture->path);
	assert_int_equal(calls_without_return(code, "fails", "two"), 2);
	image_code_close(code);
}

static void test_code_after_zeros(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;
	struct cfg *cfg;
	uint64_t hidden;

	compile(fixture, "hidden", "-pie -fPIE");
	code = open_code(fixture->path);
	hidden = address_of(code, "hidden");
	image_code_close(code);
	compile(fixture, "hidden", "-pie -fPIE -s");
	code = open_code(fixture->path);
	cfg = graph_of(code, hidden, NULL);
	assert_true(cfg_find_insn(cfg, hidden) >= 0);
	assert_int_equal(cfg->bad_bytes, 0);
	cfg_destroy(cfg);
	image_code_close(code);
}

static void test_tables(void **state)
{
	static const char *const modes[] = {"-pie -fPIE", "-no-pie -fno-pie", "-pie -fPIE -s",
					    "-no-pie -fno-pie -s"};
	struct fixture *fixture = *state;
	uint64_t one[2] = {0};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct image_code *code;
		uint64_t address;
		struct cfg *cfg;

		compile(fixture, "tables", modes[i]);
		code = open_code(fixture->path);
		/* Without symbols, the address is the one found with symbols. */
		address = i < 2 ? address_of(code, "jumps") : one[i - 2];
		if (i < 2)
			one[i] = address;
		cfg = graph_of(code, address, NULL);
		assert_int_equal(cfg->jump_tables, 1);
		assert_int_equal(cfg->unresolved_jumps, 0);
		assert_int_equal(count_edges(cfg, CFG_EDGE_SWITCH), 7);
		cfg_destroy(cfg);
		image_code_close(code);
	}
}

/* A table ends where another procedure's begins. */
static void test_adjacent_tables(void **state)
{
	static const char *const modes[] = {"-pie -fPIE", "-no-pie -fno-pie"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct image_code *code;
		struct cfg *cfg;

		compile(fixture, "adjoining", modes[i]);
		code = open_code(fixture->path);
		cfg = graph_of(code, address_of(code, "adjoins"), NULL);
		assert_int_equal(count_edges(cfg, CFG_EDGE_SWITCH), 2);
		cfg_destroy(cfg);
		image_code_close(code);
	}
}

/* The part is in the procedure's graph, with and without symbols, and is not a procedure. */
static void test_parts(void **state)
{
	struct fixture *fixture = *state;
	struct image_range ranges[PROCEDURE_PARTS_MAX];
	uint64_t address = 0, cold = 0;

	for (int stripped = 0; stripped < 2; stripped++) {
		struct image_code *code;
		struct cfg *cfg;
		size_t parent = 0;
		long index;

		compile(fixture, "parts",
			stripped ? "-s -fno-ipa-ra -freorder-blocks-and-partition"
				 : "-fno-ipa-ra -freorder-blocks-and-partition");
		code = open_code(fixture->path);
		if (!stripped) {
			address = address_of(code, "part");
			cold = address_of(code, "part.cold");
		}
		index = image_code_find(code, address);
		assert_int_equal(image_code_parts(code, (size_t)index, ranges, &parent), 2);
		assert_int_equal(ranges[1].start, cold);
		assert_int_equal(image_code_parts(code, (size_t)image_code_find(code, cold), ranges,
						  &parent),
				 0);
		assert_int_equal(parent, index);
		cfg = graph_of(code, address, NULL);
		assert_true(cfg_find_insn(cfg, cold) >= 0);
		assert_int_equal(count_edges(cfg, CFG_EDGE_TAIL), 0);
		cfg_destroy(cfg);
		assert_int_equal(
			cfg_create(&cfg, code, (size_t)image_code_find(code, cold), NULL, NULL),
			-ENOENT);
		image_code_close(code);
	}
}

/* A part without a frame is recognized only by its jump back. */
static void test_parts_without_frame(void **state)
{
	struct fixture *fixture = *state;
	uint64_t address = 0, cold = 0;

	for (int stripped = 0; stripped < 2; stripped++) {
		struct image_code *code;
		struct cfg *cfg;

		compile(fixture, "parts",
			stripped ? "-s -fipa-ra -freorder-blocks-and-partition"
				 : "-fipa-ra -freorder-blocks-and-partition");
		code = open_code(fixture->path);
		if (!stripped) {
			address = address_of(code, "part");
			cold = address_of(code, "part.cold");
		}
		cfg = graph_of(code, address, NULL);
		assert_true(cfg_find_insn(cfg, cold) >= 0);
		assert_int_equal(count_edges(cfg, CFG_EDGE_TAIL), 0);
		cfg_destroy(cfg);
		image_code_close(code);
	}
}

/* All sampled code is reached, also after calls that never return. */
static void samples_are_reached(struct image_code *code)
{
	const struct procedure_table *table = image_code_procedures(code);

	for (size_t i = 0; i < procedure_table_count(table); i++) {
		const struct procedure *procedure = procedure_table_get(table, i);
		uint64_t sampled[4096];
		struct cfg_evidence all = {.sampled = sampled};
		struct cfg *cfg = NULL;

		while (all.sampled_count < 4096 && all.sampled_count < procedure->bytes) {
			sampled[all.sampled_count] = procedure->address + all.sampled_count;
			all.sampled_count++;
		}
		if (cfg_create(&cfg, code, i, &all, NULL) < 0)
			continue;
		assert_null(cfg_check(cfg));
		for (size_t k = 0; k < all.sampled_count; k++) {
			long insn = cfg_find_insn(cfg, sampled[k]);

			assert_true(insn < 0 || !(cfg->blocks[cfg->block_of[insn]].flags &
						  CFG_BLOCK_UNREACHED));
		}
		cfg_destroy(cfg);
	}
}

/* Samples prove that code runs, branches prove entries; invalid evidence is ignored. */
static void test_evidence(void **state)
{
	struct fixture *fixture = *state;
	struct image_code *code;
	struct cfg *plain, *cfg;
	uint64_t start, middle = 0;

	compile(fixture, "evidence", "-pie -fPIE");
	code = open_code(fixture->path);
	start = address_of(code, "part");
	plain = graph_of(code, start, NULL);
	for (uint32_t i = 1; middle == 0 && i < plain->block_count; i++) {
		const struct insn *first = &plain->insns[plain->blocks[i].first];

		if (first->address > start && plain->block_of[plain->blocks[i].first] > 0 &&
		    first[-1].flow != INSN_FLOW_CALL)
			middle = first->address;
	}
	assert_true(middle != 0);
	{
		const uint64_t branches[][2] = {{0x10, middle}, {start, middle}};
		const struct cfg_evidence seen = {.branches = branches, .branch_count = 2};

		cfg = graph_of(code, start, &seen);
	}
	assert_int_equal(count_edges(plain, CFG_EDGE_ENTRY), 1);
	assert_int_equal(count_edges(cfg, CFG_EDGE_ENTRY), 2);
	assert_int_equal(cfg->edge_count, plain->edge_count + 1);
	cfg_destroy(cfg);
	samples_are_reached(code);
	cfg_destroy(plain);
	image_code_close(code);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->directory = test_directory();
	*state = fixture;
	return 0;
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
		cmocka_unit_test(test_addresses_and_bytes),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_noreturn_calls),
		cmocka_unit_test(test_failure_functions_do_not_return),
		cmocka_unit_test(test_code_after_zeros),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_adjacent_tables),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_parts_without_frame),
		cmocka_unit_test(test_evidence),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
