// SPDX-License-Identifier: GPL-2.0-only
#include "tools/list/list_procedure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/u64_map.h"
#include "tools/base/text.h"
#include "tools/annotate/procedure_lookup.h"
#include "tools/annotate/calc_procedure.h"
#include "tools/report/source_text.h"

/* Lines printed before the first line with code and after the last one. */
#define CONTEXT 2
/* Longer sequences of lines without code are left out. */
#define GAP 8

/* The ranges of a procedure, and its samples by address. */
struct scope {
	const struct list_procedure *procedure;
	struct image_code *code;
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t count;
	struct u64_map rows; /* by address: index in the tally's rows plus 1 */
};

static void scope_deinit(struct scope *scope)
{
	u64_map_deinit(&scope->rows);
}

/*
 * Return true if an address belongs to the procedure. Other procedures may lie within its ranges.
 */
static bool is_own(const struct scope *scope, uint64_t address)
{
	for (size_t i = 0; i < scope->count; i++) {
		if (address >= scope->parts[i].start && address < scope->parts[i].end)
			return procedure_lookup_at(scope->code, address) ==
			       (long)scope->procedure->choice->procedure;
	}
	return false;
}

static int scope_init(struct scope *scope, const struct list_procedure *procedure)
{
	const struct calc_choice *choice = procedure->choice;
	const struct tally_row *rows = tally_rows(procedure->tally);
	size_t parent;

	scope->procedure = procedure;
	scope->code = choice->code;
	scope->count = image_code_parts(choice->code, choice->procedure, scope->parts, &parent);
	for (size_t i = 0; i < tally_row_count(procedure->tally); i++) {
		uint64_t *number;

		if (!rows[i].has_address || !is_own(scope, rows[i].address))
			continue;
		number = u64_map_insert(&scope->rows, rows[i].address);
		if (number == NULL)
			return -ENOMEM;
		*number = i + 1;
	}
	return 0;
}

static const struct tally_row *row_at(const struct scope *scope, uint64_t address)
{
	const uint64_t *number = u64_map_find(&scope->rows, address);

	return number != NULL ? &tally_rows(scope->procedure->tally)[*number - 1] : NULL;
}

/* Decode the instruction at an address. Return: its length; 0: no bytes are available. */
static size_t list_procedure_decode(const struct scope *scope, uint64_t address, uint64_t end,
				    struct insn *insn)
{
	const struct insn_decoder *decoder = image_code_decoder(scope->code);
	size_t available = 0, bytes;
	const uint8_t *code = image_code_bytes(scope->code, address, &available);

	if (code == NULL)
		return 0;
	if (available > end - address)
		available = end - address;
	bytes = decoder->decode(insn, code, available, address);
	if (bytes == 0) { /* data, or an unknown instruction */
		bytes = decoder->alignment < available ? decoder->alignment : available;
		*insn = (struct insn){.address = address, .bytes = (uint8_t)bytes};
	}
	return bytes;
}

/*
 * Call @visit for all instructions that belong to the procedure. Return: 0, or an error of @visit.
 */
