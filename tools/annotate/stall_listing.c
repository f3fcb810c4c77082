// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/stall_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "tools/base/json_tree.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_heading.h"
#include "tools/annotate/calc_json.h"
#include "tools/annotate/calc_finding.h"

/* Maximum number of causes printed for a stall; an instruction has no more dynamic causes. */
#define REASONS_MAX 16

/* A cause of a stall, and its cycles per execution. */
struct reason {
	const char *key;      /* key as in dcpicalc's JSON */
	const char *name;     /* name in prose */
	const char *relation; /* between it and @from */
	double low;
	double high;
	bool has_from;
	uint64_t from;
};

/*
 * struct stall_row - an instruction
 * @cost:   samples that its stalls took
 * @dynamic, @fixed: dynamic and static stall cycles per execution
 * @inside: offset from the beginning of its procedure
 */
struct stall_row {
	double cost;
	double samples;
	double all_samples;
	double dynamic;
	double fixed;
	double cpi;
	uint64_t address;
	uint64_t inside;
	enum frequency_confidence confidence;
	char *image;
	char *build_id;
	struct procedure_names names;
	char *place; /* "procedure+0x28" */
	char *text;
	char *why; /* "D-cache miss of 0x981c (0.0 to 113.5 cycles), ..." */
	struct reason reasons[REASONS_MAX];
	size_t reason_count;
};

static void free_row(struct stall_row *row)
{
	free(row->image);
	free(row->build_id);
	procedure_names_deinit(&row->names);
	free(row->place);
	free(row->text);
	free(row->why);
}

int stall_listing_image(void *context, const struct calc_choice *choice,
			const struct machine_model *model)
{
	struct stall_listing *listing = context;

	(void)model;
	listing->choice = choice;
	counted_images_take(&listing->counted, choice);
	return 0;
}

static double frequency_of(const struct procedure_analysis *analysis, uint32_t insn)
{
	return analysis->frequency.blocks[analysis->cfg->block_of[insn]].value;
}

/* Return the static stall cycles of an instruction. */
static double fixed_of(const struct procedure_analysis *analysis, uint32_t insn)
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];

	return isnan(cpi->cpi) ? 0 : cpi->static_cycles;
}

static double cost_of(const struct procedure_analysis *analysis, uint32_t insn)
{
	double fixed = fixed_of(analysis, insn);

	return calc_finding_cost(analysis, insn) +
	       (fixed > 0 ? fixed * frequency_of(analysis, insn) : 0);
}

static void add_reason(struct stall_row *row, const struct cfg *cfg, struct reason reason,
		       uint32_t from)
{

	if (row->reason_count == REASONS_MAX)
		return;
	reason.has_from = from < cfg->insn_count;
	if (reason.has_from)
		reason.from = cfg->insns[from].address;
	row->reasons[row->reason_count++] = reason;
}

static void add_reasons(struct stall_row *row, const struct procedure_analysis *analysis,
			uint32_t insn)
{
	const struct culprits *culprits = &analysis->culprits;
	const struct instruction_cpi *cpi = &culprits->insns[insn];
	const struct schedule_insn *schedule = &analysis->schedule.insns[insn];

	for (uint32_t i = cpi->first; row->dynamic > 0 && i < cpi->first + cpi->count; i++)
		add_reason(
			row, analysis->cfg,
			(struct reason){.key = culprit_key(culprits->list[i].cause),
					.name = calc_bubbles_cause(culprits->list[i].cause),
					.relation = calc_bubbles_relation(culprits->list[i].cause),
					.low = culprits->list[i].cycles_low,
					.high = culprits->list[i].cycles_high},
			culprits->list[i].from);
	for (uint32_t i = 0; row->fixed > 0 && i < schedule->stall_count; i++)
		add_reason(row, analysis->cfg,
			   (struct reason){.key = calc_json_stall_key(schedule->stalls[i].kind),
					   .name = stall_kind_name(schedule->stalls[i].kind),
					   .relation = "of",
					   .low = schedule->stalls[i].cycles,
					   .high = schedule->stalls[i].cycles},
			   schedule->stalls[i].from);
}

