// SPDX-License-Identifier: GPL-2.0-only
/* Procedure tables of small programs, with and without symbols and debug information. */
#include "tests/fixtures/procedure_test.h"

#include <fcntl.h>
#include <unistd.h>

#include "analysis/image/demangle.h"
#include "lib/file_digest.h"

static char *directory;

static const char *fixture(const char *name)
{
	static char path[4][256];
	static unsigned int next;
	char *buffer = path[next++ % 4];

	snprintf(buffer, sizeof(path[0]), "%s/%s", directory, name);
	return buffer;
}

static int make_fixtures(void **state)
{
	(void)state;
	directory = test_directory();
	/* Independent of the environment, only one test uses the network client. */
	unsetenv("DEBUGINFOD_URLS");
	test_command("tests/fixtures/procedure_fixtures.sh '%s' > '%s/log' 2>&1 || { cat '%s/log'; "
		     "exit 1; }",
		     directory, directory, directory);
	return 0;
}

static int remove_fixtures(void **state)
{
	(void)state;
	test_remove(directory);
	return 0;
}

/* Find the procedure of a name; fail if there is none or more than one. */
static const struct procedure *find_named(const struct procedure_table *table, const char *name)
{
	const struct procedure *found = NULL;

	for (size_t i = 0; i < procedure_table_count(table); i++) {
		const struct procedure *procedure = procedure_table_get(table, i);

		if (strcmp(procedure->name, name) != 0)
			continue;
		assert_null(found);
		found = procedure;
	}
	return found;
}

static const struct procedure *must_find(const struct procedure_table *table, const char *name)
{
	const struct procedure *procedure = find_named(table, name);

	if (procedure == NULL)
		fail_msg("no procedure %s", name);
	return procedure;
}

/* Check the aliases of a procedure, separated by spaces. */
static void assert_aliases(const struct procedure_table *table, const char *name,
			   const char *expected)
{
	const struct procedure *procedure = must_find(table, name);
	size_t index = (size_t)(procedure - procedure_table_get(table, 0));
	char found[256] = "";

	for (size_t i = 0; i < procedure->alias_count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
			 i > 0 ? " " : "", procedure_table_alias(table, index, i));
	assert_string_equal(found, expected);
}

static const char *name_at(const struct procedure_table *table, uint64_t offset)
{
	long index = procedure_table_find(table, offset);

	return index < 0 ? "(none)" : procedure_table_get(table, (size_t)index)->name;
}

static void test_symbols(void **state)
{
	struct procedure_table *table = test_table(fixture("pie"), "/nonexistent");
	const struct procedure *visible = must_find(table, "visible");

	(void)state;
	/* The best of three names at one address. */
	assert_null(find_named(table, "alias_of_visible"));
	assert_null(find_named(table, "__visible"));
	assert_aliases(table, "visible", "__visible alias_of_visible");
	assert_int_equal(visible->source, PROCEDURE_SYMBOL);
	assert_string_equal(name_at(table, visible->offset + visible->bytes - 1), "visible");
	assert_string_not_equal(name_at(table, visible->offset + visible->bytes), "visible");
	assert_int_equal(must_find(table, "hidden")->source, PROCEDURE_SYMBOL);
	/* Parts that the compiler split off keep their name. */
	assert_true(must_find(table, "unlikely.cold")->bytes > 0);
	assert_true(must_find(table, "main")->bytes > 0);
	procedure_table_destroy(table);
}

static void test_symbols_without_size(void **state)
{
	struct procedure_table *table = test_table(fixture("pie"), "/nonexistent");
	const struct procedure *bare = must_find(table, "bare");
	const struct procedure *outer = must_find(table, "outer");
	const struct procedure *after = must_find(table, "after");

	(void)state;
	assert_int_equal(bare->source, PROCEDURE_LABEL);
	assert_int_equal(bare->offset + bare->bytes, outer->offset);
	/* A label inside a sized symbol is not a procedure. */
	assert_null(find_named(table, "inner"));
	assert_string_equal(name_at(table, outer->offset + 2), "outer");
	/* Unwind information determines its end: lea and ret. */
	assert_int_equal(after->source, PROCEDURE_LABEL);
	assert_int_equal(after->bytes, 4);
	assert_string_equal(name_at(table, after->offset + after->bytes), "[.text]");
	procedure_table_destroy(table);
}