static int list_procedure_walk(const struct scope *scope,
			       int (*visit)(void *context, const struct scope *scope,
					    const struct insn *insn),
			       void *context)
{
	struct insn insn;
	size_t bytes;

	for (size_t i = 0; i < scope->count; i++) {
		const struct image_range *part = &scope->parts[i];

		for (uint64_t at = part->start; at < part->end; at += bytes) {
			int r;

			bytes = list_procedure_decode(scope, at, part->end, &insn);
			if (bytes == 0)
				break;
			r = is_own(scope, at) ? visit(context, scope, &insn) : 0;
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* State while instructions are listed: the source line of the last one. */
struct code_listing {
	struct list_rows *rows;
	const char *file;
	unsigned int line;
};

/* Add "file.c:12: text" if another line begins; "file.c:12" if its text is not available. */
static int note_line(struct code_listing *listing, struct source_text *source, const char *file,
		     unsigned int line)
{
	const char *text = source_text_line(source, file, line);
	_cleanup_free_ char *clean = text_clean(basename(file));
	_cleanup_free_ char *note = NULL;

	if (listing->line == line && listing->file != NULL && strcmp(listing->file, file) == 0)
		return 0;
	listing->file = file;
	listing->line = line;
	if (clean == NULL || asprintf(&note, "%s:%u%s%s", clean, line, text != NULL ? ": " : "",
				      text != NULL ? text : "") < 0)
		return -ENOMEM;
	return list_rows_note(listing->rows, note);
}

static int list_insn(void *context, const struct scope *scope, const struct insn *insn)
{
	struct code_listing *listing = context;
	const struct tally_row *row = row_at(scope, insn->address);
	struct list_row added = {.kind = LIST_ROW_INSN, .address = insn->address};
	char text[CALC_TEXT_BYTES];

	if (image_code_line(scope->code, insn->address, &added.file, &added.line) == 0 &&
	    note_line(listing, scope->procedure->source, added.file, added.line) < 0)
		return -ENOMEM;
	calc_procedure_insn_text(scope->code, insn, is_own(scope, insn->target), text);
	added.text = strdup(text);
	if (image_code_offset(scope->code, insn->address, &added.offset) < 0)
		added.offset = 0;
	added.counts = row != NULL ? row->counts : NULL;
	added.executions = exact_counts_of(&scope->procedure->choice->counts.exact, insn->address);
	return added.text != NULL ? list_rows_add(listing->rows, &added) : -ENOMEM;
}

int list_procedure_code(const struct list_procedure *procedure, struct list_rows *rows)
{
	_cleanup_(scope_deinit) struct scope scope = {0};
	struct code_listing listing = {.rows = rows};

	rows->code = true;
	if (scope_init(&scope, procedure) < 0)
		return -ENOMEM;
	rows->counted = image_samples_counted(&procedure->choice->profile.samples, scope.parts,
					      scope.count);
	return list_procedure_walk(&scope, list_insn, &listing);
}

/* A line that has code; @file: number in list_lines */
struct code_line {
	size_t file;
	unsigned int line;
	struct tally_count *counts; /* NULL: no samples */
};

struct line_file {
	const char *name;
	uint64_t samples; /* of all events */
};

struct list_lines {
	size_t events;
	struct line_file *files;
	size_t file_count;
	size_t file_capacity;
	struct code_line *lines;
	size_t count;
	size_t capacity;
	struct u64_map known; /* by file and line: index in @lines plus 1 */
	struct tally_count *rest;
};

void list_lines_free(struct list_lines *lines)
{
	if (lines == NULL)
		return;
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].counts);
	free(lines->lines);
	free(lines->files);
	free(lines->rest);
	u64_map_deinit(&lines->known);
	free(lines);
}

CLEANUP_DEFINE(list_lines, struct list_lines *, list_lines_free)

/* Return: the number of a file, found by linear search, because a procedure has few; -ENOMEM. */
static long file_number(struct list_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->file_count; i++) {
		if (strcmp(lines->files[i].name, name) == 0)
			return (long)i;
	}
	if (array_reserve(&lines->files, &lines->file_capacity, lines->file_count + 1,
			  sizeof(*lines->files)) < 0)
		return -ENOMEM;
	lines->files[lines->file_count] = (struct line_file){.name = name};
	return (long)lines->file_count++;
}

/* Return: NULL if out of memory. */
static struct code_line *line_at(struct list_lines *lines, const char *file, unsigned int line)
{
	long number = file_number(lines, file);
	uint64_t *known;

	if (number < 0)
		return NULL;
	known = u64_map_insert(&lines->known, (uint64_t)number << 32 | line);
	if (known == NULL || array_reserve(&lines->lines, &lines->capacity, lines->count + 1,
					   sizeof(*lines->lines)) < 0)
		return NULL;
	if (*known == 0) {
		lines->lines[lines->count] =
			(struct code_line){.file = (size_t)number, .line = line};
		*known = ++lines->count;
	}
	return &lines->lines[*known - 1];
}

static int note_address(struct list_lines *lines, const struct scope *scope, uint64_t address)
{
	const char *file;
	unsigned int line;

	if (image_code_line(scope->code, address, &file, &line) < 0)
		return 0;
	return line_at(lines, file, line) != NULL ? 0 : -ENOMEM;
}

static int note_insn(void *context, const struct scope *scope, const struct insn *insn)
{
	return note_address(context, scope, insn->address);
}

/* Visit all bytes, because without a decoder the starts of instructions are unknown. */
static int note_bytes(struct list_lines *lines, const struct scope *scope)
{
	int r = 0;

	for (size_t i = 0; i < scope->count; i++) {
		for (uint64_t at = scope->parts[i].start; r == 0 && at < scope->parts[i].end; at++)
			r = is_own(scope, at) ? note_address(lines, scope, at) : 0;
	}
	return r;
}

static void add_counts(struct tally_count *to, const struct tally_count *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i].samples += from[i].samples;
		to[i].extra += from[i].extra;
	}
}

static int count_row(struct list_lines *lines, struct image_code *code, const struct tally_row *row)
{
	struct code_line *place;
	const char *file;
	unsigned int line;

	if (image_code_line(code, row->address, &file, &line) < 0) {
		add_counts(lines->rest, row->counts, lines->events);
		return 0;
	}
	place = line_at(lines, file, line);
	if (place == NULL)
		return -ENOMEM;
	if (place->counts == NULL)
		place->counts = calloc(lines->events, sizeof(*place->counts));
	if (place->counts == NULL)
		return -ENOMEM;
	add_counts(place->counts, row->counts, lines->events);
	for (size_t i = 0; i < lines->events; i++)
		lines->files[place->file].samples += row->counts[i].samples;
	return 0;
}

static int list_procedure_gather(struct list_lines *lines, const struct scope *scope)
{
	const struct tally_row *rows = tally_rows(scope->procedure->tally);
	int r = image_code_decoder(scope->code) != NULL
			? list_procedure_walk(scope, note_insn, lines)
			: note_bytes(lines, scope);

	for (size_t i = 0; r == 0 && i < tally_row_count(scope->procedure->tally); i++) {
		if (rows[i].has_address && is_own(scope, rows[i].address))
			r = count_row(lines, scope->code, &rows[i]);
	}
	return r;
}

