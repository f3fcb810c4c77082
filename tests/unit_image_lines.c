// SPDX-License-Identifier: GPL-2.0-only
/* Programs made by compilers when the test runs: which lines their addresses are of. */
#include "analysis/image/image_lines.h"

#include "tests/procedure_test.h"

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

/* An image with its lines. */
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

/* Return: how many procedures have the name, all of which begin in @file. */
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

/* A header has one path, whichever way the units that include it name it. */
static void a_header_is_one_file(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_is_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