static void test_bounds_of_stripped_programs(void **state)
{
	static const char *const programs[] = {"pie", "exec", "anonymous"};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		char stripped[64], name[64];
		struct procedure_table *full, *table;
		const struct procedure *hidden, *found;

		snprintf(stripped, sizeof(stripped), "%s.stripped", programs[i]);
		full = test_table(fixture(programs[i]), "/nonexistent");
		table = test_table(fixture(stripped), "/nonexistent");
		hidden = must_find(full, "hidden");
		snprintf(name, sizeof(name), "proc_0x%llx", (unsigned long long)hidden->address);
		found = must_find(table, name);
		assert_int_equal(found->source, PROCEDURE_UNWIND);
		assert_int_equal(found->offset, hidden->offset);
		assert_int_equal(found->bytes, hidden->bytes);
		/* Without any information, the range does not get a neighbour's name. */
		assert_string_equal(name_at(table, must_find(full, "bare")->offset), "[.text]");
		procedure_table_destroy(full);
		procedure_table_destroy(table);
	}
}

/* Check that both tables have the same name for every byte of code. */
static void assert_same(const char *one, const char *other, const char *debug_directory, bool same)
{
	struct procedure_table *a = test_table(one, "/nonexistent");
	struct procedure_table *b = test_table(other, debug_directory);
	const struct procedure *first = procedure_table_get(a, 0);
	const struct procedure *last = procedure_table_get(a, procedure_table_count(a) - 1);
	size_t different = 0;

	for (uint64_t offset = first->offset; offset < last->offset + last->bytes; offset++)
		different += strcmp(name_at(a, offset), name_at(b, offset)) != 0;
	if (same)
		assert_int_equal(different, 0);
	else
		assert_true(different > 0);
	procedure_table_destroy(a);
	procedure_table_destroy(b);
}

static void test_debug_file_by_build_id(void **state)
{
	(void)state;
	assert_same(fixture("pie"), fixture("pie.stripped"), "/nonexistent", false);
	assert_same(fixture("pie"), fixture("pie.stripped"), fixture("debug"), true);
}

static void test_debug_file_by_link(void **state)
{
	(void)state;
	assert_same(fixture("anonymous"), fixture("linked/anonymous"), "/nonexistent", true);
	/* A file with the right name and wrong contents is not used as a debug file. */
	assert_same(fixture("anonymous.stripped"), fixture("wrong/anonymous"), "/nonexistent",
		    true);
}

static void test_embedded_debug_file(void **state)
{
	struct procedure_table *full = test_table(fixture("exec"), "/nonexistent");
	struct procedure_table *mini = test_table(fixture("mini"), "/nonexistent");
	const struct procedure *hidden = must_find(full, "hidden");

	(void)state;
	assert_int_equal(must_find(mini, "hidden")->offset, hidden->offset);
	assert_int_equal(must_find(mini, "hidden")->bytes, hidden->bytes);
	assert_int_equal(must_find(mini, "visible")->source, PROCEDURE_SYMBOL);
	procedure_table_destroy(full);
	procedure_table_destroy(mini);
}

static void serve_debug_file(void)
{
	test_command("id=$(readelf -n '%s' 2> /dev/null | sed -n 's/.*Build ID: //p') && "
		     "mkdir -p '%s'/buildid/$id && cp '%s' '%s'/buildid/$id/debuginfo",
		     fixture("pie"), fixture("server"), fixture("pie"), fixture("server"));
}

