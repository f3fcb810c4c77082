// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_data.h"

#include <inttypes.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "tools/base/json_stream.h"
#include "tools/annotate/calc_finding.h"

#define SIZE_TEXT 24
/* Part of the procedure's accesses below which an instruction is left out of the list. */
#define MINOR_PART 0.01
/* Pages are reported if they are this many times as large as the lines. */
#define SPARSE 4
/* Part of an instruction's time that must be in misses of a cache for "beyond". */
#define BEYOND_PART 0.5

static const char *size_text(double bytes, char text[SIZE_TEXT])
{
	if (bytes >= 1 << 30)
		snprintf(text, SIZE_TEXT, "%.1f GB", bytes / (1 << 30));
	else if (bytes >= 1 << 20)
		snprintf(text, SIZE_TEXT, "%.1f MB", bytes / (1 << 20));
	else
		snprintf(text, SIZE_TEXT, "%.1f KB", bytes / (1 << 10));
	return text;
}

static const struct data_footprint *data_of(const struct calc_procedure *procedure, uint32_t insn)
{
	const struct procedure_analysis *analysis = procedure->analysis;

	if (analysis->profile.footprints == NULL || insn >= analysis->cfg->insn_count)
		return NULL;
	return analysis->profile.footprints[insn];
}

/* Return: the number of caches, from the first on, that cannot hold the data. */
static int caches_exceeded(const struct data_footprint *data, const struct data_caches *caches)
{
	int level = 0;

	while (level < 3 && caches->bytes[level] > 0 &&
	       data_footprint_misses(data, caches, caches->bytes[level]) > BEYOND_PART)
		level++;
	return level;
}

static void print_extent(FILE *stream, const struct data_footprint *data,
			 const struct data_caches *caches)
{
	double least = data_footprint_least(data, caches);
	double likely = data_footprint_bytes(data, caches);
	double span = data_footprint_span(data, caches);
	char text[SIZE_TEXT], other[SIZE_TEXT];

	/* If most accesses are to data not seen before, the estimate is a lower bound, too. */
	if (data->lines.unseen > BEYOND_PART)
		fprintf(stream, "at least %s", size_text(least, text));
	else if (likely < 1.5 * least)
		fprintf(stream, "about %s", size_text(likely, text));
	else
		fprintf(stream, "at least %s (about %s)", size_text(least, text),
			size_text(likely, other));
	if (span > SPARSE * likely)
		fprintf(stream, " in pages of at least %s", size_text(span, text));
}

static void print_caches(FILE *stream, const struct data_footprint *data,
			 const struct data_caches *caches)
{
	int level = caches_exceeded(data, caches);
	char text[SIZE_TEXT];

	if (data->stride != 0)
		fprintf(stream, ", in steps of %" PRId64 " bytes", data->stride);
	if (level > 0)
		fprintf(stream, ", more than the %s-level cache of %s",
			(const char *const[]){"first", "second", "third"}[level - 1],
			size_text(caches->bytes[level - 1], text));
	else if (data_footprint_bytes(data, caches) <= caches->bytes[0] &&
		 data->lines.unseen < MINOR_PART)
		fprintf(stream, ", which the first-level cache of %s can hold",
			size_text(caches->bytes[0], text));
}

/* Return the bytes that the instruction at an address accesses, or 1 if it is not known. */
static unsigned int bytes_at(const struct cfg *cfg, uint64_t address)
{
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		if (cfg->insns[i].address == address && cfg->insns[i].memory.bytes > 0)
			return cfg->insns[i].memory.bytes;
	return 1;
}

void calc_data_sharing(FILE *stream, const struct calc_procedure *procedure, uint32_t insn)
{
	const struct data_footprint *data = data_of(procedure, insn);
	const struct cfg *cfg = procedure->analysis->cfg;
	unsigned int own, other;
	bool meet;

	if (data == NULL || data->partner == 0)
		return;
	own = data->own_byte + bytes_at(cfg, data->address);
	other = data->partner_byte + bytes_at(cfg, data->partner);
	meet = data->own_byte < other && data->partner_byte < own;
	fprintf(stream, ", %s sharing with 0x%" PRIx64 ": bytes %u to %u and %u to %u of the line",
		meet ? "true" : "false", data->partner, data->own_byte, own - 1, data->partner_byte,
		other - 1);
}

void calc_data_phrase(FILE *stream, const char *before, const struct calc_procedure *procedure,
		      uint32_t insn)
{
	const struct data_footprint *data = data_of(procedure, insn);

	if (data == NULL)
		return;
	fputs(before, stream);
	print_extent(stream, data, &procedure->analysis->profile.caches);
	print_caches(stream, data, &procedure->analysis->profile.caches);
	fprintf(stream, " (%.0f sampled)", data->samples);
}

void calc_data_sentence(FILE *stream, const struct calc_procedure *procedure, uint32_t insn)
{
	const struct data_footprint *data = data_of(procedure, insn);

	if (data == NULL)
		return;
	fprintf(stream, "The instruction at 0x%" PRIx64, data->address);
	calc_data_phrase(stream, " accesses ", procedure, insn);
	fputs(".\n", stream);
}

typedef void (*data_fn)(void *context, const struct data_footprint *data,
			const struct data_caches *caches);

