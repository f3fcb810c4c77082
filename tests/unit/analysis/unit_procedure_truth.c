// SPDX-License-Identifier: GPL-2.0-only
/*
 * Procedure tables compared with independent sources: readelf's listing of real programs, byte by
 * byte, and a naive model of random symbols. Also damaged files, which may give any result but no
 * invalid accesses.
 */
#include "tests/fixtures/procedure_test.h"

#include <unistd.h>

#include "lib/symbol_name.h"

struct truth_symbol {
	uint64_t address;
	uint64_t bytes;
	unsigned int rank;
	char name[512];
};

struct truth {
	struct truth_symbol *symbols;
	size_t count;
	uint64_t text_address;
	uint64_t text_offset;
	uint64_t text_bytes;
};

static unsigned int truth_rank(const char *type, const char *binding)
{
	unsigned int rank = strcmp(type, "NOTYPE") == 0 ? 3 : 0;

	if (strcmp(binding, "WEAK") == 0)
		return rank + 1;
	return strcmp(binding, "LOCAL") == 0 ? rank + 2 : rank;
}

/* Read the sized code symbols in .text, as readelf prints them. */
static void read_truth(struct truth *truth, const char *path)
{
	char command[512], line[2048];
	FILE *pipe;

	memset(truth, 0, sizeof(*truth));
	snprintf(command, sizeof(command), "readelf -SW '%s' | sed -n 's/.*] \\.text //p'", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, " PROGBITS %lx %lx %lx", &truth->text_address,
				&truth->text_offset, &truth->text_bytes),
			 3);
	while (fgets(line, sizeof(line), pipe) != NULL)
		;
	assert_int_equal(pclose(pipe), 0);
	truth->symbols = calloc(400000, sizeof(*truth->symbols));
	assert_non_null(truth->symbols);
	snprintf(command, sizeof(command), "readelf -sW '%s'", path);
	pipe = popen(command, "r");
	while (fgets(line, sizeof(line), pipe) != NULL) {
		struct truth_symbol *symbol = &truth->symbols[truth->count];
		char type[32], binding[32], section[32];

		if (sscanf(line, " %*[0-9]: %lx %li %31s %31s %*s %31s %511s", &symbol->address,
			   (long *)&symbol->bytes, type, binding, section, symbol->name) != 6 ||
		    (strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0 &&
		     strcmp(type, "NOTYPE") != 0) ||
		    symbol->bytes == 0 || symbol->address < truth->text_address ||
		    symbol->address >= truth->text_address + truth->text_bytes ||
		    strcmp(section, "ABS") == 0)
			continue;
		symbol->name[strcspn(symbol->name, "@")] = '\0';
		symbol->rank = truth_rank(type, binding);
		assert_true(++truth->count < 400000);
	}
	assert_int_equal(pclose(pipe), 0);
}

/* Naive implementation of the rule in the header: which symbol has this byte? */
static bool beats(const struct truth_symbol *a, const struct truth_symbol *b)
{
	if (b == NULL || a->address != b->address)
		return b == NULL || a->address > b->address;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return symbol_name_prefer(a->name, b->name) < 0;
}

static const struct truth_symbol **spread(const struct truth *truth)
{
	const struct truth_symbol **owner = calloc(truth->text_bytes, sizeof(*owner));

	assert_non_null(owner);
	for (size_t i = 0; i < truth->count; i++) {
		const struct truth_symbol *symbol = &truth->symbols[i];
		uint64_t first = symbol->address - truth->text_address;

		for (uint64_t at = first; at < first + symbol->bytes && at < truth->text_bytes;
		     at++) {
			if (beats(symbol, owner[at]))
				owner[at] = symbol;
		}
	}
	return owner;
}

/* Check that every byte of .text has the name of readelf's symbols, or no symbol's. */
static void compare_with_readelf(const char *path)
{
	struct procedure_table *table = test_table(path, "/nonexistent");
	const struct truth_symbol **owner;
	struct truth truth;
	size_t named = 0;

	read_truth(&truth, path);
	owner = spread(&truth);
	for (uint64_t at = 0; at < truth.text_bytes; at++) {
		long index = procedure_table_find(table, truth.text_offset + at);
		const struct procedure *procedure;

		assert_true(index >= 0);
		procedure = procedure_table_get(table, (size_t)index);
		if (owner[at] != NULL) {
			assert_string_equal(procedure->name, owner[at]->name);
			assert_int_equal(procedure->source, PROCEDURE_SYMBOL);
			named++;
		} else {
			assert_int_not_equal(procedure->source, PROCEDURE_SYMBOL);
		}
	}
	assert_true(truth.count > 0 && named > 0);
	free(owner);
	free(truth.symbols);
	procedure_table_destroy(table);
}

static void test_this_program(void **state)
{
	char path[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(length > 0);
	path[length] = '\0';
	compare_with_readelf(path);
}

/* A library that is always loaded, found by its file name. */
static void test_libc(void **state)
{
	_cleanup_file_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024], *path;

	(void)state;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		path = strchr(line, '/');
		if (path == NULL || strstr(path, "/libc.so.6") == NULL)
			continue;
		path[strcspn(path, "\n")] = '\0';
		compare_with_readelf(path);
		return;
	}
	fail_msg("no libc.so.6 in this process");
}

static void test_perl(void **state)
{
	(void)state;
	if (access("/usr/bin/perl", R_OK) != 0)
		skip();
	compare_with_readelf("/usr/bin/perl");
}

#define MODEL_BYTES 300
#define MODEL_SYMBOLS 40

