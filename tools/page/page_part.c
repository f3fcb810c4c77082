// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_part.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/partition_point.h"
#include "tools/base/json_tree.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_blocks.h"
#include "tools/annotate/calc_json.h"
#include "tools/annotate/calc_summary_text.h"
#include "tools/list/list_procedure.h"
#include "tools/page/page_graph.h"

/* Procedures with more instructions are shown in part: the blocks of their graph. */
#define INSTRUCTIONS_WHOLE 160
/* These blocks have at most this number of instructions. */
#define INSTRUCTIONS_MAX 300
/* Digits that a reader sees are fewer. */
#define DIGITS 4

/* struct writer - a part while it is written; @entry: numbers for the list of procedures */
struct writer {
	const struct page_part_source *source;
	FILE *stream;
	struct json_object *entry;
	struct list_rows *code;
	struct list_rows *lines;
	const char *why; /* there is no source; NULL: there is */
};

/* Write a member; NULL is written as null. Frees @value. Return: 0 or -ENOMEM. */
static int put_member(FILE *stream, const char *key, struct json_object *value)
{
	const char *text = json_object_to_json_string_ext(
		value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (text != NULL)
		fprintf(stream, ",\"%s\":%s", key, text);
	json_object_put(value);
	return text != NULL ? 0 : -ENOMEM;
}

/* Write the description of the worst stall as an array of sentences. */
static int put_sentences(FILE *stream, const struct calc_procedure *procedure)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *list = json_object_new_array();
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	char *next = NULL;
	int r = 0;

	if (memory != NULL) {
		calc_summary_text_print(memory, procedure);
		fclose(memory);
	}
	if (memory == NULL || text == NULL || list == NULL) {
		json_object_put(list);
		return -ENOMEM;
	}
	for (char *line = strtok_r(text, "\n", &next); r == 0 && line != NULL;
	     line = strtok_r(NULL, "\n", &next)) {
		_cleanup_free_ char *clean = text_clean(line);

		if (clean == NULL || json_object_array_add(list, json_object_new_string(clean)) < 0)
			r = -ENOMEM;
	}
	if (r == 0)
		return put_member(stream, "sentences", list);
	json_object_put(list);
	return r;
}

/* The graph is worth having, but a part without it is complete. */
static int put_graph(const struct writer *writer, const struct calc_procedure *procedure,
		     const bool *shown)
{
	struct json_object *graph = NULL;
	struct error err = {0};
	int r = 0;

	if (writer->source->graphs)
		r = page_graph_make(&graph, procedure, shown, &err);
	if (r == -ENOMEM || put_member(writer->stream, "graph", graph) < 0)
		return -ENOMEM;
	return r < 0 ? put_member(writer->stream, "graph_note",
				  json_tree_texts((char *[]){err.message}, 1))
		     : 0;
}

/* Return true if an instruction is in a block that is shown; @shown: NULL: all are. */
static bool is_shown(const struct cfg *cfg, const bool *shown, uint64_t address)
{
	uint32_t low = partition_point(0, cfg->insn_count, i, cfg->insns[i].address < address);

	return shown == NULL || (low < cfg->insn_count && cfg->insns[low].address == address &&
				 shown[cfg->block_of[low]]);
}

/* Remove shares, which the page computes itself, and places in the file. */
static void trim_row(struct json_object *row, const struct list_rows *rows)
{
	json_object_object_del(row, "file_offset");
	for (size_t i = 0; i < rows->event_count; i++)
		json_object_object_del(row, rows->keys[i]);
}

