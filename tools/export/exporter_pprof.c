// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile.proto, gzipped: a location for each instruction with samples, with build-ids,
 * procedures and source lines, so that pprof need not look for symbols.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "tools/base/protobuf_writer.h"
#include "tools/base/text.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"

#define PAGE_BYTES 4096U

/* Field numbers of message Profile and of the messages inside it. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,

	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

/* struct pprof_string - a string of the string table, and its number */
struct pprof_string {
	char *text;
	uint64_t number;
};

/*
 * struct pprof - a profile under construction
 * @out:       the profile; @inner, @line: messages that become part of it
 * @strings:   number of strings in its table; @table: all of them, for tsearch()
 * @functions: numbers of functions, by the numbers of name and file
 * @mapping, @function: numbers of the last ones written
 */
struct pprof {
	const struct export_profile *profile;
	struct protobuf_writer out;
	struct protobuf_writer inner;
	struct protobuf_writer line;
	uint64_t strings;
	void *table;
	struct u64_map functions;
	uint64_t mapping;
	uint64_t function;
	uint64_t *values;
};

static void string_free(void *node)
{
	struct pprof_string *string = node;

	free(string->text);
	free(string);
}

static void pprof_deinit(struct pprof *pprof)
{
	protobuf_writer_deinit(&pprof->out);
	protobuf_writer_deinit(&pprof->inner);
	protobuf_writer_deinit(&pprof->line);
	tdestroy(pprof->table, string_free);
	u64_map_deinit(&pprof->functions);
	free(pprof->values);
}

static int compare_strings(const void *a, const void *b)
{
	const struct pprof_string *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Takes ownership of @text. Return: NULL if out of memory. */
static struct pprof_string *find_string(struct pprof *pprof, char *text)
{
	struct pprof_string *string = malloc(sizeof(*string)), **found = NULL;

	if (string != NULL) {
		*string = (struct pprof_string){text, pprof->strings};
		found = tsearch(string, &pprof->table, compare_strings);
	}
	if (found == NULL || *found != string) {
		free(text);
		free(string);
	}
	return found != NULL ? *found : NULL;
}

/* Return: the string's number; 0 ("") also if out of memory, in which case @out has the error. */
static uint64_t put_string(struct pprof *pprof, const char *text)
{
	char *clean = text_clean(text);
	struct pprof_string *string = clean != NULL ? find_string(pprof, clean) : NULL;

	if (string == NULL) {
		pprof->out.error = -ENOMEM;
		return 0;
	}
	if (string->number == pprof->strings) {
		protobuf_writer_bytes(&pprof->out, PROFILE_STRING_TABLE, string->text,
				      strlen(string->text));
		pprof->strings++;
	}
	return string->number;
}

static void put_type(struct pprof *pprof, const char *name, const char *unit)
{
	uint64_t name_string = put_string(pprof, name), unit_string = put_string(pprof, unit);

	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_number(&pprof->inner, VALUE_TYPE_TYPE, name_string);
	protobuf_writer_number(&pprof->inner, VALUE_TYPE_UNIT, unit_string);
	protobuf_writer_message(&pprof->out, PROFILE_SAMPLE_TYPE, &pprof->inner);
}

/* Each event has two values: its samples, and the number of events for which they stand. */
static int put_types(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->profile->event_count; i++) {
		const struct export_event *event = &pprof->profile->events[i];
		_cleanup_free_ char *samples = NULL;

		if (asprintf(&samples, "%s_samples", event->name) < 0) {
			samples = NULL;
			return -ENOMEM;
		}
		put_type(pprof, samples, "count");
		put_type(pprof, event->name,
			 strcmp(event->unit, "ns") == 0 ? "nanoseconds" : event->unit);
	}
	return 0;
}