/* Model of stored symbols: sized ones first, innermost; the others extend to the next one. */
static const char *model_owner(const struct profile_symbol *symbols, size_t count, uint64_t at)
{
	const struct profile_symbol *best = NULL;
	uint64_t start = 0;

	for (size_t i = 0; i < count; i++) {
		const struct profile_symbol *s = &symbols[i];

		if (s->bytes == 0 || at < s->offset || at >= s->offset + s->bytes)
			continue;
		/* The first of the symbols at one offset. */
		if (best == NULL || s->offset > best->offset)
			best = s;
	}
	if (best != NULL)
		return best->name;
	/* The last symbol that starts at or before @at, unless a sized one covered it since. */
	for (uint64_t place = 0; place <= at; place++) {
		bool covered = false, begins = false;

		for (size_t i = 0; i < count; i++) {
			covered |= symbols[i].bytes > 0 && place >= symbols[i].offset &&
				   place < symbols[i].offset + symbols[i].bytes;
			begins |= symbols[i].offset == place;
		}
		if (covered) {
			best = NULL;
			continue;
		}
		if (!begins)
			continue;
		best = NULL;
		start = place;
		for (size_t i = 0; i < count; i++) {
			if (symbols[i].offset == start && symbols[i].bytes == 0 && best == NULL)
				best = &symbols[i];
		}
	}
	return best != NULL ? best->name : NULL;
}

static void test_random_symbols_agree_with_model(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct profile_symbol symbols[MODEL_SYMBOLS];
		char names[MODEL_SYMBOLS][16];
		size_t count = unit_random(&seed) % MODEL_SYMBOLS;
		struct procedure_table *table = NULL;

		for (size_t i = 0; i < count; i++) {
			snprintf(names[i], sizeof(names[i]), "%.*ss%zu",
				 (int)(unit_random(&seed) % 3), "__", i);
			symbols[i].name = names[i];
			symbols[i].offset = unit_random(&seed) % MODEL_BYTES;
			symbols[i].bytes = unit_random(&seed) % 3 ? unit_random(&seed) % 60 : 0;
		}
		assert_int_equal(procedure_table_from_symbols(&table, symbols, count, NULL), 0);
		for (uint64_t at = 0; at < MODEL_BYTES + 100; at++) {
			const char *expected = model_owner(symbols, count, at);
			long index = procedure_table_find(table, at);

			test_lookup(table, at);
			if (expected == NULL)
				assert_int_equal(index, -ENOENT);
			else
				assert_string_equal(procedure_table_get(table, (size_t)index)->name,
						    expected);
		}
		procedure_table_destroy(table);
	}
}

static char *read_file(const char *path, size_t *bytes)
{
	_cleanup_file_ FILE *stream = fopen(path, "re");
	char *data = malloc(4 << 20);

	assert_non_null(stream);
	assert_non_null(data);
	*bytes = fread(data, 1, 4 << 20, stream);
	assert_true(*bytes > 0 && *bytes < 4 << 20);
	return data;
}

static void write_file(const char *path, const char *data, size_t bytes)
{
	_cleanup_file_ FILE *stream = fopen(path, "we");

	assert_non_null(stream);
	assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
}

/* Damage a file: in its headers, in the section table, anywhere, or truncate it. */
static size_t damage(char *data, size_t bytes, uint64_t *seed)
{
	uint64_t kind = unit_random(seed) % 4, hits = 1 + unit_random(seed) % 8;
	Elf64_Ehdr header;

	memcpy(&header, data, sizeof(header));
	if (kind == 3)
		return unit_random(seed) % bytes;
	for (uint64_t i = 0; i < hits; i++) {
		size_t start = 0, span = bytes;

		if (kind == 0) {
			span = 1024 < bytes ? 1024 : bytes;
		} else if (kind == 1 && header.e_shoff < bytes) {
			start = header.e_shoff;
			span = bytes - start;
		}
		data[start + unit_random(seed) % span] = (char)unit_random(seed);
	}
	return bytes;
}

static void try_damaged(const char *path, const char *scratch, uint64_t seed, int rounds)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = scratch};
	struct debug_file_options options = {.directory = "/nonexistent"};
	_cleanup_free_ char *original = NULL, *data = NULL;
	size_t bytes, left;
	int opened = 0;

	original = read_file(path, &bytes);
	data = malloc(bytes);
	assert_non_null(data);
	for (int round = 0; round < rounds; round++) {
		struct procedure_table *table = NULL;
		struct error err = {0};

		memcpy(data, original, bytes);
		left = damage(data, bytes, &seed);
		write_file(scratch, data, left);
		if (procedure_table_open(&table, &image, &options, &err) < 0) {
			assert_true(err.message[0] != '\0');
			continue;
		}
		for (uint64_t offset = 0; offset < bytes; offset += 7)
			test_lookup(table, offset);
		procedure_table_destroy(table);
		opened++;
	}
	assert_true(opened > 0 && opened < rounds);
}

static void test_damaged_files(void **state)
{
	static const char *const programs[] = {"pie", "exec.stripped", "mini", "ibt",
					       "linked/anonymous"};
	char *directory = test_directory();
	char path[512], scratch[512];

	(void)state;
	test_command("tests/fixtures/procedure_fixtures.sh '%s' > /dev/null 2>&1", directory);
	snprintf(scratch, sizeof(scratch), "%s/damaged", directory);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, programs[i]);
		try_damaged(path, scratch, i, 400);
	}
	test_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_program),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_perl),
		cmocka_unit_test(test_random_symbols_agree_with_model),
		cmocka_unit_test(test_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