static void test_servers_on_request_only(void **state)
{
	struct profile_image image = test_image(fixture("pie.stripped"));
	struct debug_file_options options = {.directory = "/nonexistent"};
	struct procedure_table *table = NULL;
	char url[300];

	(void)state;
	serve_debug_file();
	snprintf(url, sizeof(url), "file://%s", fixture("server"));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", fixture("cache"), 1);
	image.path = fixture("pie.stripped");
	assert_int_equal(procedure_table_open(&table, &image, &options, NULL), 0);
	assert_null(find_named(table, "hidden"));
	assert_int_not_equal(access(fixture("cache"), F_OK), 0);
	procedure_table_destroy(table);
	options.debuginfod = true;
	assert_int_equal(procedure_table_open(&table, &image, &options, NULL), 0);
	assert_non_null(find_named(table, "hidden"));
	procedure_table_destroy(table);
	unsetenv("DEBUGINFOD_URLS");
}

static int open_result(const struct profile_image *image)
{
	struct debug_file_options options = {.directory = "/nonexistent"};
	struct procedure_table *table = NULL;
	struct error err = {0};
	int r = procedure_table_open(&table, image, &options, &err);

	if (r < 0)
		assert_true(err.message[0] != '\0' && strchr(err.message, '\n') == NULL);
	procedure_table_destroy(table);
	return r;
}

static size_t digest_of(const char *path, uint8_t *digest)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_digest(digest, fd, (uint64_t)lseek(fd, 0, SEEK_END)), 0);
	return FILE_DIGEST_BYTES;
}

static void test_profiled_file_only(void **state)
{
	struct profile_image image = test_image(fixture("pie"));
	char path[300];

	(void)state;
	assert_int_equal(image.identity_bytes, 20);
	assert_int_equal(open_result(&image), 0);
	snprintf(path, sizeof(path), "%s (deleted)", fixture("pie"));
	image.path = path;
	assert_int_equal(open_result(&image), 0);
	image.path = fixture("exec");
	assert_int_equal(open_result(&image), -ESTALE);
	image.path = fixture("anonymous");
	assert_int_equal(open_result(&image), -ESTALE);
	image.path = fixture("pie");
	image.identity[19] ^= 1;
	assert_int_equal(open_result(&image), -ESTALE);
	image.identity[19] ^= 1;
	image.identity_bytes = 8;
	assert_int_equal(open_result(&image), -ESTALE);
	/* Identification by a digest, with or without a build-id. */
	image.path = fixture("anonymous");
	image.identity_kind = PROFILE_IDENTITY_DIGEST;
	image.identity_bytes = digest_of(image.path, image.identity);
	assert_int_equal(open_result(&image), 0);
	image.path = fixture("anonymous.stripped");
	assert_int_equal(open_result(&image), -ESTALE);
	image.path = fixture("pie");
	image.identity_bytes = digest_of(image.path, image.identity);
	assert_int_equal(open_result(&image), 0);
	image.identity_bytes = 15;
	assert_int_equal(open_result(&image), -ESTALE);
}

static void test_not_an_image(void **state)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};

	(void)state;
	image.path = fixture("none");
	assert_int_equal(open_result(&image), -ENOENT);
	image.path = directory;
	assert_int_equal(open_result(&image), -ENOEXEC);
	image.path = fixture("main.c");
	assert_int_equal(open_result(&image), -ENOEXEC);
	image.path = "/dev/zero";
	assert_int_equal(open_result(&image), -ENOEXEC);
	test_command("mkfifo '%s'", fixture("fifo"));
	image.path = fixture("fifo");
	assert_int_equal(open_result(&image), -ENOEXEC);
	image.kind = PROFILE_IMAGE_JIT;
	assert_int_equal(open_result(&image), -EINVAL);
}

