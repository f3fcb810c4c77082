// SPDX-License-Identifier: GPL-2.0-only
/* A kernel simulated with files, and the running kernel. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kallsyms.h"
#include "daemon/image/kernel_image.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "tests/fixtures/image_table_fill.h"

#define TEXT 0xffffffff81000000UL
#define MODULE 0xffffffffc0100000UL

struct fixture {
	char root[64];
	char kallsyms[96];
	char modules[96];
	char notes[96];
	char module_directory[96];
	struct kernel_paths paths;
	struct image_table *table;
	struct image_map *map;
	struct kernel_images *kernel;
	struct error err;
};

static void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* Write a note of another kind, then the build-id. */
static void write_notes(const char *path, uint8_t id)
{
	uint8_t notes[64] = {6,	  0,   0,   0, 3, 0, 0, 0, 1,	1,   0,	  0, 'L', 'i',
			     'n', 'u', 'x', 0, 0, 0, 1, 2, 3,	0,   4,	  0, 0,	  0,
			     20,  0,   0,   0, 3, 0, 0, 0, 'G', 'N', 'U', 0};

	memset(notes + 40, id, 20);
	write_file(path, notes, 60);
}

static void beta_is(const struct fixture *fixture, const char *state)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/module/beta/initstate", fixture->root);
	write_text(path, state);
}

static void setup(struct fixture *fixture, const char *kallsyms, const char *modules)
{
	char path[160];

	memset(fixture, 0, sizeof(*fixture));
	strcpy(fixture->root, "/tmp/unit_kernel_image.XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	snprintf(fixture->kallsyms, sizeof(fixture->kallsyms), "%s/kallsyms", fixture->root);
	snprintf(fixture->modules, sizeof(fixture->modules), "%s/modules", fixture->root);
	snprintf(fixture->notes, sizeof(fixture->notes), "%s/notes", fixture->root);
	snprintf(fixture->module_directory, sizeof(fixture->module_directory), "%s/module",
		 fixture->root);
	write_text(fixture->kallsyms, kallsyms);
	if (modules != NULL)
		write_text(fixture->modules, modules);
	write_notes(fixture->notes, 7);
	snprintf(path, sizeof(path), "%s/module/alpha/notes", fixture->root);
	assert_int_equal(mkdir(fixture->module_directory, 0700), 0);
	snprintf(path, sizeof(path), "%s/module/alpha", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/notes");
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/.note.gnu.build-id");
	write_notes(path, 8);
	snprintf(path, sizeof(path), "%s/module/beta", fixture->root);
	assert_int_equal(mkdir(path, 0700), 0);
	beta_is(fixture, "live\n");
	fixture->paths = (struct kernel_paths){fixture->kallsyms, fixture->modules, fixture->notes,
					       fixture->module_directory};
	assert_int_equal(image_table_create(&fixture->table, NULL), 0);
	assert_int_equal(image_map_create(&fixture->map, fixture->table, true, NULL), 0);
	assert_int_equal(kernel_images_create_from(&fixture->kernel, &fixture->paths,
						   fixture->table, fixture->map, &fixture->err),
			 0);
}

static void teardown(struct fixture *fixture)
{
	char command[128];

	kernel_images_destroy(fixture->kernel);
	image_map_destroy(fixture->map);
	image_table_destroy(fixture->table);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->root);
	assert_int_equal(system(command), 0);
}

static const char kallsyms_text[] = "ffffffff81000000 T __pi__text\n"
				    "ffffffff81000000 t a_local_name\n"
				    "ffffffff81000000 T _text\n"
				    "ffffffff81000000 T _stext\n"
				    "ffffffff81000000 T startup\n"
				    "ffffffff81000100 t local.cold\n"
				    "ffffffff81000100 t localized\n"
				    "ffffffff810001f0 t __pfx_weak_one\n"
				    "ffffffff81000200 W weak_one\n"
				    "ffffffff81000300 D data_in_text\n"
				    "ffffffff81004000 T _etext\n"
				    "ffffffff82000000 T init_text\n"
				    "ffffffffc0100000 t alpha_init\t[alpha]\n"
				    "ffffffffc0100040 T alpha_open\t[alpha]\n"
				    "ffffffffc0100080 d alpha_data\t[alpha]\n"
				    "ffffffffc0104000 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n"
				    "ffffffffc0108000 t beta_f\t[beta]\n"
				    "not a line\n"
				    "ffffffffc0109000\n"
				    "ffffffffc0109000 t \n"
				    "ffffffffc0109000 t x\t[\n";

static const char modules_text[] = "alpha 65536 1 beta, Live 0xffffffffc0100000 (E)\n"
				   "beta 16384 0 - Live 0xffffffffc0108000\n"
				   "../evil 16384 0 - Live 0xffffffffc0200000\n"
				   "broken\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n";

static struct image_place at(struct fixture *fixture, uint64_t pc)
{
	return image_map_lookup(fixture->map, 0, 0, pc);
}

static void images_and_their_ends(void **state)
{
	struct fixture fixture;
	const struct profile_image *image;
	struct image_place place;

	(void)state;
	setup(&fixture, kallsyms_text, modules_text);
	assert_string_equal(fixture.err.message, "");
	place = at(&fixture, TEXT + 0x3fff);
	assert_int_equal(place.offset, 0x3fff);
	image = image_table_get(fixture.table, place.image);
	assert_int_equal(image->kind, PROFILE_IMAGE_KERNEL);
	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_BUILD_ID);
	assert_int_equal(image->identity[19], 7);
	assert_int_equal(at(&fixture, TEXT + 0x4000).unknown, IMAGE_UNKNOWN_KERNEL);
	place = at(&fixture, MODULE + 0x3fff);
	image = image_table_get(fixture.table, place.image);
	assert_int_equal(image->kind, PROFILE_IMAGE_MODULE);
	assert_string_equal(image->path, "alpha.ko");
	assert_int_equal(image->identity[0], 8);
	assert_int_equal(place.offset, 0x3fff);
	/* The listed size of alpha overlaps a BPF program and beta. */
	assert_int_equal(at(&fixture, MODULE + 0x4000).unknown, IMAGE_UNKNOWN_KERNEL);
	place = at(&fixture, MODULE + 0x8004);
	image = image_table_get(fixture.table, place.image);
	assert_int_equal(strncmp(image->path, "beta.ko-", 8), 0);
	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_NONE);
	assert_int_equal(place.offset, 4);
	assert_int_equal(at(&fixture, 0xffffffffc0200000).unknown, IMAGE_UNKNOWN_KERNEL);
	teardown(&fixture);
}

