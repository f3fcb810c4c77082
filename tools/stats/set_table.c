// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/set_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

struct set_table {
	struct tally **tallies; /* one per database */
	size_t tally_count;
	const struct tally_row *
		*rows; /* all rows of all tallies, sorted; then the first row of each name */
	size_t row_count;
	struct significance_cell *cells;
	size_t sets;
	size_t count;
	bool instructions; /* rows are instructions */
	struct program_match programs;
	struct build_names names;
};

CLEANUP_DEFINE(set_table, struct set_table *, set_table_destroy)

static int make_tally(struct set_table *table, struct sample_sets *sets, size_t number,
		      enum tally_by by, const struct cli *cli, struct error *err)
{
	struct sample_source *source = &sets->sources[number];
	const char *event = sets->event;
	struct tally_config config = {
		.events = &event,
		.event_count = 1,
		.sets = &source->sets,
		.set_count = sets->count,
		.filter = source->filter,
		.image = cli->image,
		.by = by,
		.scale = &source->scale,
		.demangle = cli->demangle,
		.debug = source->debug,
		.include = cli->include,
		.tool = cli->tool,
	};
	uint64_t unknown;
	int r;

	if (source->epoch_count == 0)
		return 0;
	r = tally_create(&table->tallies[number], source->reader, &config, err);
	if (r < 0)
		return r;
	sets->header.samples += tally_samples(table->tallies[number], &unknown);
	sets->header.unknown += unknown;
	sets->header.excluded += tally_excluded_samples(table->tallies[number], PROFILER_WHOLE);
	sets->header.idle += tally_excluded_samples(table->tallies[number], PROFILER_IDLE);
	table->row_count += tally_row_count(table->tallies[number]);
	return 0;
}

static const char *set_table_name_of(const struct tally_row *row)
{
	if (row->source != NULL)
		return row->source;
	return row->procedure != NULL ? row->procedure : "";
}

/* Rows of lines also have a line number. */
static int compare_names(const struct tally_row *x, const struct tally_row *y)
{
	int r = strcmp(set_table_name_of(x), set_table_name_of(y));

	return r != 0 ? r : (x->line > y->line) - (x->line < y->line);
}

static int compare_places(const struct tally_row *x, const struct tally_row *y)
{
	int r = (x->address > y->address) - (x->address < y->address);

	/* Only rows of instructions have an offset. */
	return r != 0 ? r : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Order by path and name, then build-id and place. */
static int set_table_compare_rows(const void *a, const void *b)
{
	const struct tally_row *x = *(const struct tally_row *const *)a;
	const struct tally_row *y = *(const struct tally_row *const *)b;
	int r = strcmp(x->file->path, y->file->path);

	if (r == 0)
		r = compare_names(x, y);
	if (r == 0)
		r = strcmp(x->identity, y->identity);
	return r != 0 ? r : compare_places(x, y);
}

static bool same_name(const struct tally_row *x, const struct tally_row *y)
{
	return strcmp(x->file->path, y->file->path) == 0 && compare_names(x, y) == 0;
}

static bool same_procedure(const struct tally_row *x, const struct tally_row *y)
{
	return strcmp(x->identity, y->identity) == 0 && compare_places(x, y) == 0;
}

/* Return true if the rows of a name are one procedure per build, so that builds match by name. */
static bool is_unique(const struct tally_row *const *rows, size_t count, bool instructions)
{
	if (instructions)
		return false;
	for (size_t i = 1; i < count; i++) {
		if (strcmp(rows[i]->identity, rows[i - 1]->identity) == 0 &&
		    compare_places(rows[i], rows[i - 1]) != 0)
			return false;
	}
	return strncmp(set_table_name_of(rows[0]), "proc_0x", 7) != 0;
}

/* Merge the rows of one name into rows of the table, in place. */
static void merge(struct set_table *table, size_t first, size_t count)
{
	bool unique = is_unique(table->rows + first, count, table->instructions);

	for (size_t i = 0; i < count; i++) {
		const struct tally_row *row = table->rows[first + i];
		struct significance_cell *cells;

		if (i == 0 || (!unique && !same_procedure(row, table->rows[table->count - 1])))
			table->rows[table->count++] = row;
		if (row->in_part)
			table->rows[table->count - 1] = row;
		cells = &table->cells[(table->count - 1) * table->sets];
		for (size_t set = 0; set < table->sets; set++) {
			const struct tally_count *added = &row->counts[set];

			cells[set].samples += (double)added->samples;
			cells[set].value += (double)added->samples + added->extra;
		}
	}
}

static size_t first_set(const struct tally_row *row, size_t sets)
{
	size_t set = 0;

	while (set < sets && row->counts[set].samples == 0)
		set++;
	return set;
}

static int gather_rows(struct set_table *table, const struct sample_sets *sets, bool builds)
{
	_cleanup_free_ struct build_row *rows = calloc(table->row_count + 1, sizeof(*rows));
	size_t filled = 0;
	int r;

	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < table->tally_count; i++) {
		for (size_t j = 0;
		     table->tallies[i] != NULL && j < tally_row_count(table->tallies[i]); j++) {
			struct tally_row *row = &tally_rows(table->tallies[i])[j];

			if (row->excluded)
				continue;
			rows[filled] = (struct build_row){row, row->file, &sets->sources[i].debug,
							  first_set(row, table->sets)};
			table->rows[filled++] = row;
		}
	}
	table->row_count = filled;
	r = program_match(&table->programs, rows, filled, table->sets);
	return r == 0 && builds ? build_match(rows, filled, table->instructions, &table->names) : r;
}

