// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_places.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_names.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "tools/base/text.h"
#include "tools/report/image_symbols.h"
#include "tools/report/procedure_classes.h"

/* A source file; each name has exactly one entry. @number: 1 .. */
struct source_file {
	const char *name; /* owned by a tally's row */
	uint64_t number;
};

/*
 * State while the places of an image are counted. Rows are stored as index in tally->rows plus 1.
 * @rows:  by offset
 * @lines: by file and line, for rows that are lines or files
 * @files: by libdw's pointer to the name, which may differ for equal names: struct source_file
 * @known: the files, a tree of tsearch(3)
 * @names: of the procedures; NULL: not loaded yet
 * @classes: of the procedures, for rows that are lines or files
 */
struct tally_places {
	struct u64_map rows;
	struct u64_map lines;
	struct u64_map files;
	void *known;
	size_t file_count;
	const struct procedure_names **names;
	struct procedure_classes classes;
};

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct source_file *)a)->name, ((const struct source_file *)b)->name);
}

/* Return: the file of that name; NULL if out of memory. */
static const struct source_file *file_by_name(struct tally *tally, const char *name)
{
	struct tally_places *places = tally->places;
	char *copy = strndup(name, TEXT_BYTES_MAX);
	struct source_file probe = {.name = copy}, *file, *const * found;

	if (copy == NULL)
		return NULL;
	found = tfind(&probe, &places->known, compare_files);
	if (found != NULL) {
		free(copy);
		return *found;
	}
	probe.name = tally_state_own(tally, copy);
	probe.number = ++places->file_count;
	file = tally_state_own(tally, malloc(sizeof(*file)));
	if (probe.name == NULL || file == NULL)
		return NULL;
	*file = probe;
	return tsearch(file, &places->known, compare_files) != NULL ? file : NULL;
}

/* Get the source file of a row, NULL if it is not known, and the line. Return: 0 or -ENOMEM. */
static int place_in_source(struct tally *tally, struct tally_row *row,
			   const struct source_file **ret)
{
	const char *name;
	uint64_t *known;
	int r = image_symbols_line(tally->symbols, row->offset, &name, &row->line);

	*ret = NULL;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	known = u64_map_insert(&tally->places->files, (uintptr_t)name);
	if (known == NULL)
		return -ENOMEM;
	if (*known == 0)
		*known = (uintptr_t)file_by_name(tally, name);
	*ret = (const struct source_file *)(uintptr_t)*known;
	if (*ret == NULL)
		return -ENOMEM;
	row->source = (*ret)->name;
	return 0;
}

/* Fill in the procedure, address and source line of an instruction. */
static int place_instruction(struct tally *tally, struct tally_row *row)
{
	size_t procedure = image_symbols_find(tally->symbols, row->offset);
	const struct procedure_names **names = &tally->places->names[procedure];
	const struct source_file *file;
	uint64_t start;

	row->has_address = image_symbols_start(tally->symbols, procedure, &start, &row->address);
	if (row->has_address) {
		row->inside = row->offset - start;
		row->address += row->inside;
	}
	if (*names == NULL)
		*names = tally_state_names(tally, procedure);
	if (*names == NULL)
		return -ENOMEM;
	row->names = *names;
	row->procedure = row->names->name;
	return tally->config.lines ? place_in_source(tally, row, &file) : 0;
}

/*
 * Fill in the source line or file of an offset.
 * @number: out: entry of @places->lines, which is common to all offsets of a line or file
 */
static int place_line(struct tally *tally, struct tally_row *row, uint64_t **number)
{
	const struct source_file *file = NULL;
	int class = procedure_classes_of(&tally->places->classes, row->offset), r = class;
	uint64_t key;

	/* Samples that shares exclude are in no line. */
	if (r >= 0 && profiler_class_excluded((enum profiler_class) class, &tally->config.include))
		row->class = (enum profiler_class) class;
	else if (r >= 0)
		r = place_in_source(tally, row, &file);
	row->offset = 0;
	if (r < 0)
		return r;
	if (file == NULL)
		row->procedure = image_symbols_lineless(tally->symbols);
	if (file == NULL || tally->config.by == TALLY_BY_FILE)
		row->line = 0;
	key = (file != NULL ? file->number : 0) << 32 | row->line;
	*number = u64_map_insert(&tally->places->lines,
				 row->class != 0 ? UINT64_MAX - row->class : key);
	return *number != NULL ? 0 : -ENOMEM;
}

static int tally_places_add_row(struct tally *tally, struct tally_row *row)
{
	struct tally_count *counts =
		tally_state_own(tally, calloc(tally->columns, sizeof(*counts)));

	row->counts = counts;
	if (counts == NULL || array_reserve(&tally->rows, &tally->row_capacity,
					    tally->row_count + 1, sizeof(*row)) < 0)
		return -ENOMEM;
	tally->rows[tally->row_count++] = *row;
	return 0;
}

/* Return the counts of the row for an offset, which is added if it is new. NULL: out of memory. */
static struct tally_count *counts_of(struct tally *tally, uint64_t offset)
{
	uint64_t *number = u64_map_insert(&tally->places->rows, offset), unused = 0;
	uint64_t *same = &unused;
	struct tally_row row = {
		.image = tally->image->label,
		.file = &tally->image->image,
		.image_id = tally->image->id,
		.identity = tally->image->identity,
		.of_profiler = tally->image->of_profiler,
		.offset = offset,
	};
	int r;

	if (number == NULL)
		return NULL;
	if (*number == 0) {
		if (tally->config.by == TALLY_BY_INSTRUCTION)
			r = place_instruction(tally, &row);
		else
			r = place_line(tally, &row, &same);
		if (r < 0 || (*same == 0 && tally_places_add_row(tally, &row) < 0))
			return NULL;
		if (*same == 0)
			*same = tally->row_count;
		*number = *same;
	}
	/* Rows are not sorted yet, so the index is valid. */
	return (struct tally_count *)(uintptr_t)tally->rows[*number - 1].counts;
}

static int count_places(void *context, const struct profile *profile)
{
	struct tally *tally = context;
	long event = tally_state_wanted(tally, profile);
	double factor = tally_state_factor(tally, profile);

	for (size_t i = 0; event >= 0 && i < profile->count; i++) {
		struct tally_count *counts = counts_of(tally, profile->samples[i].offset);

		if (counts == NULL)
			return -ENOMEM;
		tally_count_add(&counts[event], profile->samples[i].count, factor);
	}
	return 0;
}

/* The tally owns the names of the files. */
static void forget_file(void *file)
{
	(void)file;
}

int tally_places_count(struct tally *tally, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err)
{
	struct tally_places places = {0};
	int r = -ENOMEM;

	tally->places = &places;
	places.names = calloc(image_symbols_count(tally->symbols), sizeof(*places.names));
	if (places.names != NULL)
		r = 0;
	if (r == 0 && tally->config.by != TALLY_BY_INSTRUCTION &&
	    profiler_class_needs_procedures(&tally->image->image, tally->probes,
					    &tally->config.include))
		r = procedure_classes_init(&places.classes, tally->symbols, &tally->image->image,
					   tally->probes);
	if (r == 0)
		r = profile_reader_profiles(reader, filter, count_places, tally, err);
	if (r == -ENOMEM)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	free((void *)places.names);
	tdestroy(places.known, forget_file);
	procedure_classes_deinit(&places.classes);
	u64_map_deinit(&places.rows);
	u64_map_deinit(&places.lines);
	u64_map_deinit(&places.files);
	tally->places = NULL;
	return r;
}