static void data_visit(const struct calc_procedure *procedure, data_fn visit, void *context)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	double total = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++)
		total += data_of(procedure, i) != NULL ? data_of(procedure, i)->samples : 0;
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		const struct data_footprint *data = data_of(procedure, i);

		if (data != NULL && data->samples >= MINOR_PART * total)
			visit(context, data, &analysis->profile.caches);
	}
}

static void line_print(void *context, const struct data_footprint *data,
		       const struct data_caches *caches)
{
	FILE *stream = context;

	fprintf(stream, "            data of 0x%" PRIx64 ": ", data->address);
	print_extent(stream, data, caches);
	print_caches(stream, data, caches);
	if (data->shared > 0)
		fprintf(stream, "; %.0f%% to lines of other threads", 100 * data->shared);
	fprintf(stream, "; %.0f accesses sampled\n", data->samples);
}

void calc_data_print(FILE *stream, const struct calc_procedure *procedure)
{
	data_visit(procedure, line_print, stream);
}

/* struct row - of the table; @waits: samples of instructions that wait for this one's data */
struct row {
	const struct data_footprint *data;
	uint32_t insn;
	double waits;
};

/* Return the samples of stalls whose likeliest cause is the data of an instruction. */
static double waits_for(const struct procedure_analysis *analysis, uint32_t insn)
{
	double waits = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cost = calc_finding_cost(analysis, i);
		uint32_t first = cost > 0 ? calc_finding_first(analysis, i) : UINT32_MAX;
		const struct culprit *culprit;

		if (first == UINT32_MAX)
			continue;
		culprit = &analysis->culprits.list[first];
		if (calc_finding_from(analysis, i, first) == insn &&
		    (culprit->cause == CULPRIT_DCACHE || culprit->cause == CULPRIT_DTB ||
		     culprit->cause == CULPRIT_SHARING || culprit->cause == CULPRIT_WRITE_BUFFER))
			waits += cost;
	}
	return waits;
}

static int row_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->waits != y->waits)
		return x->waits > y->waits ? -1 : 1;
	return (x->data->samples < y->data->samples) - (x->data->samples > y->data->samples);
}

static void row_print(FILE *stream, const struct calc_procedure *procedure, const struct row *row)
{
	const struct data_caches *caches = &procedure->analysis->profile.caches;
	double samples = calc_procedure_samples(procedure);
	char text[CALC_TEXT_BYTES];

	calc_procedure_text(procedure, row->insn, text);
	fprintf(stream, "0x%-8" PRIx64 " %-32s %5.1f%% %8.0f  ", row->data->address, text,
		samples > 0 ? 100 * fmin(row->waits / samples, 1) : 0, row->data->samples);
	print_extent(stream, row->data, caches);
	print_caches(stream, row->data, caches);
	if (row->data->stack_share > BEYOND_PART)
		fputs(", in the stack", stream);
	calc_data_sharing(stream, procedure, row->insn);
	fputc('\n', stream);
}

int calc_data_table(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	_cleanup_free_ struct row *rows = calloc(analysis->cfg->insn_count + 1, sizeof(*rows));
	size_t count = 0;

	if (rows == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		const struct data_footprint *data = data_of(procedure, i);

		if (data != NULL)
			rows[count++] = (struct row){data, i, waits_for(analysis, i)};
	}
	if (count == 0) {
		fputs("No accesses to data are known: no sample had them, or the processor is not "
		      "supported.\n",
		      stream);
		return 0;
	}
	qsort(rows, count, sizeof(*rows), row_compare);
	fprintf(stream, "%-10s %-32s %6s %8s  %s\n", "Addr", "Instruction", "Waits", "Accesses",
		"Data");
	for (size_t i = 0; i < count; i++)
		row_print(stream, procedure, &rows[i]);
	return 0;
}

static void item_json(void *context, const struct data_footprint *data,
		      const struct data_caches *caches)
{
	struct json_stream *json = context;

	json_stream_open(json, NULL, '{');
	json_stream_count(json, "address", data->address);
	json_stream_number(json, "samples", data->samples);
	json_stream_number(json, "bytes_least", data_footprint_least(data, caches));
	json_stream_number(json, "bytes", data_footprint_bytes(data, caches));
	json_stream_number(json, "pages_bytes_least", data_footprint_span(data, caches));
	json_stream_number(json, "unseen_share", data->lines.unseen);
	json_stream_number(json, "stack_share", data->stack_share);
	if (data->stride != 0)
		json_stream_number(json, "stride_bytes", (double)data->stride);
	json_stream_number(json, "shared_share", data->shared);
	if (data->partner != 0) {
		json_stream_count(json, "shared_with", data->partner);
		json_stream_count(json, "shared_with_byte", data->partner_byte);
		json_stream_count(json, "shared_byte", data->own_byte);
	}
	json_stream_count(json, "caches_exceeded", (uint64_t)caches_exceeded(data, caches));
	json_stream_close(json, '}');
}

void calc_data_json(struct json_stream *json, const struct calc_procedure *procedure)
{
	json_stream_open(json, "data", '[');
	data_visit(procedure, item_json, json);
	json_stream_close(json, ']');
}