static void the_best_name_comes_first(void **state)
{
	static const struct profile_symbol expected[] = {
		{0, 0, "startup"},	  {0, 0, "_text"},	  {0, 0, "_stext"},
		{0, 0, "__pi__text"},	  {0, 0, "a_local_name"}, {0x100, 0, "localized"},
		{0x100, 0, "local.cold"}, {0x200, 0, "weak_one"},
	};
	struct fixture fixture;
	struct profile_symbol *symbols;
	size_t count;
	char *names;

	(void)state;
	setup(&fixture, kallsyms_text, modules_text);
	assert_int_equal(kernel_images_symbols(fixture.kernel, at(&fixture, TEXT).image, &symbols,
					       &count, &names, NULL),
			 0);
	assert_int_equal(count, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(symbols[i].name, expected[i].name);
		assert_int_equal(symbols[i].offset, expected[i].offset);
	}
	free(symbols);
	free(names);
	assert_int_equal(kernel_images_symbols(fixture.kernel, at(&fixture, MODULE).image, &symbols,
					       &count, &names, NULL),
			 0);
	assert_int_equal(count, 2);
	assert_string_equal(symbols[1].name, "alpha_open");
	assert_int_equal(symbols[1].offset, 0x40);
	free(symbols);
	free(names);
	assert_int_equal(kernel_images_symbols(fixture.kernel, IMAGE_UNKNOWN, &symbols, &count,
					       &names, NULL),
			 -ENOENT);
	teardown(&fixture);
}