/* Return: NULL if out of memory. */
static char *why_text(const struct stall_row *row)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	for (size_t i = 0; i < row->reason_count; i++) {
		const struct reason *reason = &row->reasons[i];

		fprintf(stream, "%s%s", i > 0 ? ", " : "", reason->name);
		if (reason->has_from && reason->from != row->address)
			fprintf(stream, " %s 0x%" PRIx64, reason->relation, reason->from);
		if (reason->high - reason->low < 0.05)
			fprintf(stream, " (%.1f cycles)", reason->high);
		else
			fprintf(stream, " (%.1f to %.1f cycles)", reason->low, reason->high);
	}
	if (row->reason_count == 0)
		fputs("no known property of the machine explains it", stream);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Fill in a row, which owns its texts, also after a failure. Return: 0 or -ENOMEM. */
static int stall_listing_describe(struct stall_row *row, const struct stall_listing *listing,
				  const struct procedure_analysis *analysis, uint32_t insn)
{
	struct image_code *code = listing->choice->code;
	struct calc_procedure procedure = {.code = code, .analysis = analysis};
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];
	char text[CALC_TEXT_BYTES];
	bool before;

	row->samples = analysis->profile.samples[insn];
	row->all_samples = listing->all_samples;
	row->dynamic = calc_finding_cost(analysis, insn) > 0 ? cpi->dynamic_cycles : 0;
	row->fixed = fixed_of(analysis, insn);
	row->cpi = cpi->cpi;
	row->address = analysis->cfg->insns[insn].address;
	row->inside = row->address -
		      procedure_table_get(image_code_procedures(code), analysis->index)->address;
	/* A procedure can have code at lower addresses than its beginning. */
	before = (int64_t)row->inside < 0;
	row->confidence = analysis->frequency.blocks[analysis->cfg->block_of[insn]].confidence;
	row->image = strdup(listing->choice->image->image.path);
	row->build_id = strdup(image_code_build_id(code));
	calc_procedure_text(&procedure, insn, text);
	row->text = strdup(text);
	add_reasons(row, analysis, insn);
	row->why = why_text(row);
	if (calc_procedure_names(&row->names, code, analysis->index, listing->demangle) < 0 ||
	    asprintf(&row->place, "%s%c0x%" PRIx64 "%s", row->names.name, before ? '-' : '+',
		     before ? -row->inside : row->inside, row->names.note) < 0) {
		row->place = NULL;
		return -ENOMEM;
	}
	return row->image != NULL && row->build_id != NULL && row->text != NULL && row->why != NULL
		       ? 0
		       : -ENOMEM;
}

static void swap(struct stall_row *a, struct stall_row *b)
{
	struct stall_row row = *a;

	*a = *b;
	*b = row;
}

/*
 * The rows are a heap with the least at the top, which is replaced by the next row that costs more.
 */
static void sift_up(struct stall_row *rows, size_t place)
{
	for (; place > 0 && rows[place].cost < rows[(place - 1) / 2].cost; place = (place - 1) / 2)
		swap(&rows[place], &rows[(place - 1) / 2]);
}

static void sift_down(struct stall_row *rows, size_t count)
{
	size_t place = 0, least;

	for (;; place = least) {
		least = place;
		for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < count;
		     child++) {
			if (rows[child].cost < rows[least].cost)
				least = child;
		}
		if (least == place)
			return;
		swap(&rows[place], &rows[least]);
	}
}

static int stall_listing_take(struct stall_listing *listing,
			      const struct procedure_analysis *analysis, uint32_t insn, double cost)
{
	struct stall_row row = {.cost = cost};

	if (listing->row_count == listing->limit && cost <= listing->rows[0].cost)
		return 0;
	if (stall_listing_describe(&row, listing, analysis, insn) < 0 ||
	    array_reserve(&listing->rows, &listing->capacity, listing->row_count + 1, sizeof(row)) <
		    0) {
		free_row(&row);
		return -ENOMEM;
	}
	if (listing->row_count == listing->limit) {
		free_row(&listing->rows[0]);
		listing->rows[0] = row;
		sift_down(listing->rows, listing->row_count);
		return 0;
	}
	listing->rows[listing->row_count++] = row;
	sift_up(listing->rows, listing->row_count - 1);
	return 0;
}