/*
 * The file in which the procedure begins comes first, then the others in descending order of
 * samples.
 */
static int compare_lines(const void *a, const void *b, void *context)
{
	const struct code_line *x = a, *y = b;
	const struct list_lines *lines = context;
	uint64_t m = lines->files[x->file].samples, n = lines->files[y->file].samples;

	if (x->file != y->file && (x->file == 0 || y->file == 0))
		return x->file == 0 ? -1 : 1;
	if (m != n)
		return m < n ? 1 : -1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int add_line(const struct list_procedure *procedure, struct list_rows *rows,
		    const char *file, unsigned int line, const struct tally_count *counts)
{
	struct list_row row = {.kind = LIST_ROW_LINE, .file = file, .line = line, .counts = counts};
	const char *text = source_text_whole(procedure->source, file, line);

	row.text = text != NULL ? strdup(text) : NULL;
	if (text != NULL && row.text == NULL)
		return -ENOMEM;
	return list_rows_add(rows, &row);
}

/* Add lines [@from, @to) of a file, which have no samples. */
static int add_plain(const struct list_procedure *procedure, struct list_rows *rows,
		     const char *file, size_t from, size_t to)
{
	size_t all = source_text_lines(procedure->source, file);
	int r = 0;

	for (size_t line = from; r == 0 && line < to && line <= all; line++)
		r = add_line(procedure, rows, file, (unsigned int)line, NULL);
	return r;
}

/* Add the lines of one file; @lines is sorted. */
static int add_file(const struct list_procedure *procedure, struct list_rows *rows,
		    const char *file, const struct code_line *lines, size_t count)
{
	_cleanup_free_ char *clean = text_clean(file);
	size_t next = 1; /* the first line that was not printed */
	int r = clean != NULL ? list_rows_note(rows, clean) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++) {
		size_t line = lines[i].line, from = line > CONTEXT ? line - CONTEXT : 1;

		if (i > 0 && line - next > GAP) {
			r = add_plain(procedure, rows, file, next, next + CONTEXT);
			if (r == 0)
				r = list_rows_note(rows, "...");
		} else if (i > 0) {
			from = next;
		}
		if (r == 0)
			r = add_plain(procedure, rows, file, from, line);
		if (r == 0)
			r = add_line(procedure, rows, file, (unsigned int)line, lines[i].counts);
		next = line + 1;
	}
	return r == 0 ? add_plain(procedure, rows, file, next, next + CONTEXT) : r;
}

static int add_rest(const struct list_lines *lines, struct list_rows *rows)
{
	struct list_row row = {.kind = LIST_ROW_OTHER, .counts = lines->rest};
	uint64_t any = 0;

	for (size_t i = 0; i < lines->events; i++)
		any |= lines->rest[i].samples;
	if (any == 0)
		return 0;
	row.text = strdup("<no line>");
	return row.text != NULL ? list_rows_add(rows, &row) : -ENOMEM;
}

static int add_files(const struct list_procedure *procedure, struct list_lines *lines,
		     struct list_rows *rows)
{
	size_t next, kept = 0;
	int r = 0;

	qsort_r(lines->lines, lines->count, sizeof(*lines->lines), compare_lines, lines);
	/* Keep only lines with samples of files from which code was inlined. */
	for (size_t i = 0; i < lines->count; i++) {
		if (lines->lines[i].file == 0 || lines->lines[i].counts != NULL)
			lines->lines[kept++] = lines->lines[i];
	}
	lines->count = kept;
	for (size_t i = 0; r == 0 && i < lines->count; i = next) {
		size_t file = lines->lines[i].file;

		for (next = i + 1; next < lines->count && lines->lines[next].file == file; next++)
			;
		r = add_file(procedure, rows, lines->files[file].name, lines->lines + i, next - i);
	}
	return r == 0 ? add_rest(lines, rows) : r;
}

int list_procedure_source(const struct list_procedure *procedure, struct list_rows *rows,
			  struct list_lines **ret, const char **why)
{
	_cleanup_(scope_deinit) struct scope scope = {0};
	_cleanup_(cleanup_list_lines) struct list_lines *lines = calloc(1, sizeof(*lines));

	if (lines == NULL || scope_init(&scope, procedure) < 0)
		return -ENOMEM;
	lines->events = rows->event_count;
	lines->rest = calloc(lines->events + 1, sizeof(*lines->rest));
	if (lines->rest == NULL || list_procedure_gather(lines, &scope) < 0)
		return -ENOMEM;
	*why = "no source lines are known";
	if (lines->count == 0)
		return -ENODATA;
	*why = "its source file was not found: use --source-path to specify its folder";
	if (source_text_lines(procedure->source, lines->files[0].name) == 0)
		return -ENODATA;
	if (add_files(procedure, lines, rows) < 0)
		return -ENOMEM;
	*ret = take_ptr(lines);
	return 0;
}
