// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_detail.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
#include "tools/base/progress.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_driver.h"
#include "tools/annotate/calc_json.h"
#include "tools/page/page_part.h"

/*
 * struct wanted - a row of the page to be analysed
 * @image:     in calc_images; NULL: there is none
 * @procedure: index in the image
 * @done:      it has a part, or a reason why not
 */
struct wanted {
	size_t row;
	const struct calc_image *image;
	size_t procedure;
	bool done;
};

/* struct details - state while parts are added */
struct details {
	struct page_source *source;
	const struct page_detail_options *options;
	struct page_document *document;
	struct json_object *analysed;
	struct json_object *rejected;
	struct progress progress;
	size_t done;
	size_t count;
};

static int append(struct json_object *array, struct json_object *item)
{
	if (item != NULL && json_object_array_add(array, item) == 0)
		return 0;
	json_object_put(item);
	return -ENOMEM;
}

static int add_clean(struct json_object *object, const char *key, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	return clean != NULL ? json_tree_add(object, key, json_object_new_string(clean)) : -ENOMEM;
}

/* Record why a row has no analysis. */
static int reject(struct details *details, size_t row, const char *reason)
{
	struct json_object *item = json_object_new_object();

	details->done++;
	if (append(details->rejected, item) < 0 ||
	    json_tree_add(item, "row", json_object_new_uint64(row)) < 0)
		return -ENOMEM;
	return add_clean(item, "reason", reason);
}