/* The table has every "<name@plt>:" that objdump prints, at its address. */
static void test_plt_names_agree_with_objdump(void **state)
{
	static const char *const programs[] = {"ibt", "exec", "pie.stripped"};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct procedure_table *table = test_table(fixture(programs[i]), "/nonexistent");
		unsigned long long address;
		char command[512], name[128];
		size_t stubs = 0;
		FILE *pipe;

		snprintf(command, sizeof(command),
			 "objdump -d '%s' | sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:/\\1 \\2/p'",
			 fixture(programs[i]));
		pipe = popen(command, "r");
		assert_non_null(pipe);
		while (fscanf(pipe, "%llx %127s", &address, name) == 2) {
			const struct procedure *procedure = must_find(table, name);

			assert_int_equal(procedure->address, address);
			assert_int_equal(procedure->source, PROCEDURE_PLT);
			assert_string_equal(name_at(table, procedure->offset + 5), name);
			stubs++;
		}
		assert_int_equal(pclose(pipe), 0);
		assert_true(stubs >= 2);
		procedure_table_destroy(table);
	}
}

/* Procedures known only from .init_array and .fini_array are found where symbols would be. */
static void test_call_targets_are_procedures(void **state)
{
	struct procedure_table *with = test_table(fixture("pie"), "/nonexistent");
	struct procedure_table *without = test_table(fixture("pie.stripped"), "/nonexistent");
	static const char *const names[] = {"frame_dummy", "__do_global_dtors_aux"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct procedure *named = must_find(with, names[i]), *found;
		long index = procedure_table_find(without, named->offset);
		char name[64];

		assert_true(index >= 0);
		found = procedure_table_get(without, (size_t)index);
		snprintf(name, sizeof(name), "proc_0x%llx", (unsigned long long)named->address);
		assert_string_equal(found->name, name);
		assert_int_equal(found->address, named->address);
		assert_int_equal(procedure_table_find(without, named->offset + 4), index);
	}
	procedure_table_destroy(with);
	procedure_table_destroy(without);
}

static void test_stored_symbols(void **state)
{
	static const struct profile_symbol symbols[] = {
		{300, 0, "last"},	    {0, 0, "_text"},
		{0, 0, "startup"},	    {100, 20, "sized"},
		{110, 0, "label_in_sized"}, {200, 0, "__x64_sys_fork"},
		{200, 0, "__do_sys_fork"},  {100, 0, "label_at_sized"},
	};
	struct procedure_table *table = NULL;

	(void)state;
	assert_int_equal(procedure_table_from_symbols(&table, symbols,
						      sizeof(symbols) / sizeof(*symbols), NULL),
			 0);
	/* The first of the symbols at one offset is preferred. */
	assert_string_equal(name_at(table, 0), "_text");
	assert_string_equal(name_at(table, 99), "_text");
	assert_string_equal(name_at(table, 115), "sized");
	assert_string_equal(name_at(table, 120), "(none)");
	assert_string_equal(name_at(table, 299), "__x64_sys_fork");
	assert_aliases(table, "_text", "startup");
	assert_aliases(table, "__x64_sys_fork", "__do_sys_fork");
	assert_aliases(table, "sized", "label_at_sized");
	assert_aliases(table, "last", "");
	assert_string_equal(name_at(table, 300), "last");
	assert_string_equal(name_at(table, 1ULL << 40), "last");
	procedure_table_destroy(table);
	assert_int_equal(procedure_table_from_symbols(&table, NULL, 0, NULL), 0);
	assert_int_equal(procedure_table_count(table), 0);
	assert_string_equal(name_at(table, 0), "(none)");
	procedure_table_destroy(table);
}