/* Remove the rows of blocks that are not shown. */
static int trim_rows(struct json_object *report, const struct list_rows *rows,
		     const struct cfg *cfg, const bool *shown)
{
	struct json_object *list = json_object_object_get(report, "rows");
	struct json_object *kept = json_object_new_array();

	for (size_t i = 0; kept != NULL && i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		struct json_object *address = json_object_object_get(row, "address");

		if (address != NULL &&
		    !is_shown(cfg, shown, strtoull(json_object_get_string(address), NULL, 16)))
			continue;
		trim_row(row, rows);
		if (json_object_array_add(kept, json_object_get(row)) < 0) {
			json_object_put(row);
			json_object_put(kept);
			return -ENOMEM;
		}
	}
	return json_tree_add(report, "rows", kept);
}

static int put_listing(const struct writer *writer, const char *key, const struct list_rows *rows,
		       const struct cfg *cfg, const bool *shown)
{
	struct report report = list_rows_report(rows, false);
	struct json_object *object = report_json(&report);

	if (object == NULL || trim_rows(object, rows, cfg, shown) < 0) {
		json_object_put(object);
		return -ENOMEM;
	}
	return put_member(writer->stream, key, object);
}

static int put_listings(const struct writer *writer, const struct cfg *cfg, const bool *shown)
{
	int r = put_listing(writer, "listing", writer->code, cfg, shown);

	if (r == 0 && writer->why == NULL)
		return put_listing(writer, "source", writer->lines, cfg, NULL);
	if (r == 0)
		r = put_member(writer->stream, "source", NULL);
	return r == 0 ? put_member(writer->stream, "source_note",
				   json_object_new_string(writer->why))
		      : r;
}

static int set_number(struct json_object *object, const char *key, double number)
{
	char text[32];

	if (!isfinite(number))
		return json_object_object_add(object, key, NULL);
	snprintf(text, sizeof(text), "%.9g", number);
	return json_tree_add(object, key, json_object_new_double_s(number, text));
}

static int set_entry(struct writer *writer, const struct calc_procedure *procedure,
		     const struct stall_summary *summary)
{
	struct json_object *entry = writer->entry;
	const struct cfg *cfg = procedure->analysis->cfg;
	double low, high;

	stall_summary_cpi(summary, &low, &high);
	if (json_tree_add(entry, "instructions", json_object_new_uint64(cfg->insn_count)) < 0 ||
	    json_tree_add(entry, "blocks", json_object_new_uint64(cfg->block_count)) < 0 ||
	    set_number(entry, "samples", calc_procedure_samples(procedure)) < 0 ||
	    set_number(entry, "best_cpi", summary->best_cycles / summary->instructions) < 0 ||
	    set_number(entry, "cpi", summary->actual_cycles / summary->instructions) < 0 ||
	    set_number(entry, "cpi_low", low) < 0)
		return -ENOMEM;
	return set_number(entry, "cpi_high", high);
}

static int put_summary(struct writer *writer, const struct calc_procedure *procedure)
{
	const struct culprit_input input = procedure_analysis_input(procedure->analysis);
	struct stall_summary summary = {0};

	stall_summary_add(&summary, &input, &procedure->analysis->culprits);
	stall_summary_settle(&summary);
	fputs(",\"summary\":", writer->stream);
	calc_json_summary(writer->stream, procedure->image, image_code_build_id(procedure->code),
			  procedure->names->name, procedure->analysis->model->name, &summary);
	return set_entry(writer, procedure, &summary);
}

static uint64_t count_shown(const struct cfg *cfg, const bool *shown)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++)
		count += shown[i] ? cfg->blocks[i].count : 0;
	return count;
}

/*
 * Choose the hottest blocks, but fewer if these have too many instructions: none if one block
 * alone has too many. Return: by block; NULL if out of memory.
 */
static bool *choose_blocks(const struct calc_procedure *procedure, size_t limit)
{
	const struct cfg *cfg = procedure->analysis->cfg;

	for (; limit > 0; limit /= 2) {
		bool *shown = calc_blocks_choose(procedure, limit, 0);

		if (shown == NULL || count_shown(cfg, shown) <= INSTRUCTIONS_MAX)
			return shown;
		free(shown);
	}
	return calloc(cfg->block_count + 1, sizeof(bool));
}