static int set_table_make_rows(struct set_table *table, const struct sample_sets *sets, bool builds)
{
	size_t filled, next;

	table->rows = calloc(table->row_count + 1, sizeof(struct tally_row *));
	table->cells = calloc(table->row_count + 1, table->sets * sizeof(*table->cells));
	if (table->rows == NULL || table->cells == NULL || gather_rows(table, sets, builds) < 0)
		return -ENOMEM;
	filled = table->row_count;
	if (filled > 0)
		qsort(table->rows, filled, sizeof(*table->rows), set_table_compare_rows);
	for (size_t i = 0; i < filled; i = next) {
		for (next = i + 1; next < filled && same_name(table->rows[i], table->rows[next]);
		     next++)
			;
		merge(table, i, next - i);
	}
	return 0;
}

int set_table_create(struct set_table **ret, struct sample_sets *sets, enum tally_by by,
		     bool builds, const struct cli *cli, struct error *err)
{
	_cleanup_(cleanup_set_table) struct set_table *table = calloc(1, sizeof(*table));
	int r = 0;

	if (table == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	table->sets = sets->count;
	table->names.demangle = cli->demangle;
	table->instructions = by == TALLY_BY_INSTRUCTION;
	table->tally_count = sets->source_count;
	table->tallies = calloc(sets->source_count + 1, sizeof(struct tally *));
	if (table->tallies == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < sets->source_count && r == 0; i++)
		r = make_tally(table, sets, i, by, cli, err);
	if (r == 0 && set_table_make_rows(table, sets, builds) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		return r;
	*ret = take_ptr(table);
	return 0;
}

void set_table_destroy(struct set_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->tally_count; i++)
		tally_destroy(table->tallies[i]);
	free(table->tallies);
	free(table->rows);
	free(table->programs.list);
	build_names_deinit(&table->names);
	free(table->cells);
	free(table);
}

size_t set_table_count(const struct set_table *table)
{
	return table->count;
}

struct set_table_row set_table_row(const struct set_table *table, size_t index)
{
	return (struct set_table_row){table->rows[index], &table->cells[index * table->sets]};
}

const struct significance_cell *set_table_cells(const struct set_table *table)
{
	return table->cells;
}

const struct program_match *set_table_programs(const struct set_table *table)
{
	return &table->programs;
}

/* Add the counts of a set in a tally, or subtract them. */
static void add_count(struct significance_cell *sum, const struct tally_count *count, int sign)
{
	sum->samples += sign * (double)count->samples;
	sum->value += sign * ((double)count->samples + count->extra);
}

struct significance_cell set_table_excluded(const struct set_table *table,
					    enum profiler_class class, size_t set)
{
	struct significance_cell sum = {0};

	for (size_t i = 0; i < table->tally_count; i++) {
		if (table->tallies[i] != NULL)
			add_count(&sum, tally_excluded(table->tallies[i], class, set), 1);
	}
	return sum;
}

struct significance_cell set_table_rest(const struct set_table *table, size_t set)
{
	struct significance_cell rest = {0};

	for (size_t i = 0; i < table->tally_count; i++) {
		const struct tally *tally = table->tallies[i];

		if (tally == NULL)
			continue;
		add_count(&rest, tally_total(tally, set), 1);
		add_count(&rest, tally_excluded(tally, PROFILER_WHOLE, set), -1);
		add_count(&rest, tally_excluded(tally, PROFILER_IDLE, set), -1);
	}
	for (size_t row = 0; row < table->count; row++) {
		rest.samples -= table->cells[row * table->sets + set].samples;
		rest.value -= table->cells[row * table->sets + set].value;
	}
	/* Scaled values leave a rounding error. */
	return rest.samples > 0 ? rest : (struct significance_cell){0};
}