static void test_demangled_names(void **state)
{
	/* Names in the symbol tables of Go programs, and those in the table of Go's runtime. */
	static const struct {
		const char *linked;
		const char *runtime;
	} go[] = {
		{"main.(*T[go.shape.string_0]).Fill", "main.(*T[...]).Fill"},
		{"main.Map[go.shape.int,go.shape.[]main.K[int]].func1", "main.Map[...].func1"},
		{"main.F[go.shape.struct { X int }]-fm", "main.F[...]-fm"},
		{"runtime.sigtramp.abi0", "runtime.sigtramp"},
		{"main.(*T[...]).Fill", "main.(*T[...]).Fill"},
	};
	char *name = demangle("_ZNSt6vectorIiSaIiEE9push_backERKi");

	(void)state;
	assert_string_equal(name, "std::vector<int, std::allocator<int> >::push_back(int const&)");
	free(name);
	name = demangle("_Z3foov@plt");
	assert_string_equal(name, "foo()@plt");
	free(name);
	/* Rust's newer scheme, and the older one, which resembles C++. */
	name = demangle("_RINvCs6xxl1lAjzDf_1a5applyNCNvB2_4mains_0EB2_");
	assert_string_equal(name, "a::apply::<a::main::{closure#1}>");
	free(name);
	name = demangle("_ZN34_$LT$a..Sq$u20$as$u20$a..Shape$GT$4area17h40b5e2a844e7575aE.llvm.73");
	assert_string_equal(name, "<a::Sq as a::Shape>::area");
	free(name);
	name = demangle("__shapes_mod_MOD_area");
	assert_string_equal(name, "shapes_mod::area");
	free(name);
	name = demangle("__shapes_mod.shapes_sub_MOD___copy_shapes_mod_T.constprop.0@plt");
	assert_string_equal(name,
			    "shapes_mod.shapes_sub::__copy_shapes_mod_T [clone .constprop.0]@plt");
	free(name);
	assert_null(demangle("__MOD_area"));
	assert_null(demangle("___MOD_area"));
	assert_null(demangle("__m_MOD_"));
	assert_null(demangle("__m_MOD_.cold"));
	assert_null(demangle("__UNIQUE_MOD_area"));
	assert_null(demangle("MAIN__")); /* its name is in DWARF only */
	/* In perf's format. */
	name = demangle("camlStdlib__List__map_236");
	assert_string_equal(name, "Stdlib.List.map_236");
	free(name);
	name = demangle("camlStdlib__anon_fn$5bstdlib$2eml$3a334$2c0$2d$2d54$5d_1453");
	assert_string_equal(name, "Stdlib.anon_fn[stdlib.ml:334,0--54]_1453");
	free(name);
	name = demangle("camlStdlib__Bytes.$2b$2b_127"); /* from OCaml 5 */
	assert_string_equal(name, "Stdlib.Bytes.++_127");
	free(name);
	name = demangle("camlX__$1b$61$$2_1");
	assert_string_equal(name, "X.$1b$61$$2_1");
	free(name);
	assert_null(demangle("caml_alloc_small"));
	assert_null(demangle("caml"));
	assert_null(demangle("printf"));
	assert_null(demangle("list_init"));
	for (size_t i = 0; i < sizeof(go) / sizeof(*go); i++) {
		name = demangle(go[i].linked);
		assert_string_equal(name, go[i].runtime);
		free(name);
	}
	assert_null(demangle("main.main"));
	assert_null(demangle("[bpf].x[1]"));
	assert_null(demangle("void A.B::C()[Tier1]"));
	assert_null(demangle("A.B.C(int)[Tier1]"));
	assert_null(demangle("a.b[1]c"));
	/* 6.5 million lifetimes, "for<'a, 'b, ...>" */
	assert_null(demangle("_RINvCs_1a3mapFGqqqq_hEhNtB2_1TE"));
	assert_null(demangle("_Z"));
	assert_null(demangle("_R"));
	assert_null(demangle(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_symbols_without_size),
		cmocka_unit_test(test_bounds_of_stripped_programs),
		cmocka_unit_test(test_debug_file_by_build_id),
		cmocka_unit_test(test_debug_file_by_link),
		cmocka_unit_test(test_embedded_debug_file),
		cmocka_unit_test(test_servers_on_request_only),
		cmocka_unit_test(test_profiled_file_only),
		cmocka_unit_test(test_not_an_image),
		cmocka_unit_test(test_plt_names_agree_with_objdump),
		cmocka_unit_test(test_call_targets_are_procedures),
		cmocka_unit_test(test_stored_symbols),
		cmocka_unit_test(test_demangled_names),
	};

	return cmocka_run_group_tests(tests, make_fixtures, remove_fixtures);
}
