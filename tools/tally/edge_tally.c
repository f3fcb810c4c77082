// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/edge_tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/image_label.h"
#include "tools/report/image_symbols.h"
#include "tools/report/profiler_class.h"

/* @row: the public part; this structure owns the texts of its places */
struct entry {
	struct edge_row row;
	int64_t image;
	int64_t to_image;
};

struct tally_image {
	int64_t id;
	struct profile_image image; /* this structure owns the path */
};

struct edge_tally {
	struct edge_tally_config config;
	struct entry *entries;
	size_t count;
	size_t capacity;
	struct tally_image *images; /* ascending by id */
	size_t image_count;
	size_t image_capacity;
	uint64_t totals[PROFILE_EDGE_KINDS];
	enum profiler_probes probes;
};

CLEANUP_DEFINE(edge_tally, struct edge_tally *, edge_tally_destroy)

static int compare_number(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_offset(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Order by the fields that identify a row. */
static int by_edge(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = compare_number(x->image, y->image);

	if (r == 0)
		r = compare_offset(x->row.from.offset, y->row.from.offset);
	if (r == 0)
		r = compare_number(x->to_image, y->to_image);
	if (r == 0)
		r = compare_offset(x->row.to.offset, y->row.to.offset);
	return r != 0 ? r : compare_number(x->row.kind, y->row.kind);
}

static int take_edges(void *context, const struct profile_edges *edges)
{
	struct edge_tally *tally = context;

	if (!profile_edge_is_edge(edges->kind))
		return 0;
	if (array_reserve(&tally->entries, &tally->capacity, tally->count + edges->count,
			  sizeof(*tally->entries)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < edges->count; i++) {
		tally->entries[tally->count++] = (struct entry){
			.row = {.kind = edges->kind,
				.from = {.offset = edges->edges[i].from},
				.to = {.offset = edges->edges[i].to},
				.count = edges->edges[i].count},
			.image = edges->image,
			.to_image = edges->to_image,
		};
	}
	if (__builtin_add_overflow(tally->totals[edges->kind], edges->total,
				   &tally->totals[edges->kind]))
		return -EBADMSG;
	return 0;
}

/* Merge the entries of an edge in several epochs. If the total does not overflow, no sum does. */
static void edge_tally_add_up(struct edge_tally *tally)
{
	size_t kept = 0;

	if (tally->count > 0)
		qsort(tally->entries, tally->count, sizeof(*tally->entries), by_edge);
	for (size_t i = 0; i < tally->count; i++) {
		if (kept > 0 && by_edge(&tally->entries[kept - 1], &tally->entries[i]) == 0)
			tally->entries[kept - 1].row.count += tally->entries[i].row.count;
		else
			tally->entries[kept++] = tally->entries[i];
	}
	tally->count = kept;
}

static int by_id(const void *a, const void *b)
{
	const struct tally_image *x = a, *y = b;

	return compare_number(x->id, y->id);
}

static struct tally_image *edge_tally_image_of(const struct edge_tally *tally, int64_t id)
{
	const struct tally_image key = {.id = id};

	return bsearch(&key, tally->images, tally->image_count, sizeof(key), by_id);
}

/* List the numbers of all images, each once; most rows have the same image as the row before. */
static int list_images(struct edge_tally *tally)
{
	size_t kept = 0;

	for (size_t i = 0; i < 2 * tally->count; i++) {
		const struct entry *entry = &tally->entries[i / 2];
		int64_t id = i % 2 == 0 ? entry->image : entry->to_image;

		if (tally->image_count > 0 && tally->images[tally->image_count - 1].id == id)
			continue;
		if (array_reserve(&tally->images, &tally->image_capacity, tally->image_count + 1,
				  sizeof(*tally->images)) < 0)
			return -ENOMEM;
		tally->images[tally->image_count++] = (struct tally_image){.id = id};
	}
	if (tally->image_count > 0)
		qsort(tally->images, tally->image_count, sizeof(*tally->images), by_id);
	for (size_t i = 0; i < tally->image_count; i++) {
		if (kept == 0 || tally->images[kept - 1].id != tally->images[i].id)
			tally->images[kept++] = tally->images[i];
	}
	tally->image_count = kept;
	return 0;
}

static int describe_images(struct edge_tally *tally, struct profile_reader *reader,
			   struct error *err)
{
	if (list_images(tally) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < tally->image_count; i++) {
		struct tally_image *image = &tally->images[i];
		struct profile_image found = {0};
		int r = profile_reader_image(reader, image->id, &found, err);

		if (r == -ENOENT)
			return error_set(err, EBADMSG, ERROR_DATABASE_IMAGE);
		if (r < 0)
			return r;
		image->image = found;
		image->image.path = strdup(found.path);
		if (image->image.path == NULL)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	for (size_t i = 0; i < tally->count; i++) {
		struct entry *entry = &tally->entries[i];

		entry->row.from.image = edge_tally_image_of(tally, entry->image)->image.path;
		entry->row.to.image = edge_tally_image_of(tally, entry->to_image)->image.path;
	}
	return 0;
}

static void choose_rows(struct edge_tally *tally)
{
	size_t kept = 0;

	for (size_t i = 0; tally->config.image != NULL && i < tally->count; i++) {
		if (image_label_matches(&edge_tally_image_of(tally, tally->entries[i].image)->image,
					tally->config.image))
			tally->entries[kept++] = tally->entries[i];
	}
	if (tally->config.image != NULL)
		tally->count = kept;
}

static int by_order(const void *a, const void *b, void *context)
{
	const struct entry *x = a, *y = b;
	enum edge_order order = *(const enum edge_order *)context;
	int r = 0;

	if (order == EDGE_BY_PROCEDURE)
		r = strcmp(x->row.from.place, y->row.from.place);
	else if (order != EDGE_BY_COUNT)
		r = strcmp(x->row.from.image, y->row.from.image);
	if (r == 0 && order == EDGE_BY_ADDRESS)
		return by_edge(x, y);
	if (r == 0)
		r = compare_offset(y->row.count, x->row.count);
	if (r == 0)
		r = strcmp(x->row.from.image, y->row.from.image);
	return r != 0 ? r : by_edge(x, y);
}

static void edge_tally_cut(struct edge_tally *tally)
{
	size_t limit = tally->config.limit;

	if (tally->count > 0)
		qsort_r(tally->entries, tally->count, sizeof(*tally->entries), by_order,
			&tally->config.order);
	/* The omitted rows may already have names. */
	for (size_t i = limit; limit > 0 && i < tally->count; i++) {
		free((void *)(uintptr_t)tally->entries[i].row.from.place);
		free((void *)(uintptr_t)tally->entries[i].row.to.place);
	}
	if (limit > 0 && limit < tally->count)
		tally->count = limit;
}

static int name_end(const struct edge_tally *tally, const struct image_symbols *symbols,
		    const struct profile_image *image, struct edge_end *end)
{
	size_t procedure = image_symbols_find(symbols, end->offset);
	uint64_t start, address;
	bool has_address;
	_cleanup_free_ char *name = image_symbols_name(symbols, procedure, tally->config.demangle,
						       &address, &has_address);
	char *place = NULL;

	if (name == NULL)
		return -ENOMEM;
	end->mark = profiler_class_mark(profiler_class_of(image, name, tally->probes));
	if (!image_symbols_start(symbols, procedure, &start, &address)) {
		end->place = take_ptr(name);
		return 0;
	}
	if (asprintf(&place, "%s+0x%" PRIx64, name, end->offset - start) < 0)
		return -ENOMEM;
	end->place = place;
	return 0;
}

/* An end whose name has not been looked up yet. */
struct unnamed {
	int64_t image;
	struct edge_end *end;
};

static int by_image(const void *a, const void *b)
{
	const struct unnamed *x = a, *y = b;

	return compare_number(x->image, y->image);
}

/* Look up the names of all ends, so that each image is opened once. */
static int name_ends(struct edge_tally *tally, struct profile_reader *reader, struct error *err)
{
	_cleanup_free_ struct unnamed *ends = calloc(2 * tally->count + 1, sizeof(*ends));
	struct image_symbols *symbols = NULL;
	int r = ends != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = profiler_probes_load(&tally->probes, reader, &tally->config.filter, err);
	for (size_t i = 0; r == 0 && i < tally->count; i++) {
		struct entry *entry = &tally->entries[i];

		ends[2 * i] = (struct unnamed){entry->image, &entry->row.from};
		ends[2 * i + 1] = (struct unnamed){entry->to_image, &entry->row.to};
	}
	if (r == 0 && tally->count > 0)
		qsort(ends, 2 * tally->count, sizeof(*ends), by_image);
	for (size_t i = 0; r == 0 && i < 2 * tally->count; i++) {
		if (i == 0 || ends[i].image != ends[i - 1].image) {
			image_symbols_close(symbols);
			symbols = NULL;
			r = image_symbols_open(&symbols, reader, ends[i].image,
					       &edge_tally_image_of(tally, ends[i].image)->image,
					       &tally->config.debug, err);
		}
		if (r == 0)
			r = name_end(tally, symbols,
				     &edge_tally_image_of(tally, ends[i].image)->image,
				     ends[i].end);
	}
	image_symbols_close(symbols);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

static int edge_tally_make_rows(struct edge_tally *tally, struct profile_reader *reader,
				struct error *err)
{
	int r = describe_images(tally, reader, err);

	if (r < 0)
		return r;
	choose_rows(tally);
	/* Rows to be omitted need no names, unless the order depends on them. */
	if (tally->config.order != EDGE_BY_PROCEDURE)
		edge_tally_cut(tally);
	r = name_ends(tally, reader, err);
	if (r == 0 && tally->config.order == EDGE_BY_PROCEDURE)
		edge_tally_cut(tally);
	return r;
}

int edge_tally_create(struct edge_tally **ret, struct profile_reader *reader,
		      const struct edge_tally_config *config, struct error *err)
{
	_cleanup_(cleanup_edge_tally) struct edge_tally *tally = calloc(1, sizeof(*tally));
	int r;

	if (tally == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	tally->config = *config;
	err->message[0] = '\0';
	r = profile_reader_edges(reader, &config->filter, take_edges, tally, err);
	if (r < 0 && err->message[0] == '\0')
		return error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : ERROR_DATABASE_COUNTS);
	if (r < 0)
		return r;
	edge_tally_add_up(tally);
	r = edge_tally_make_rows(tally, reader, err);
	if (r < 0)
		return r;
	*ret = take_ptr(tally);
	return 0;
}

void edge_tally_destroy(struct edge_tally *tally)
{
	if (tally == NULL)
		return;
	for (size_t i = 0; i < tally->count; i++) {
		free((void *)(uintptr_t)tally->entries[i].row.from.place);
		free((void *)(uintptr_t)tally->entries[i].row.to.place);
	}
	for (size_t i = 0; i < tally->image_count; i++)
		free((void *)(uintptr_t)tally->images[i].image.path);
	free(tally->entries);
	free(tally->images);
	free(tally);
}

const struct edge_row *edge_tally_row(const struct edge_tally *tally, size_t index)
{
	return &tally->entries[index].row;
}

size_t edge_tally_row_count(const struct edge_tally *tally)
{
	return tally->count;
}

uint64_t edge_tally_total(const struct edge_tally *tally, enum profile_edge_kind kind)
{
	return tally->totals[kind];
}
