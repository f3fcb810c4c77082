// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/dead_lines.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/procedure_table.h"
#include "analysis/image/unit_inlines.h"
#include "analysis/image/zstd_sections.h"
#include "lib/array.h"
#include "lib/parse_guard.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

/* struct unit_range - code of one compilation unit; units without .debug_aranges are common */
struct unit_range {
	uint64_t start;
	uint64_t end;
	Dwarf_Off unit;
};

struct image_lines {
	const struct elf_file *file;
	const char *subject;	  /* for parse_guard_begin() */
	struct elf_file debug;	  /* a file opened here, or none */
	struct elf_file expanded; /* a copy of @file, or none */
	pthread_mutex_t lock;
	struct dead_lines dead;
	Dwarf *dwarf;
	bool opened;
	struct unit_range *ranges; /* by start */
	size_t count;
	size_t capacity;
	struct unit_inlines *inlines;
	struct u64_map names; /* by libdw's pointer to a path: the absolute, normalised path */
};

_Static_assert(IMAGE_LINES_INLINES_MAX == UNIT_INLINES_MAX, "the same limit");

static bool has_lines(const struct elf_file *file)
{
	static const char *const names[] = {".debug_line", ".zdebug_line"};
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (elf_file_section(file, names[i], &header) != NULL &&
		    header.sh_type != SHT_NOBITS)
			return true;
	}
	return false;
}

int image_lines_open(struct image_lines **ret, const struct procedure_table *procedures,
		     const struct debug_file_options *options)
{
	const struct image_elf *image = procedure_table_image(procedures);
	struct image_lines *lines = calloc(1, sizeof(*lines));

	*ret = NULL;
	if (lines == NULL)
		return -ENOMEM;
	lines->file = image_elf_file(image);
	if (!has_lines(lines->file))
		lines->file = procedure_table_debug_file(procedures);
	if (lines->file == NULL && debug_file_open(&lines->debug, image, options) == 0)
		lines->file = &lines->debug;
	if (lines->file == NULL) {
		free(lines);
		return 0;
	}
	lines->subject = lines->file->subject != NULL ? lines->file->subject
						      : image_elf_file(image)->subject;
	pthread_mutex_init(&lines->lock, NULL);
	*ret = lines;
	return 0;
}

void image_lines_close(struct image_lines *lines)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (lines == NULL)
		return;
	while (u64_map_next(&lines->names, &cursor, &key, &value))
		free((char *)(uintptr_t)value);
	u64_map_deinit(&lines->names);
	unit_inlines_destroy(lines->inlines);
	dwarf_end(lines->dwarf);
	dead_lines_restore(&lines->dead);
	elf_file_close(&lines->expanded);
	elf_file_close(&lines->debug);
	free(lines->ranges);
	pthread_mutex_destroy(&lines->lock);
	free(lines);
}

static void add_unit(struct image_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start >= end || array_reserve(&lines->ranges, &lines->capacity,
						  lines->count + 1, sizeof(*lines->ranges)) < 0)
			continue;
		lines->ranges[lines->count++] = (struct unit_range){
			.start = start, .end = end, .unit = dwarf_dieoffset(unit)};
	}
}

