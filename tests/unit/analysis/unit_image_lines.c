// SPDX-License-Identifier: GPL-2.0-only
/* Source lines of addresses, in programs compiled during the test. */
#include "analysis/image/image_lines.h"

#include "tests/fixtures/procedure_test.h"

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* An image and its line table. */
struct program {
	struct procedure_table *table;
	struct image_lines *lines;
};

static struct program open_program(const char *directory)
{
	struct debug_file_options options = {.directory = "/nonexistent"};
	struct program program = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/program", directory);
	program.table = test_table(path, "/nonexistent");
	assert_int_equal(image_lines_open(&program.lines, program.table, &options), 0);
	assert_non_null(program.lines);
	return program;
}

static void close_program(struct program *program)
{
	image_lines_close(program->lines);
	procedure_table_destroy(program->table);
}

/* Count the procedures with that name, which must all begin in @file. */
static unsigned int count_in_file(const struct program *program, const char *name, const char *file)
{
	unsigned int count = 0, line;

	for (size_t i = 0; i < procedure_table_count(program->table); i++) {
		const struct procedure *procedure = procedure_table_get(program->table, i);
		const char *found;

		if (strcmp(procedure->name, name) != 0)
			continue;
		assert_int_equal(
			image_lines_find(program->lines, procedure->address, &found, &line), 0);
		assert_string_equal(found, file);
		count++;
	}
	return count;
}

/* A header has one path, for all spellings of its path in the including units. */
static void test_header_is_one_file(void **state)
{
	static const char *const compilers[] = {"gcc -gdwarf-5", "gcc -gdwarf-4", "clang -g"};
	static const char *const includes[] = {"-I../inc", "-I./../inc//", "-I\"$PWD\"/../inc"};
	char *directory = test_directory(), header[512];

	(void)state;
	test_command("mkdir '%s'/a '%s'/b '%s'/inc", directory, directory, directory);
	write_file(directory, "inc/x.h",
		   "static __attribute__((noinline)) int shared(int n)\n{ return n * 3 + 1; }\n");
	write_file(directory, "a/a.c",
		   "#include \"x.h\"\nint other(int n) { return shared(n); }\n");
	write_file(directory, "b/b.c",
		   "#include \"x.h\"\nint other(int);\n"
		   "int main(int c, char **v) { (void)v; return shared(c) + other(c); }\n");
	snprintf(header, sizeof(header), "%s/inc/x.h", directory);
	for (size_t i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
		for (size_t j = 0; j < sizeof(includes) / sizeof(*includes); j++) {
			struct program program;

			test_command("cd '%s'/a && %s -O1 -c %s a.c", directory, compilers[i],
				     includes[j]);
			test_command("cd '%s'/b && %s -O1 -o ../program %s b.c ../a/a.o", directory,
				     compilers[i], includes[j]);
			program = open_program(directory);
			assert_int_equal(count_in_file(&program, "shared", header), 2);
			close_program(&program);
		}
	}
	test_remove(directory);
}

#define DEAD_LINES 3000

/* Write a large function that linkers remove, and small ones that stay. */
static void write_dead(const char *directory)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/dead.c", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("unsigned dead(unsigned n) {\n", file);
	for (int i = 1; i < DEAD_LINES; i++)
		fprintf(file, "n = n * %d + %d; n ^= n >> 3;\n", i, 7 * i);
	fputs("return n; }\n"
	      "__attribute__((noinline)) unsigned live(unsigned n) {\n"
	      "for (unsigned i = 0; i < 1000; i++)\n"
	      "n = n * 5 + i;\n"
	      "return n; }\n"
	      "int main(void) {\n"
	      "unsigned n = 0;\n"
	      "for (unsigned i = 0; i < 1000; i++)\n"
	      "n += live(n);\n"
	      "return n == 7; }\n",
	      file);
	assert_int_equal(fclose(file), 0);
}

/* Line entries of a removed function are not attributed to other code. */
static void test_dead_functions_have_no_lines(void **state)
{
	static const char *const ways[] = {
		"clang -gdwarf-5 -fuse-ld=lld",
		"clang -gdwarf-4 -fuse-ld=lld",
		"gcc -gdwarf-5",
		"gcc -gdwarf-4 -gz",
		"gcc -g -fuse-ld=gold",
		"gcc -g -no-pie",
		"clang -g -gz -fuse-ld=lld",
	};
	char *directory = test_directory();

	(void)state;
	write_dead(directory);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct program program;

		test_command("cd '%s' && %s -O1 -ffunction-sections -Wl,--gc-sections "
			     "-o program dead.c && ! nm program | grep -q ' dead$'",
			     directory, ways[i]);
		program = open_program(directory);
		for (size_t j = 0; j < procedure_table_count(program.table); j++) {
			const struct procedure *procedure = procedure_table_get(program.table, j);
			const char *file;
			unsigned int line;

			if (strcmp(procedure->name, "live") != 0 &&
			    strcmp(procedure->name, "main") != 0)
				continue;
			for (uint64_t at = 0; at < procedure->bytes; at++) {
				assert_int_equal(image_lines_find(program.lines,
								  procedure->address + at, &file,
								  &line),
						 0);
				assert_true(line > DEAD_LINES + 1);
			}
		}
		close_program(&program);
	}
	test_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_one_file),
		cmocka_unit_test(test_dead_functions_have_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