/* Get the address range of the rows of one image, from @row on. Return: the row after them. */
static size_t image_extent(const struct export_profile *profile, size_t row, uint64_t *low,
			   uint64_t *high, bool *lines)
{
	const char *image = profile->rows[row].image;

	*low = UINT64_MAX;
	*high = 0;
	*lines = false;
	for (; row < profile->row_count && profile->rows[row].image == image; row++) {
		const struct tally_row *next = &profile->rows[row];

		*low = next->address < *low ? next->address : *low;
		*high = next->address > *high ? next->address : *high;
		*lines |= next->source != NULL;
	}
	return row;
}

static void put_mapping(struct pprof *pprof, size_t row)
{
	const struct tally_row *first = &pprof->profile->rows[row];
	uint64_t low, high, name, identity;
	bool lines;

	image_extent(pprof->profile, row, &low, &high, &lines);
	low -= low % PAGE_BYTES;
	name = put_string(pprof, first->image);
	identity = put_string(pprof, tally_row_build_id(first));
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_number(&pprof->inner, MAPPING_ID, ++pprof->mapping);
	protobuf_writer_number(&pprof->inner, MAPPING_MEMORY_START, low);
	protobuf_writer_number(&pprof->inner, MAPPING_MEMORY_LIMIT,
			       high - high % PAGE_BYTES + PAGE_BYTES);
	if (first->has_address && low >= first->address - first->offset)
		protobuf_writer_number(&pprof->inner, MAPPING_FILE_OFFSET,
				       low - (first->address - first->offset));
	protobuf_writer_number(&pprof->inner, MAPPING_FILENAME, name);
	protobuf_writer_number(&pprof->inner, MAPPING_BUILD_ID, identity);
	protobuf_writer_number(&pprof->inner, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_writer_number(&pprof->inner, MAPPING_HAS_FILENAMES, lines);
	protobuf_writer_number(&pprof->inner, MAPPING_HAS_LINE_NUMBERS, lines);
	protobuf_writer_message(&pprof->out, PROFILE_MAPPING, &pprof->inner);
}

/*
 * Return the system (linker) name of a function. From names that it cannot demangle, pprof removes
 * text that looks like parameters or template arguments: it would show "<a::T as a::U>::f" as
 * "::f". It does not do so for functions without a system name, so readable names with "::" get
 * none.
 */
static uint64_t system_name(const char *name, uint64_t number)
{
	return demangle_is_mangled(name) || strstr(name, "::") == NULL ? number : 0;
}

/*
 * A function of the format has one file for all its lines. A procedure with lines of an inlined one
 * therefore becomes a function for each of their files.
 */
static void put_function(struct pprof *pprof, const struct tally_row *row)
{
	uint64_t name = put_string(pprof, row->procedure);
	uint64_t file = row->source != NULL ? put_string(pprof, row->source) : 0;
	uint64_t *known = u64_map_insert(&pprof->functions, name << 32 | file);

	if (known == NULL) {
		pprof->out.error = -ENOMEM;
		return;
	}
	pprof->function = *known;
	if (*known != 0)
		return;
	pprof->function = *known = u64_map_count(&pprof->functions);
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_number(&pprof->inner, FUNCTION_ID, pprof->function);
	protobuf_writer_number(&pprof->inner, FUNCTION_NAME, name);
	protobuf_writer_number(&pprof->inner, FUNCTION_SYSTEM_NAME,
			       system_name(row->procedure, name));
	protobuf_writer_number(&pprof->inner, FUNCTION_FILENAME, file);
	protobuf_writer_message(&pprof->out, PROFILE_FUNCTION, &pprof->inner);
}

static void put_location(struct pprof *pprof, const struct tally_row *row, uint64_t number)
{
	protobuf_writer_clear(&pprof->line);
	protobuf_writer_number(&pprof->line, LINE_FUNCTION_ID, pprof->function);
	protobuf_writer_number(&pprof->line, LINE_LINE, row->line);
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_number(&pprof->inner, LOCATION_ID, number);
	protobuf_writer_number(&pprof->inner, LOCATION_MAPPING_ID, pprof->mapping);
	protobuf_writer_number(&pprof->inner, LOCATION_ADDRESS, row->address);
	protobuf_writer_message(&pprof->inner, LOCATION_LINE, &pprof->line);
	protobuf_writer_message(&pprof->out, PROFILE_LOCATION, &pprof->inner);
}

static void put_sample(struct pprof *pprof, const struct tally_row *row, uint64_t number)
{
	size_t events = pprof->profile->event_count;

	for (size_t i = 0; i < events; i++) {
		pprof->values[2 * i] = row->counts[i].samples;
		pprof->values[2 * i + 1] = tally_count_scaled(&row->counts[i]);
	}
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_numbers(&pprof->inner, SAMPLE_LOCATION_ID, &number, 1);
	protobuf_writer_numbers(&pprof->inner, SAMPLE_VALUE, pprof->values, 2 * events);
	protobuf_writer_message(&pprof->out, PROFILE_SAMPLE, &pprof->inner);
}

/* Return true if a row is in the same function as the row before it. */
static bool same_function(const struct tally_row *row, const struct tally_row *before)
{
	if (!exporter_same_procedure(row, before))
		return false;
	if (row->source == NULL || before->source == NULL)
		return row->source == before->source;
	return strcmp(row->source, before->source) == 0;
}

static int put_profile(struct pprof *pprof)
{
	const struct export_profile *profile = pprof->profile;
	const struct tally_row *before = NULL;

	put_string(pprof, "");
	if (put_types(pprof) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct tally_row *row = &profile->rows[i];

		if (before == NULL || row->image != before->image)
			put_mapping(pprof, i);
		if (before == NULL || !same_function(row, before))
			put_function(pprof, row);
		put_location(pprof, row, i + 1);
		put_sample(pprof, row, i + 1);
		before = row;
	}
	protobuf_writer_number(&pprof->out, PROFILE_TIME_NANOS, (uint64_t)profile->start_ns);
	protobuf_writer_number(&pprof->out, PROFILE_DURATION_NANOS,
			       (uint64_t)(profile->end_ns - profile->start_ns));
	protobuf_writer_number(&pprof->out, PROFILE_COMMENT, put_string(pprof, profile->comment));
	/* The first event's count of events, such as "cycles", not of samples. */
	protobuf_writer_number(&pprof->out, PROFILE_DEFAULT_SAMPLE_TYPE,
			       put_string(pprof, profile->events[0].name));
	return protobuf_writer_error(&pprof->out);
}

static int deflate_to(FILE *file, const struct protobuf_writer *message, struct error *err)
{
	z_stream stream = {.next_in = message->data};
	uint8_t out[1 << 16] = {0};
	size_t left = message->bytes;
	int r;

	/* 16: with gzip's header. It contains no time here, so equal profiles give equal files. */
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	do {
		uInt some = left < UINT32_MAX ? (uInt)left : UINT32_MAX;

		if (stream.avail_in == 0) {
			stream.avail_in = some;
			left -= some;
		}
		stream.next_out = out;
		stream.avail_out = sizeof(out);
		r = deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
		fwrite(out, 1, sizeof(out) - stream.avail_out, file);
	} while (r == Z_OK);
	deflateEnd(&stream);
	return r == Z_STREAM_END ? 0 : error_set(err, EIO, "cannot compress the profile");
}

static int write_pprof(FILE *file, const struct export_profile *profile, struct error *err)
{
	struct pprof pprof = {.profile = profile};
	int r = -ENOMEM;

	pprof.values = calloc(profile->event_count + 1, 2 * sizeof(*pprof.values));
	if (pprof.values != NULL)
		r = put_profile(&pprof);
	r = r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : deflate_to(file, &pprof.out, err);
	pprof_deinit(&pprof);
	return r;
}

/* --- contexts ------------------------------------------------------------- */

/*
 * A procedure becomes a location at its first instruction; procedures with the same name share a
 * function.
 */
static void put_procedures(struct pprof *pprof, const struct export_contexts *contexts)
{
	uint64_t low = UINT64_MAX, high = 0, name, identity;

	for (size_t i = 0; i < contexts->procedure_count; i++) {
		uint64_t address = contexts->procedures[i].address;

		low = address != 0 && address < low ? address : low;
		high = address > high ? address : high;
	}
	name = put_string(pprof, contexts->image);
	identity = put_string(pprof, contexts->build_id);
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_number(&pprof->inner, MAPPING_ID, ++pprof->mapping);
	protobuf_writer_number(&pprof->inner, MAPPING_MEMORY_START,
			       low < high ? low - low % PAGE_BYTES : 0);
	protobuf_writer_number(&pprof->inner, MAPPING_MEMORY_LIMIT,
			       high - high % PAGE_BYTES + PAGE_BYTES);
	protobuf_writer_number(&pprof->inner, MAPPING_FILENAME, name);
	protobuf_writer_number(&pprof->inner, MAPPING_BUILD_ID, identity);
	protobuf_writer_number(&pprof->inner, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_writer_message(&pprof->out, PROFILE_MAPPING, &pprof->inner);
	for (size_t i = 0; i < contexts->procedure_count; i++) {
		const struct tally_row row = {.procedure = contexts->procedures[i].name,
					      .address = contexts->procedures[i].address};

		put_function(pprof, &row);
		put_location(pprof, &row, i + 1);
	}
}

/* Write a stack, the innermost frame first, with its number of calls and its cost. */
static void put_context(struct pprof *pprof, const struct export_contexts *contexts,
			uint32_t number, uint64_t *stack)
{
	uint64_t values[2] = {contexts->contexts[number].calls,
			      contexts->stacks.nodes[number].value};
	size_t depth = 0;

	for (uint32_t at = number; at != 0; at = contexts->stacks.nodes[at].parent)
		stack[depth++] = contexts->contexts[at].procedure + UINT64_C(1);
	protobuf_writer_clear(&pprof->inner);
	protobuf_writer_numbers(&pprof->inner, SAMPLE_LOCATION_ID, stack, depth);
	protobuf_writer_numbers(&pprof->inner, SAMPLE_VALUE, values, 2);
	protobuf_writer_message(&pprof->out, PROFILE_SAMPLE, &pprof->inner);
}

static int pprof_write_contexts(FILE *file, const struct export_contexts *contexts,
				struct error *err)
{
	_cleanup_free_ uint64_t *stack = calloc(contexts->stacks.count + 1, sizeof(*stack));
	struct pprof pprof = {.strings = 0};
	int r = -ENOMEM;

	if (stack != NULL) {
		put_string(&pprof, "");
		put_type(&pprof, "calls", "count");
		put_type(&pprof, contexts->metric, "count");
		put_procedures(&pprof, contexts);
		for (uint32_t i = 1; i < contexts->stacks.count; i++)
			put_context(&pprof, contexts, i, stack);
		protobuf_writer_number(&pprof.out, PROFILE_TIME_NANOS,
				       (uint64_t)contexts->start_ns);
		protobuf_writer_number(&pprof.out, PROFILE_DURATION_NANOS,
				       (uint64_t)(contexts->end_ns - contexts->start_ns));
		protobuf_writer_number(&pprof.out, PROFILE_COMMENT,
				       put_string(&pprof, contexts->comment));
		protobuf_writer_number(&pprof.out, PROFILE_DEFAULT_SAMPLE_TYPE,
				       put_string(&pprof, contexts->metric));
		r = protobuf_writer_error(&pprof.out);
	}
	r = r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : deflate_to(file, &pprof.out, err);
	pprof_deinit(&pprof);
	return r;
}

const struct exporter exporter_pprof = {
	.name = "pprof",
	.summary = "pprof's profile.proto, gzipped, by instruction",
	.binary = true,
	.write = write_pprof,
	.write_contexts = pprof_write_contexts,
};