static int reject_all(struct details *details, const struct wanted *wanted, size_t count,
		      const char *reason)
{
	for (size_t i = 0; i < count; i++) {
		if (reject(details, wanted[i].row, reason) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool is_same_image(const struct profile_image *a, const struct profile_image *b)
{
	return a->kind == b->kind && a->identity_kind == b->identity_kind &&
	       a->identity_bytes == b->identity_bytes &&
	       memcmp(a->identity, b->identity, a->identity_bytes) == 0 &&
	       (a->identity_kind != PROFILE_IDENTITY_NONE || strcmp(a->path, b->path) == 0);
}

static const struct calc_image *details_image(const struct details *details,
					      const struct tally_row *row)
{
	const struct calc_images *images = &details->source->calc.images;

	for (size_t i = 0; row->file != NULL && i < images->count; i++) {
		if (is_same_image(&images->list[i].image, row->file))
			return &images->list[i];
	}
	return NULL;
}

/* Order by image, so that each is opened once; then by row. */
static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* struct image_rows - the rows of one image while they are analysed */
struct image_rows {
	struct details *details;
	struct page_part_source part;
	struct wanted *wanted;
	size_t *procedures; /* to be analysed now */
	size_t count;
};

/* Find the procedures of the rows. A row without one is done. */
static int find_procedures(struct image_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct wanted *wanted = &rows->wanted[i];
		const struct tally_row *row =
			&tally_rows(rows->details->source->tally)[wanted->row];

		wanted->done = !row->has_address ||
			       calc_select_address(rows->part.choice, row->address) < 0;
		wanted->procedure = rows->part.choice->procedure;
		if (wanted->done &&
		    reject(rows->details, wanted->row, "its samples are in no known procedure") < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Add the part of a procedure; an image_analysis_fn. */
static int take_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct image_rows *rows = context;
	struct details *details = rows->details;
	struct json_object *entry = NULL;
	struct page_part text = {0};
	size_t i = 0;

	while (i < rows->count &&
	       (rows->wanted[i].done || rows->wanted[i].procedure != analysis->index))
		i++;
	if (i == rows->count)
		return 0;
	rows->wanted[i].done = true;
	details->done++;
	rows->part.choice->procedure = analysis->index;
	if (page_part_make(&text, &entry, &rows->part, analysis) < 0)
		return -ENOMEM;
	if (append(details->analysed, entry) < 0 ||
	    json_tree_add(entry, "row", json_object_new_uint64(rows->wanted[i].row)) < 0) {
		free(text.text);
		return -ENOMEM;
	}
	return page_document_add(details->document, text.text, text.bytes);
}

static int image_rows_analyse(struct image_rows *rows, const size_t *procedures, size_t count,
			      struct error *err)
{
	struct calc_driver walk = {
		.cli = rows->details->source->cli,
		.source = &rows->details->source->calc,
		.procedure = take_procedure,
		.context = rows,
		.doubtful = true,
	};

	return calc_driver_chosen(&walk, rows->part.choice, procedures, count, err);
}

static int compare_indices(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* One analysis of all procedures shares the work on their image. */
static int analyse_together(struct image_rows *rows)
{
	struct error err = {0};
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (!rows->wanted[i].done)
			rows->procedures[count++] = rows->wanted[i].procedure;
	}
	qsort(rows->procedures, count, sizeof(*rows->procedures), compare_indices);
	/* The parts of a procedure have rows of their own, and one analysis. */
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rows->procedures[i] != rows->procedures[i - 1])
			rows->procedures[kept++] = rows->procedures[i];
	}
	return kept > 1 ? image_rows_analyse(rows, rows->procedures, kept, &err) : 0;
}

/* Analyse the procedures that are left one by one, since a fault of one ends a common analysis. */
static int analyse_rest(struct image_rows *rows)
{
	int r = 0;

	for (size_t i = 0; i < rows->count && r != -ENOMEM; i++) {
		struct error err = {0};

		if (rows->wanted[i].done)
			continue;
		r = image_rows_analyse(rows, &rows->wanted[i].procedure, 1, &err);
		if (!rows->wanted[i].done && r != -ENOMEM)
			r = reject(rows->details, rows->wanted[i].row,
				   r < 0 ? err.message : "it has no instructions");
	}
	return r == -ENOMEM ? r : 0;
}

static int add_rows(struct details *details, struct calc_choice *choice, struct wanted *wanted,
		    size_t count)
{
	struct page_source *source = details->source;
	struct tally_config config = page_source_config(source, TALLY_BY_INSTRUCTION);
	_cleanup_free_ size_t *procedures = calloc(count, sizeof(*procedures));
	struct image_rows rows = {
		.details = details,
		.part = {.page = source,
			 .choice = choice,
			 .text = details->options->text,
			 .lines = details->options->lines,
			 .blocks = details->options->blocks,
			 .graphs = details->options->graphs},
		.wanted = wanted,
		.procedures = procedures,
		.count = count,
	};
	struct error err = {0};
	int r;

	config.filter.image = wanted->image->id;
	config.image = NULL;
	config.tool = NULL;
	if (procedures == NULL)
		return -ENOMEM;
	r = tally_create(&rows.part.tally, source->reader, &config, &err);
	if (r < 0)
		return r == -ENOMEM ? r : reject_all(details, wanted, count, err.message);
	progress_say(&details->progress, details->done, details->count, wanted->image->image.path);
	r = find_procedures(&rows);
	if (r == 0 && analyse_together(&rows) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0)
		r = analyse_rest(&rows);
	tally_destroy(rows.part.tally);
	return r;
}

/* Analyse the rows of one image. */
static int add_image(struct details *details, struct wanted *wanted, size_t count)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
	const char *reason = details->source->unanalysed.message;
	struct error err = {0};
	int r;

	if (*reason == '\0' && wanted->image == NULL)
		reason = "it has no samples of time, or its image is not known";
	if (*reason == '\0') {
		r = calc_select_open(&choice, &details->source->calc.select, wanted->image, &err);
		if (r == 0)
			return add_rows(details, &choice, wanted, count);
		if (r == -ENOMEM)
			return r;
		reason = err.message;
	}
	return reject_all(details, wanted, count, reason);
}

static int add_all(struct details *details, struct wanted *wanted)
{
	size_t next;
	int r = 0;

	for (size_t i = 0; i < details->count; i++)
		wanted[i] = (struct wanted){
			.row = i,
			.image = details_image(details, &tally_rows(details->source->tally)[i]),
		};
	qsort(wanted, details->count, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; r == 0 && i < details->count; i = next) {
		for (next = i + 1; next < details->count && wanted[next].image == wanted[i].image;
		     next++)
			;
		r = add_image(details, wanted + i, next - i);
	}
	return r;
}

/* Add the names that causes and static stalls have in prose, by their keys. */
static int add_names(struct json_object *root)
{
	struct json_object *causes = json_object_new_object(), *stalls = json_object_new_object();
	int r = json_tree_add(root, "causes", causes);

	if (r < 0) {
		json_object_put(stalls);
		return r;
	}
	r = json_tree_add(root, "stalls", stalls);
	for (unsigned int i = 0; r == 0 && i <= CULPRIT_CAUSES; i++) {
		enum culprit_cause cause = (enum culprit_cause)i;

		r = json_tree_add(causes, culprit_key(cause),
				  json_object_new_string(calc_bubbles_cause(cause)));
	}
	for (unsigned int i = 0; r == 0 && i < STALL_KINDS; i++) {
		enum stall_kind kind = (enum stall_kind)i;

		r = json_tree_add(stalls, calc_json_stall_key(kind),
				  json_object_new_string(calc_bubbles_stall(kind)));
	}
	return r;
}

int page_detail_add(struct page_source *source, const struct page_detail_options *options,
		    struct page_document *document, struct error *err)
{
	size_t rows = tally_row_count(source->tally);
	struct details details = {
		.source = source,
		.options = options,
		.document = document,
		.analysed = json_object_new_array(),
		.rejected = json_object_new_array(),
		.count = options->limit < rows ? options->limit : rows,
	};
	_cleanup_free_ struct wanted *wanted = calloc(details.count + 1, sizeof(*wanted));
	int r = json_tree_add(document->root, "details", details.analysed);

	if (json_tree_add(document->root, "not_analysed", details.rejected) < 0 || r < 0 ||
	    wanted == NULL || add_names(document->root) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	progress_start(&details.progress, source->cli->tool);
	r = add_all(&details, wanted);
	progress_clear(&details.progress);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}