static void modules_come_and_go(void **state)
{
	struct fixture fixture;
	uint32_t beta, count;

	(void)state;
	setup(&fixture, kallsyms_text, NULL);
	assert_int_equal(at(&fixture, MODULE).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(at(&fixture, TEXT + 1).offset, 1);
	write_text(fixture.modules, "beta 16384 0 - Live 0xffffffffc0108000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	beta = at(&fixture, MODULE + 0x8000).image;
	assert_int_not_equal(beta, IMAGE_UNKNOWN);
	count = image_table_count(fixture.table);
	/* Only a use count changed; then the module is unloaded; then loaded elsewhere. */
	write_text(fixture.modules, "beta 16384 3 - Live 0xffffffffc0108000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 0);
	write_text(fixture.modules, "");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_int_equal(at(&fixture, MODULE + 0x8000).image, beta);
	write_text(fixture.modules, "beta 16384 0 - Live 0xffffffffc0300000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_int_equal(at(&fixture, 0xffffffffc0300010).image, beta);
	assert_int_equal(image_table_count(fixture.table), count);
	teardown(&fixture);
}

static size_t symbol_count(struct fixture *fixture, uint32_t image)
{
	struct profile_symbol *symbols;
	size_t count;
	char *names;

	if (kernel_images_symbols(fixture->kernel, image, &symbols, &count, &names, NULL) < 0)
		return 0;
	free(symbols);
	free(names);
	return count;
}

/*
 * The range of an unloaded module becomes unknown once no sample of it can follow. Loaded modules
 * stay known.
 */
static void gone_modules_leave_their_place(void **state)
{
	struct fixture fixture;
	uint64_t before = clock_monotonic_ns();
	uint32_t kernel, alpha, beta;

	(void)state;
	setup(&fixture, kallsyms_text, modules_text);
	kernel = at(&fixture, TEXT).image;
	alpha = at(&fixture, MODULE).image;
	beta = at(&fixture, MODULE + 0x8000).image;
	assert_false(kernel_images_unsettled(fixture.kernel));
	/* One module is unloaded, the other one is loaded elsewhere. */
	write_text(fixture.modules, "beta 16384 0 - Live 0xffffffffc0300000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_true(kernel_images_unsettled(fixture.kernel));
	kernel_images_expire(fixture.kernel, before);
	assert_true(kernel_images_unsettled(fixture.kernel));
	assert_int_equal(at(&fixture, MODULE).image, alpha);
	assert_int_equal(at(&fixture, MODULE + 0x8000).image, beta);
	kernel_images_expire(fixture.kernel, clock_monotonic_ns());
	assert_false(kernel_images_unsettled(fixture.kernel));
	assert_int_equal(at(&fixture, MODULE).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(at(&fixture, MODULE + 0x8000).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(at(&fixture, 0xffffffffc0300004).image, beta);
	assert_int_equal(at(&fixture, 0xffffffffc0300004).offset, 4);
	assert_int_equal(at(&fixture, TEXT + 7).image, kernel);
	assert_int_equal(at(&fixture, TEXT + 7).offset, 7);
	/* Its symbols are still available. */
	assert_int_equal(symbol_count(&fixture, alpha), 2);
	teardown(&fixture);
}

/* Unload a module after @before intervals, and request its symbols after @after more. */
static size_t names_of_gone(unsigned int before, unsigned int after)
{
	struct fixture fixture;
	uint32_t alpha;
	size_t names;

	setup(&fixture, kallsyms_text, "alpha 16384 0 - Live 0xffffffffc0100000\n");
	alpha = at(&fixture, MODULE).image;
	while (before-- > 0)
		kernel_images_forget_symbols(fixture.kernel);
	write_text(fixture.modules, "");
	write_text(fixture.kallsyms, "ffffffff81000000 T _text\nffffffff81004000 T _etext\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	while (after-- > 0)
		kernel_images_forget_symbols(fixture.kernel);
	names = symbol_count(&fixture, alpha);
	assert_int_equal(symbol_count(&fixture, alpha), 0);
	teardown(&fixture);
	return names;
}

/*
 * Samples of a module that came or went after a flush arrive with the next one. The symbols are
 * kept until these samples have been merged.
 */
static void gone_modules_have_names(void **state)
{
	(void)state;
	assert_int_equal(names_of_gone(0, 0), 2);
	assert_int_equal(names_of_gone(0, 1), 2);
	assert_int_equal(names_of_gone(1, 0), 2);
	assert_int_equal(names_of_gone(1, 1), 2);
	assert_int_equal(names_of_gone(0, 2), 0);
	assert_int_equal(names_of_gone(1, 2), 0);
}

/* A module that is listed before its build-id is available is not taken for one without. */
static void modules_that_are_loading(void **state)
{
	const struct profile_image *image;
	struct fixture fixture;
	char path[128];

	(void)state;
	setup(&fixture, kallsyms_text, NULL);
	beta_is(&fixture, "coming\n");
	write_text(fixture.modules, "alpha 16384 1 - Loading 0xffffffffc0100000\n"
				    "beta 16384 1 - Loading 0xffffffffc0108000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	image = image_table_get(fixture.table, at(&fixture, MODULE).image);
	assert_string_equal(image->path, "alpha.ko");
	assert_int_equal(at(&fixture, MODULE + 0x8000).unknown, IMAGE_UNKNOWN_KERNEL);

	snprintf(path, sizeof(path), "%s/module/beta/notes", fixture.root);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/.note.gnu.build-id");
	write_notes(path, 9);
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	image = image_table_get(fixture.table, at(&fixture, MODULE + 0x8000).image);
	assert_string_equal(image->path, "beta.ko");

	/*
	 * The same when it is unloaded: it is listed with a smaller size, as after its init, and
	 * without a build-id. It may have been live when the list was read.
	 */
	assert_int_equal(unlink(path), 0);
	beta_is(&fixture, "going\n");
	write_text(fixture.modules, "alpha 16384 1 - Live 0xffffffffc0100000\n"
				    "beta 8192 1 - Live 0xffffffffc0108000\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	image = image_table_get(fixture.table, at(&fixture, MODULE + 0x8000).image);
	assert_string_equal(image->path, "beta.ko");
	teardown(&fixture);
}

/* The init section of a module is separate, up to the end of a page, unless there is other code. */
static void modules_that_begin(void **state)
{
	struct fixture fixture;
	uint32_t alpha;

	(void)state;
	setup(&fixture,
	      "ffffffff81000000 T _text\n"
	      "ffffffff81004000 T _etext\n"
	      "ffffffffc0102010 t alpha_init\t[alpha]\n"
	      "ffffffffc0100040 T alpha_open\t[alpha]\n"
	      "ffffffffc010a010 t beta_init\t[beta]\n"
	      "ffffffffc010a800 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n",
	      "alpha 4096 1 - Loading 0xffffffffc0100000\n"
	      "beta 8192 0 - Live 0xffffffffc0108000\n");
	alpha = at(&fixture, MODULE).image;
	assert_int_not_equal(alpha, IMAGE_UNKNOWN);
	assert_int_equal(at(&fixture, MODULE + 0x2fff).image, alpha);
	assert_int_equal(at(&fixture, MODULE + 0x2fff).offset, 0x2fff);
	assert_int_equal(at(&fixture, MODULE + 0x3000).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(at(&fixture, MODULE + 0xa7ff).image, at(&fixture, MODULE + 0x8000).image);
	assert_int_equal(at(&fixture, MODULE + 0xa800).unknown, IMAGE_UNKNOWN_KERNEL);
	teardown(&fixture);
}

/* Another build at the address of the first one, as after rmmod and insmod. */
static void modules_that_are_rebuilt(void **state)
{
	static const char modules[] = "alpha 16384 0 - Live 0xffffffffc0100000\n";
	const struct profile_image *image;
	struct fixture fixture;
	uint32_t first, second;
	char path[128];

	(void)state;
	setup(&fixture, kallsyms_text, modules);
	first = at(&fixture, MODULE).image;
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 0);
	snprintf(path, sizeof(path), "%s/module/alpha/notes/.note.gnu.build-id", fixture.root);
	write_notes(path, 9);
	write_text(fixture.kallsyms, "ffffffff81000000 T _text\nffffffff81004000 T _etext\n"
				     "ffffffffc0100000 t alpha_other\t[alpha]\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	second = at(&fixture, MODULE).image;
	assert_int_not_equal(second, first);
	image = image_table_get(fixture.table, second);
	assert_int_equal(image->identity[0], 9);
	assert_int_equal(symbol_count(&fixture, first), 2);
	assert_int_equal(symbol_count(&fixture, second), 1);
	teardown(&fixture);
}

/* Without a build-id it has one image, but with the symbols of the last build. */
static void nameless_modules_that_are_rebuilt(void **state)
{
	static const char modules[] = "beta 16384 0 - Live 0xffffffffc0108000\n";
	char path[128], away[128];
	struct fixture fixture;

	(void)state;
	setup(&fixture, kallsyms_text, modules);
	assert_int_equal(symbol_count(&fixture, at(&fixture, MODULE + 0x8000).image), 1);
	/* The old directory is kept, so that the new one has another inode number. */
	snprintf(path, sizeof(path), "%s/module/beta", fixture.root);
	snprintf(away, sizeof(away), "%s/module/away", fixture.root);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	beta_is(&fixture, "live\n");
	write_text(fixture.kallsyms, "ffffffff81000000 T _text\nffffffff81004000 T _etext\n"
				     "ffffffffc0108000 t beta_f\t[beta]\n"
				     "ffffffffc0108010 t beta_g\t[beta]\n");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 0);
	assert_int_equal(symbol_count(&fixture, at(&fixture, MODULE + 0x8000).image), 2);
	teardown(&fixture);
}

/* A module without room in the table is unknown; all others are unaffected. */
static void modules_without_room(void **state)
{
	struct fixture fixture;
	uint32_t alpha;

	(void)state;
	setup(&fixture, kallsyms_text, "alpha 16384 0 - Live 0xffffffffc0100000\n");
	alpha = at(&fixture, MODULE).image;
	image_table_fill(fixture.table, IMAGE_TABLE_ROOM);
	write_text(fixture.modules, modules_text);
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 0);
	assert_int_equal(at(&fixture, MODULE).image, alpha);
	assert_int_equal(at(&fixture, MODULE + 0x8000).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(symbol_count(&fixture, IMAGE_UNKNOWN), 0);
	write_text(fixture.modules, "");
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 1);
	assert_int_equal(symbol_count(&fixture, IMAGE_UNKNOWN), 0);
	assert_int_equal(symbol_count(&fixture, alpha), 2);
	teardown(&fixture);
}

static void hidden_addresses(void **state)
{
	struct fixture fixture;

	(void)state;
	setup(&fixture,
	      "0000000000000000 T _text\n0000000000000000 T _etext\n"
	      "0000000000000000 t f\t[alpha]\n",
	      "alpha 65536 1 beta, Live 0x0000000000000000 (E)\n");
	assert_non_null(strstr(fixture.err.message, "kptr_restrict"));
	assert_int_equal(at(&fixture, TEXT).unknown, IMAGE_UNKNOWN_KERNEL);
	assert_int_equal(kernel_images_refresh(fixture.kernel, NULL), 0);
	teardown(&fixture);
}

static void no_kallsyms(void **state)
{
	struct fixture fixture;

	(void)state;
	setup(&fixture, "", NULL);
	assert_string_not_equal(fixture.err.message, "");
	unlink(fixture.kallsyms);
	kernel_images_destroy(fixture.kernel);
	assert_int_equal(kernel_images_create_from(&fixture.kernel, &fixture.paths, fixture.table,
						   fixture.map, &fixture.err),
			 0);
	assert_non_null(strstr(fixture.err.message, "kallsyms"));
	teardown(&fixture);
}

/* Reading kallsyms is slow: the first reading keeps the symbols. */
static void symbols_need_no_second_reading(void **state)
{
	struct fixture fixture;
	struct profile_symbol *symbols;
	size_t count;
	char *names;

	(void)state;
	setup(&fixture, kallsyms_text, modules_text);
	unlink(fixture.kallsyms);
	assert_int_equal(kernel_images_symbols(fixture.kernel, at(&fixture, TEXT).image, &symbols,
					       &count, &names, &fixture.err),
			 0);
	assert_int_equal(count, 8);
	free(symbols);
	free(names);
	teardown(&fixture);
}

static void user_mode_has_the_vdso_only(void **state)
{
	struct image_table *table;
	struct image_map *map;
	struct kernel_images *kernel;
	struct error err;
	uint32_t before;

	(void)state;
	assert_int_equal(image_table_create(&table, NULL), 0);
	assert_int_equal(image_map_create(&map, table, true, NULL), 0);
	before = image_table_count(table);
	assert_int_equal(kernel_images_create_user(&kernel, table, map, &err), 0);
	assert_string_equal(err.message, "");
	assert_int_equal(kernel_images_refresh(kernel, &err), 0);
	assert_int_equal(image_table_count(table), before + 1);
	kernel_images_destroy(kernel);
	image_map_destroy(map);
	image_table_destroy(table);
}

static void find_schedule(void *context, const struct kallsyms_symbol *symbol)
{
	if (strcmp(symbol->name, "schedule") == 0 && symbol->module[0] == '\0')
		*(uint64_t *)context = symbol->address;
}

static bool has_symbol(const struct profile_symbol *symbols, size_t count, const char *name,
		       uint64_t offset)
{
	bool found = false;
	size_t i;

	for (i = 0; i < count; i++) {
		assert_true(i == 0 || symbols[i].offset >= symbols[i - 1].offset);
		found = found || (strcmp(symbols[i].name, name) == 0 &&
				  (offset == UINT64_MAX || symbols[i].offset == offset));
	}
	return found;
}

static void running_kernel(void **state)
{
	struct image_table *table;
	struct kernel_images *kernel;
	struct profile_symbol *symbols;
	struct image_map *map;
	struct image_place place;
	struct error err;
	uint64_t schedule = 0;
	size_t count;
	char *names;

	(void)state;
	assert_int_equal(image_table_create(&table, NULL), 0);
	assert_int_equal(image_map_create(&map, table, true, NULL), 0);
	assert_int_equal(kernel_images_create(&kernel, table, map, &err), 0);
	assert_int_equal(kernel_images_symbols(kernel, (uint32_t)image_table_vdso(table), &symbols,
					       &count, &names, NULL),
			 0);
	assert_true(has_symbol(symbols, count, "clock_gettime", UINT64_MAX) ||
		    has_symbol(symbols, count, "__vdso_clock_gettime", UINT64_MAX) ||
		    has_symbol(symbols, count, "__kernel_clock_gettime", UINT64_MAX));
	free(symbols);
	free(names);
	if (kallsyms_walk("/proc/kallsyms", find_schedule, &schedule, NULL) == 0 && schedule != 0) {
		assert_string_equal(err.message, "");
		place = image_map_lookup(map, 1, 0, schedule);
		assert_int_equal(image_table_get(table, place.image)->kind, PROFILE_IMAGE_KERNEL);
		assert_int_equal(
			kernel_images_symbols(kernel, place.image, &symbols, &count, &names, NULL),
			0);
		assert_true(count > 10000);
		assert_true(has_symbol(symbols, count, "schedule", place.offset));
		free(symbols);
		free(names);
	}
	kernel_images_destroy(kernel);
	image_map_destroy(map);
	image_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_and_their_ends),
		cmocka_unit_test(the_best_name_comes_first),
		cmocka_unit_test(modules_come_and_go),
		cmocka_unit_test(gone_modules_leave_their_place),
		cmocka_unit_test(gone_modules_have_names),
		cmocka_unit_test(modules_that_are_loading),
		cmocka_unit_test(modules_that_begin),
		cmocka_unit_test(modules_that_are_rebuilt),
		cmocka_unit_test(nameless_modules_that_are_rebuilt),
		cmocka_unit_test(modules_without_room),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(no_kallsyms),
		cmocka_unit_test(symbols_need_no_second_reading),
		cmocka_unit_test(user_mode_has_the_vdso_only),
		cmocka_unit_test(running_kernel),
	};

	return cmocka_run_group_tests_name("kernel_image", tests, NULL, NULL);
}