int stall_listing_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct stall_listing *listing = context;

	listing->analysed += analysis->profile.total;
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cost = cost_of(analysis, i);

		if (!(cost > 0))
			continue;
		listing->stalled += cost;
		if (stall_listing_take(listing, analysis, i, cost) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int stall_listing_compare_rows(const void *a, const void *b)
{
	const struct stall_row *x = a, *y = b;
	int r;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	r = strcmp(x->image, y->image);
	return r != 0 ? r : (x->address > y->address) - (x->address < y->address);
}

void stall_listing_finish(struct stall_listing *listing)
{
	if (listing->row_count > 0)
		qsort(listing->rows, listing->row_count, sizeof(*listing->rows),
		      stall_listing_compare_rows);
}

/* Kinds of columns. */
enum cell {
	CELL_SHARE,
	CELL_CYCLES,
	CELL_DYNAMIC,
	CELL_FIXED,
	CELL_CPI,
	CELL_SAMPLES,
	CELL_COST,
	CELL_ADDRESS,
	CELL_INSIDE,
	CELL_CONFIDENCE,
	CELL_PLACE,
	CELL_TEXT,
	CELL_WHY,
	CELL_PROCEDURE,
	CELL_ALIASES,
	CELL_IMAGE,
	CELL_BUILD_ID,
};

static void get_number(const struct column *column, const void *row, struct column_value *value)
{
	const struct stall_row *line = row;

	switch (column->argument) {
	case CELL_SHARE:
		value->percent = line->all_samples > 0 ? 100 * line->cost / line->all_samples : 0;
		break;
	case CELL_CYCLES:
		value->number = line->dynamic + line->fixed;
		break;
	case CELL_DYNAMIC:
		value->number = line->dynamic;
		break;
	case CELL_FIXED:
		value->number = line->fixed;
		break;
	case CELL_CPI:
		value->number = line->cpi;
		break;
	case CELL_SAMPLES:
		value->number = line->samples;
		break;
	case CELL_COST:
		value->number = line->cost;
		break;
	}
}

static void get_place(const struct column *column, const void *row, struct column_value *value)
{
	const struct stall_row *line = row;

	value->count = column->argument == CELL_ADDRESS ? line->address : line->inside;
}

static void get_text(const struct column *column, const void *row, struct column_value *value)
{
	const struct stall_row *line = row;
	const char *const texts[] = {
		[CELL_CONFIDENCE] = calc_confidence_name(line->confidence),
		[CELL_PLACE] = line->place,
		[CELL_TEXT] = line->text,
		[CELL_WHY] = line->why,
		[CELL_PROCEDURE] = line->names.name,
		[CELL_ALIASES] = line->names.list,
		[CELL_IMAGE] = line->image,
		[CELL_BUILD_ID] = line->build_id,
	};

	value->text = texts[column->argument];
	value->missing = value->text[0] == '\0' && column->argument != CELL_ALIASES;
}

static struct json_object *reason_json(const struct reason *reason)
{
	struct json_object *object = json_object_new_object();
	char from[24];
	int r;

	if (object == NULL)
		return NULL;
	r = json_tree_add(object, "cause", json_object_new_string(reason->key));
	if (r == 0)
		r = json_tree_add(object, "cycles_low", json_object_new_double(reason->low));
	if (r == 0)
		r = json_tree_add(object, "cycles_high", json_object_new_double(reason->high));
	snprintf(from, sizeof(from), "0x%" PRIx64, reason->from);
	if (r == 0 && reason->has_from)
		r = json_tree_add(object, "from", json_object_new_string(from));
	else if (r == 0)
		r = json_object_object_add(object, "from", NULL);
	if (r < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static struct json_object *reasons_json(const struct stall_row *line)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list != NULL && i < line->reason_count; i++) {
		struct json_object *item = reason_json(&line->reasons[i]);

		if (item == NULL || json_object_array_add(list, item) < 0) {
			json_object_put(item);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}

static struct json_object *parts_json(const struct column *column, const void *row)
{
	const struct stall_row *line = row;

	if (column->argument == CELL_ALIASES)
		return json_tree_texts(line->names.aliases, line->names.alias_count);
	return reasons_json(line);
}

#define DETAIL COLUMN_DETAIL

static const struct column columns[] = {
	{"stall%", "stall_percent", COLUMN_PERCENT, 0, CELL_SHARE, get_number},
	{"cycles", "stall_cycles", COLUMN_NUMBER, COLUMN_DECIMALS(1), CELL_CYCLES, get_number},
	{"dynamic", "dynamic_cycles", COLUMN_NUMBER, DETAIL, CELL_DYNAMIC, get_number},
	{"static", "static_cycles", COLUMN_NUMBER, DETAIL, CELL_FIXED, get_number},
	{"cpi", "cpi", COLUMN_NUMBER, DETAIL, CELL_CPI, get_number},
	{"samples", "samples", COLUMN_NUMBER, DETAIL, CELL_SAMPLES, get_number},
	{"stalled", "stall_samples", COLUMN_NUMBER, DETAIL, CELL_COST, get_number},
	{"conf", "confidence", COLUMN_TEXT, 0, CELL_CONFIDENCE, get_text},
	{"address", "address", COLUMN_ADDRESS, 0, CELL_ADDRESS, get_place},
	{"where", "place", COLUMN_TEXT, COLUMN_CUT_NAME | COLUMN_TEXT_ONLY, CELL_PLACE, get_text},
	{"procedure", "procedure", COLUMN_TEXT, DETAIL, CELL_PROCEDURE, get_text},
	{"aliases", "aliases", COLUMN_TEXT, DETAIL | COLUMN_PARTS, CELL_ALIASES, get_text},
	{"offset", "procedure_offset", COLUMN_OFFSET, DETAIL, CELL_INSIDE, get_place},
	{"instruction", "instruction", COLUMN_TEXT, COLUMN_CUT_END, CELL_TEXT, get_text},
	{"culprits", "culprits", COLUMN_TEXT, DETAIL | COLUMN_PARTS, CELL_WHY, get_text},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START | COLUMN_SPARE, CELL_IMAGE, get_text},
	{"build-id", "build_id", COLUMN_TEXT, DETAIL, CELL_BUILD_ID, get_text},
};

static double percent_of_all(const struct stall_listing *listing, double samples)
{
	return listing->all_samples > 0 ? 100 * samples / listing->all_samples : 0;
}

static void print_total(FILE *stream, const void *context)
{
	const struct stall_listing *listing = context;

	fprintf(stream, "Total samples for event type %s = %.0f\n\n", listing->events->time,
		listing->all_samples);
}

static void print_caption(FILE *stream, const void *context)
{
	const struct stall_listing *listing = context;

	fprintf(stream, "analysed    %.1f%% of the samples; stalls are %.1f%% of all samples\n",
		percent_of_all(listing, listing->analysed),
		percent_of_all(listing, listing->stalled));
	calc_rest_print(stream, &listing->rest, listing->all_samples);
	calc_heading_epochs(stream, listing->events);
	counted_images_print(stream, &listing->counted);
	fputc('\n', stream);
}

static int preface_json(struct json_object *object, const void *context)
{
	const struct stall_listing *listing = context;

	if (json_tree_add(object, "event", json_object_new_string(listing->events->time)) < 0 ||
	    json_tree_add(object, "time_samples",
			  json_object_new_uint64((uint64_t)listing->all_samples)) < 0 ||
	    json_tree_add(object, "analysed_percent",
			  json_object_new_double(percent_of_all(listing, listing->analysed))) < 0 ||
	    json_tree_add(object, "left_out", calc_rest_json(&listing->rest)) < 0)
		return -ENOMEM;
	return json_tree_add(object, "stalled_percent",
			     json_object_new_double(percent_of_all(listing, listing->stalled)));
}

static const char *get_below(const void *row)
{
	return ((const struct stall_row *)row)->why;
}

static const void *stall_listing_get_row(const void *context, size_t index)
{
	return &((const struct stall_listing *)context)->rows[index];
}

struct report stall_listing_report(const struct stall_listing *listing)
{
	return (struct report){
		.preface = {print_total, preface_json, listing},
		.caption = print_caption,
		.table =
			{
				.columns = columns,
				.column_count = sizeof(columns) / sizeof(*columns),
				.row = stall_listing_get_row,
				.context = listing,
				.row_count = listing->row_count,
				.below = get_below,
				.parts = parts_json,
			},
	};
}

void stall_listing_deinit(struct stall_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++)
		free_row(&listing->rows[i]);
	free(listing->rows);
	*listing = (struct stall_listing){0};
}