static int put_all(struct writer *writer, const struct calc_procedure *procedure)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	_cleanup_free_ bool *chosen = choose_blocks(procedure, writer->source->blocks);
	const struct calc_json_options options = {
		.evidence = true,
		.shown = cfg->insn_count > INSTRUCTIONS_WHOLE ? chosen : NULL,
		.digits = DIGITS,
	};

	if (chosen == NULL)
		return -ENOMEM;
	fputs("{\"calc\":", writer->stream);
	if (calc_json_procedure(writer->stream, procedure, &options) < 0 ||
	    put_summary(writer, procedure) < 0 || put_sentences(writer->stream, procedure) < 0 ||
	    put_listings(writer, cfg, options.shown) < 0 ||
	    put_graph(writer, procedure, chosen) < 0)
		return -ENOMEM;
	fputs("}", writer->stream);
	return 0;
}

static int put_analysis(struct writer *writer, const struct procedure_analysis *analysis)
{
	const struct page_part_source *source = writer->source;
	_cleanup_free_ char *image = text_clean(source->choice->image->image.path);
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	struct calc_procedure procedure = {
		.code = source->choice->code,
		.analysis = analysis,
		.image = image,
		.names = &names,
		.all_samples = (double)source->page->calc.images.time,
	};

	if (image == NULL || calc_procedure_names(&names, procedure.code, analysis->index,
						  source->page->cli->demangle) < 0)
		return -ENOMEM;
	return put_all(writer, &procedure);
}

/* Make both listings. The source may be missing: then *@why is the reason. */
static int make_listings(const struct page_part_source *source, struct list_rows *code,
			 struct list_rows *lines, struct list_lines **counts, const char **why)
{
	const struct list_procedure procedure = {source->choice, source->tally, source->text};
	int r = list_procedure_code(&procedure, code);

	if (r == 0)
		r = list_rows_finish(code);
	*why = "source lines are omitted (--no-source)";
	if (r == 0 && !source->lines)
		return -ENODATA;
	if (r == 0)
		r = list_procedure_source(&procedure, lines, counts, why);
	if (r == 0)
		r = list_rows_finish(lines);
	return r;
}

static struct list_rows rows_of(const struct page_part_source *source,
				const struct procedure_names *names)
{
	return (struct list_rows){
		.events = source->page->events.names,
		.event_count = source->page->events.count,
		.all = source->page->tally,
		.title = "procedure",
		.name = names->name,
		.names = names,
		.image = source->choice->image->image.path,
		.identity = image_code_build_id(source->choice->code),
	};
}

int page_part_make(struct page_part *text, struct json_object **entry,
		   const struct page_part_source *source, const struct procedure_analysis *analysis)
{
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	_cleanup_(list_rows_deinit) struct list_rows code = {0}, lines = {0};
	struct writer writer = {.source = source, .code = &code, .lines = &lines};
	struct page_part part = {0};
	struct list_lines *counts = NULL;
	int r = calc_procedure_names(&names, source->choice->code, source->choice->procedure,
				     source->page->cli->demangle);

	code = rows_of(source, &names);
	lines = rows_of(source, &names);
	writer.entry = json_object_new_object();
	writer.stream = open_memstream(&part.text, &part.bytes);
	if (r == 0)
		r = make_listings(source, &code, &lines, &counts, &writer.why);
	if (r == -ENODATA)
		r = 0;
	else
		writer.why = NULL;
	if (writer.entry == NULL || writer.stream == NULL)
		r = -ENOMEM;
	if (r == 0)
		r = put_analysis(&writer, analysis);
	if (writer.stream != NULL && fclose(writer.stream) != 0 && r == 0)
		r = -ENOMEM;
	list_lines_free(counts);
	if (r == 0) {
		*text = part;
		*entry = writer.entry;
		return 0;
	}
	free(part.text);
	json_object_put(writer.entry);
	return r;
}
