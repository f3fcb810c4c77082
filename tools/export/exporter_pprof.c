// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile.proto, gzipped: a location for each instruction with samples, with build-ids,
 * procedures and source lines, so that pprof need not look for symbols.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/pprof_writer.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"

#define PAGE_BYTES 4096U

/* struct pprof - a profile under construction; @mapping, @function: numbers of the last ones */
struct pprof {
	const struct export_profile *profile;
	struct pprof_writer writer;
	uint64_t mapping;
	uint64_t function;
	uint64_t *values;
};

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
		pprof_writer_type(&pprof->writer, samples, "count");
		pprof_writer_type(&pprof->writer, event->name,
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
	struct pprof_mapping mapping = {
		.file = first->image,
		.build_id = tally_row_build_id(first),
		.functions = true,
	};
	uint64_t low, high;

	image_extent(pprof->profile, row, &low, &high, &mapping.lines);
	mapping.start = low - low % PAGE_BYTES;
	mapping.limit = high - high % PAGE_BYTES + PAGE_BYTES;
	if (first->has_address && mapping.start >= first->address - first->offset)
		mapping.file_offset = mapping.start - (first->address - first->offset);
	pprof->mapping = pprof_writer_mapping(&pprof->writer, &mapping);
}

/*
 * Return true if a function gets a system (linker) name. From names that it cannot demangle, pprof
 * removes text that looks like parameters or template arguments: it would show "<a::T as a::U>::f"
 * as "::f". It does not do so for functions without a system name, so readable names with "::" get
 * none.
 */
static bool has_system_name(const char *name)
{
	return demangle_is_mangled(name) || strstr(name, "::") == NULL;
}

/*
 * A function of the format has one file for all its lines. A procedure with lines of an inlined one
 * therefore becomes a function for each of their files.
 */
static void put_function(struct pprof *pprof, const struct tally_row *row)
{
	pprof->function = pprof_writer_function(&pprof->writer, row->procedure,
						has_system_name(row->procedure), row->source);
}

static void put_location(struct pprof *pprof, const struct tally_row *row)
{
	pprof_writer_location(&pprof->writer, pprof->mapping, row->address, pprof->function,
			      row->line);
}

static void put_sample(struct pprof *pprof, const struct tally_row *row, uint64_t number)
{
	size_t events = pprof->profile->event_count;
	const struct pprof_sample sample = {&number, 1, pprof->values, 2 * events, NULL, 0};

	for (size_t i = 0; i < events; i++) {
		pprof->values[2 * i] = row->counts[i].samples;
		pprof->values[2 * i + 1] = tally_count_scaled(&row->counts[i]);
	}
	pprof_writer_sample(&pprof->writer, &sample);
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

	if (put_types(pprof) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct tally_row *row = &profile->rows[i];

		if (before == NULL || row->image != before->image)
			put_mapping(pprof, i);
		if (before == NULL || !same_function(row, before))
			put_function(pprof, row);
		put_location(pprof, row);
		put_sample(pprof, row, i + 1);
		before = row;
	}
	/* The first event's count of events, such as "cycles", not of samples. */
	return pprof_writer_end(&pprof->writer, profile->start_ns, profile->end_ns,
				profile->comment, profile->events[0].name);
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

/* Write the complete profile and free it. @r: the result of its construction */
static int pprof_finish(FILE *file, struct pprof *pprof, int r, struct error *err)
{
	r = r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		  : deflate_to(file, &pprof->writer.out, err);
	pprof_writer_deinit(&pprof->writer);
	free(pprof->values);
	return r;
}

static int write_pprof(FILE *file, const struct export_profile *profile, struct error *err)
{
	struct pprof pprof = {.profile = profile};

	pprof_writer_init(&pprof.writer);
	pprof.values = calloc(profile->event_count + 1, 2 * sizeof(*pprof.values));
	return pprof_finish(file, &pprof, pprof.values != NULL ? put_profile(&pprof) : -ENOMEM,
			    err);
}

/* --- contexts ------------------------------------------------------------- */

/*
 * A procedure becomes a location at its first instruction; procedures with the same name share a
 * function.
 */
static void put_procedures(struct pprof *pprof, const struct export_contexts *contexts)
{
	struct pprof_mapping mapping = {
		.file = contexts->image,
		.build_id = contexts->build_id,
		.functions = true,
	};
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < contexts->procedure_count; i++) {
		uint64_t address = contexts->procedures[i].address;

		low = address != 0 && address < low ? address : low;
		high = address > high ? address : high;
	}
	mapping.start = low < high ? low - low % PAGE_BYTES : 0;
	mapping.limit = high - high % PAGE_BYTES + PAGE_BYTES;
	pprof->mapping = pprof_writer_mapping(&pprof->writer, &mapping);
	for (size_t i = 0; i < contexts->procedure_count; i++) {
		const struct tally_row row = {.procedure = contexts->procedures[i].name,
					      .address = contexts->procedures[i].address};

		put_function(pprof, &row);
		put_location(pprof, &row);
	}
}

/* Write a stack, the innermost frame first, with its number of calls and its cost. */
static void put_context(struct pprof *pprof, const struct export_contexts *contexts,
			uint32_t number, uint64_t *stack)
{
	uint64_t values[2] = {contexts->contexts[number].calls,
			      contexts->stacks.nodes[number].value};
	struct pprof_sample sample = {.stack = stack, .values = values, .value_count = 2};

	for (uint32_t at = number; at != 0; at = contexts->stacks.nodes[at].parent)
		stack[sample.depth++] = contexts->contexts[at].procedure + UINT64_C(1);
	pprof_writer_sample(&pprof->writer, &sample);
}

static int pprof_write_contexts(FILE *file, const struct export_contexts *contexts,
				struct error *err)
{
	_cleanup_free_ uint64_t *stack = calloc(contexts->stacks.count + 1, sizeof(*stack));
	struct pprof pprof = {.profile = NULL};
	int r = -ENOMEM;

	pprof_writer_init(&pprof.writer);
	if (stack != NULL) {
		pprof_writer_type(&pprof.writer,
				  contexts->counted != NULL ? contexts->counted : "calls", "count");
		pprof_writer_type(&pprof.writer, contexts->metric,
				  contexts->unit != NULL ? contexts->unit : "count");
		put_procedures(&pprof, contexts);
		for (uint32_t i = 1; i < contexts->stacks.count; i++)
			put_context(&pprof, contexts, i, stack);
		r = pprof_writer_end(&pprof.writer, contexts->start_ns, contexts->end_ns,
				     contexts->comment, contexts->metric);
	}
	return pprof_finish(file, &pprof, r, err);
}

const struct exporter exporter_pprof = {
	.name = "pprof",
	.summary = "pprof's profile.proto, gzipped, by instruction",
	.binary = true,
	.write = write_pprof,
	.write_contexts = pprof_write_contexts,
};