static int range_compare(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* libdw assumes that the strings of a section are terminated within the section. */
static bool strings_end(const struct elf_file *file)
{
	static const char *const names[] = {".debug_str", ".debug_line_str", ".zdebug_str",
					    ".zdebug_line_str"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_file_section(file, names[i], &header);
		Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;

		if (data != NULL && data->d_buf != NULL && data->d_size > 0 &&
		    ((const char *)data->d_buf)[data->d_size - 1] != '\0')
			return false;
	}
	return true;
}

static void open_dwarf(struct image_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	if (lines->opened)
		return;
	lines->opened = true;
	if (zstd_sections_expand(&lines->expanded, lines->file) == 0)
		lines->file = &lines->expanded;
	if (dead_lines_move(&lines->dead, lines->file) < 0)
		return;
	lines->dwarf = dwarf_begin_elf(lines->file->elf, DWARF_C_READ, NULL);
	if (lines->dwarf == NULL || !strings_end(lines->file))
		return;
	while (dwarf_get_units(lines->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		add_unit(lines, &die);
	if (lines->count > 0)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges), range_compare);
}

static const struct unit_range *unit_at(const struct image_lines *lines, uint64_t address)
{
	size_t low = partition_point(0, lines->count, i, lines->ranges[i].start <= address);

	return low > 0 && address < lines->ranges[low - 1].end ? &lines->ranges[low - 1] : NULL;
}

/* Return true for an absolute path without "/./", "//" and "/../". */
static bool image_lines_is_plain(const char *path)
{
	for (const char *at = path; *path == '/' && at != NULL; at = strchr(at + 1, '/')) {
		if (at[1] == '/' || strncmp(at, "/./", 3) == 0 || strncmp(at, "/../", 4) == 0)
			return false;
	}
	return *path == '/';
}

/*
 * Normalise an absolute path. Otherwise, a header that is included from several directories would
 * count as several files. Symbolic links are not resolved: the path may be of another machine.
 */
static void make_plain(char *path)
{
	char *to = path;

	for (const char *at = path; *at != '\0';) {
		size_t bytes;

		at += strspn(at, "/");
		bytes = strcspn(at, "/");
		if (bytes == 2 && strncmp(at, "..", 2) == 0) {
			while (to > path && *--to != '/')
				;
		} else if (bytes > 0 && !(bytes == 1 && *at == '.')) {
			*to++ = '/';
			memmove(to, at, bytes);
			to += bytes;
		}
		at += bytes;
	}
	*to = '\0';
}

/*
 * Return the absolute path; relative paths begin in the compiler's directory. NULL: out of memory.
 */
static const char *whole_path(struct image_lines *lines, Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute attribute;
	const char *directory = "";
	uint64_t *known;
	char *path;

	if (image_lines_is_plain(name))
		return name;
	if (*name != '/')
		directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (directory == NULL || (*name != '/' && *directory != '/'))
		return name;
	known = u64_map_insert(&lines->names, (uintptr_t)name);
	if (known == NULL)
		return NULL;
	if (*known == 0 && asprintf(&path, "%s/%s", directory, name) >= 0) {
		make_plain(path);
		*known = (uintptr_t)path;
	}
	return (const char *)(uintptr_t)*known;
}

static int find_locked(struct image_lines *lines, uint64_t address, const char **file,
		       unsigned int *line)
{
	const struct unit_range *range;
	const char *name;
	Dwarf_Line *entry;
	Dwarf_Die die;
	int number;

	open_dwarf(lines);
	range = unit_at(lines, address);
	if (range == NULL || dwarf_offdie(lines->dwarf, range->unit, &die) == NULL)
		return -ENOENT;
	entry = dwarf_getsrc_die(&die, address);
	name = entry != NULL ? dwarf_linesrc(entry, NULL, NULL) : NULL;
	if (name == NULL || dwarf_lineno(entry, &number) != 0 || number < 1)
		return -ENOENT;
	*file = whole_path(lines, &die, name);
	*line = (unsigned int)number;
	return *file != NULL ? 0 : -ENOMEM;
}

int image_lines_find(struct image_lines *lines, uint64_t address, const char **file,
		     unsigned int *line)
{
	const char *previous;
	int r;

	pthread_mutex_lock(&lines->lock);
	previous = parse_guard_begin(lines->subject);
	r = find_locked(lines, address, file, line);
	parse_guard_end(previous, r);
	pthread_mutex_unlock(&lines->lock);
	return r;
}

static int inlines_locked(struct image_lines *lines, uint64_t address, const char **names,
			  size_t *count)
{
	const struct unit_range *range;

	open_dwarf(lines);
	*count = 0;
	range = unit_at(lines, address);
	if (range == NULL)
		return 0;
	if (lines->inlines == NULL)
		lines->inlines = unit_inlines_create();
	if (lines->inlines == NULL)
		return -ENOMEM;
	return unit_inlines_find(lines->inlines, lines->dwarf, range->unit, address, names, count);
}

int image_lines_inlines(struct image_lines *lines, uint64_t address,
			const char *names[IMAGE_LINES_INLINES_MAX], size_t *count)
{
	const char *previous;
	int r;

	pthread_mutex_lock(&lines->lock);
	previous = parse_guard_begin(lines->subject);
	r = inlines_locked(lines, address, names, count);
	parse_guard_end(previous, r);
	pthread_mutex_unlock(&lines->lock);
	return r;
}
