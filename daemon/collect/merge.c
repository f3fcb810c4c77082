// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/collect/accumulate.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/pair_recording.h"
#include "daemon/collect/pair_store.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/jit/jit_image.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/*
 * @ids:            number in the database, by number in the image table; 0: not looked up
 * @revision:       of the image table when they were looked up
 * @labels_written: a bit for each label that the epoch contains
 * @edges:          edges of one bin, reused between merges
 * @pairs:          register pairs of one image, reused between merges
 */
struct merge {
	struct profile_writer *writer;
	const struct image_table *images;
	struct kernel_images *kernel;
	const struct label_table *labels;
	struct jit_images *jit;
	int64_t *ids;
	size_t id_count;
	size_t id_capacity;
	uint64_t revision;
	uint8_t labels_written[(LABEL_TABLE_MAX + 8) / 8];
	struct edge_run edges;
	struct pair_recording pairs;
};

int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel,
		 const struct label_table *labels, struct jit_images *jit, struct error *err)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge == NULL)
		return error_set(err, ENOMEM, "out of memory");
	merge->writer = writer;
	merge->images = images;
	merge->kernel = kernel;
	merge->labels = labels;
	merge->jit = jit;
	*ret = merge;
	return 0;
}

void merge_destroy(struct merge *merge)
{
	if (merge == NULL)
		return;
	free(merge->ids);
	free(merge->edges.edges);
	pair_recording_deinit(&merge->pairs);
	free(merge);
}

void merge_forget(struct merge *merge)
{
	merge->id_count = 0;
	memset(merge->labels_written, 0, sizeof(merge->labels_written));
	if (merge->jit != NULL)
		jit_images_unwritten(merge->jit);
}

void merge_done(struct merge *merge)
{
	if (merge->jit != NULL)
		jit_images_written(merge->jit);
}

void merge_epoch(struct merge *merge)
{
	merge_forget(merge);
	if (merge->jit != NULL)
		jit_images_forget(merge->jit);
}

/* Store symbols that exist only on the running system with the profile, once. */
static int symbols_write(struct merge *merge, uint32_t image, int64_t id, struct error *err)
{
	_cleanup_free_ struct profile_symbol *symbols = NULL;
	_cleanup_free_ char *names = NULL;
	size_t count;
	int rc;

	if (merge->kernel == NULL || profile_writer_has_symbols(merge->writer, id))
		return 0;
	rc = kernel_images_symbols(merge->kernel, image, &symbols, &count, &names, NULL);
	if (rc < 0 || count == 0)
		return 0; /* not the kernel's, or not available: profiles work without */
	return profile_writer_symbols(merge->writer, id, symbols, count, err);
}

/* If the contents have not been compared, the path is marked: it may be forged. */
static int image_write(struct merge *merge, uint32_t number, int64_t *id, struct error *err)
{
	struct profile_image image = *image_table_get(merge->images, number);
	_cleanup_free_ char *path = NULL;

	if (image.identity_kind == PROFILE_IDENTITY_FILE) {
		if (asprintf(&path, "%s" PROFILE_UNVERIFIED_SUFFIX, image.path) < 0) {
			path = NULL;
			return error_set(err, ENOMEM, "out of memory");
		}
		image.path = path;
	}
	return profile_writer_image(merge->writer, &image, id, err);
}

static int image_id(struct merge *merge, uint32_t image, int64_t *ret, struct error *err)
{
	uint32_t names = merge->kernel != NULL ? kernel_images_names(merge->kernel, image) : image;
	int rc = names != image ? image_id(merge, names, ret, err) : 0;

	if (rc < 0)
		return rc;

	if (merge->revision != image_table_revision(merge->images)) {
		merge->revision = image_table_revision(merge->images);
		merge->id_count = 0;
	}
	if (image >= merge->id_count) {
		rc = array_reserve(&merge->ids, &merge->id_capacity, (size_t)image + 1,
				   sizeof(merge->ids[0]));
		if (rc < 0)
			return error_set(err, ENOMEM, "out of memory");
		memset(merge->ids + merge->id_count, 0,
		       (image + 1 - merge->id_count) * sizeof(merge->ids[0]));
		merge->id_count = (size_t)image + 1;
	}
	if (merge->ids[image] == 0) {
		int64_t id = 0;

		rc = image_write(merge, image, &id, err);
		if (rc == 0)
			rc = symbols_write(merge, image, id, err);
		if (rc < 0)
			return rc;
		merge->ids[image] = id;
	}
	*ret = merge->ids[image];
	/* The symbols of code generated at run time become known over time. */
	return merge->jit != NULL ? jit_images_write(merge->jit, image, merge->writer, *ret, err)
				  : 0;
}

/* Convert reasons to counters. Return: their sum, as one sample. */
static struct profile_sample reasons_take(const struct profile_sample *samples, size_t count,
					  struct merge_result *result)
{
	struct profile_sample sum = {.offset = 0};
	size_t i;

	for (i = 0; i < count; i++) {
		result->unknown[samples[i].offset] += samples[i].count;
		sum.count += samples[i].count;
	}
	return sum;
}

/* The names of a label are stored once per epoch. */
static int label_write(struct merge *merge, uint32_t number, struct error *err)
{
	uint8_t *byte = &merge->labels_written[number / 8];
	struct profile_label label;
	int rc;

	if (*byte & 1U << number % 8)
		return 0;
	label = label_table_get(merge->labels, number);
	rc = profile_writer_label(merge->writer, &label, err);
	if (rc == 0)
		*byte |= (uint8_t)(1U << number % 8);
	return rc;
}

static int labels_write(struct merge *merge, const struct accumulate_bin *bin, int64_t image,
			struct error *err)
{
	uint32_t event = accumulate_bin_key(bin).event;
	const struct accumulate_label *labels;
	size_t count, i;
	int rc = 0;

	labels = accumulate_bin_labels(bin, &count);
	for (i = 0; rc == 0 && i < count; i++) {
		rc = label_write(merge, labels[i].label, err);
		if (rc == 0)
			rc = profile_writer_share(merge->writer, image, event, labels[i].label,
						  labels[i].samples, err);
	}
	return rc;
}

/* A process that was moved has more than one label; the highest number is its newest. */
static int process_write(struct merge *merge, const struct accumulate_bin *bin, struct error *err)
{
	struct profile_process process = {
		.pid = accumulate_bin_key(bin).pid,
		.command = accumulate_bin_command(bin),
	};
	const struct accumulate_label *labels;
	size_t count;

	labels = accumulate_bin_labels(bin, &count);
	if (count > 0)
		process.label = labels[count - 1].label;
	if (process.pid < 0 || process.command[0] == '\0')
		return 0;
	return profile_writer_process(merge->writer, &process, err);
}

static int bin_write(struct merge *merge, struct accumulate *accumulate, struct accumulate_bin *bin,
		     struct merge_result *result, struct error *err)
{
	struct accumulate_key key = accumulate_bin_key(bin);
	const struct profile_sample *samples;
	struct profile_sample sum;
	int64_t id = 0;
	size_t count;
	int rc;

	rc = image_id(merge, key.image, &id, err);
	if (rc < 0)
		return rc;
	if (accumulate_bin_samples(accumulate, bin, &samples, &count) < 0)
		return error_set(err, ENOMEM, "out of memory");
	if (count == 0)
		return 0;
	if (key.image == IMAGE_UNKNOWN) {
		sum = reasons_take(samples, count, result);
		samples = &sum;
		count = 1;
	}
	rc = profile_writer_add(merge->writer, id, key.event, key.pid, samples, count, err);
	if (rc == 0)
		rc = labels_write(merge, bin, id, err);
	return rc == 0 ? process_write(merge, bin, err) : rc;
}

int merge_bins(struct merge *merge, struct accumulate *accumulate, size_t bins,
	       struct merge_result *result, struct error *err)
{
	struct accumulate_bin *bin = accumulate_first(accumulate);
	int rc;

	for (; bin != NULL && bins > 0; bins--) {
		rc = bin_write(merge, accumulate, bin, result, err);
		if (rc < 0)
			return rc;
		result->samples += accumulate_bin_held(bin);
		result->bins++;
		bin = accumulate_next(bin);
	}
	return 0;
}

static int edge_bin_write(struct merge *merge, const struct edge_bin *bin, struct error *err)
{
	struct edge_key key = edge_accumulate_bin_key(bin);
	int64_t id = 0, to_id = 0;
	int rc;

	rc = image_id(merge, key.image, &id, err);
	if (rc == 0)
		rc = image_id(merge, key.to_image, &to_id, err);
	if (rc < 0)
		return rc;
	if (edge_accumulate_bin_edges(bin, &merge->edges) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return profile_writer_edges(merge->writer, id, to_id, key.kind, merge->edges.edges,
				    merge->edges.count, err);
}

int merge_edges(struct merge *merge, const struct edge_accumulate *accumulate, size_t bins,
		struct merge_result *result, struct error *err)
{
	const struct edge_bin *bin = edge_accumulate_first(accumulate);
	int rc;

	for (; bin != NULL && bins > 0; bins--) {
		rc = edge_bin_write(merge, bin, err);
		if (rc < 0)
			return rc;
		result->edges += edge_accumulate_bin_held(bin);
		result->edge_bins++;
		bin = edge_accumulate_next(bin);
	}
	return 0;
}

/* State of a walk over images with pairs. */
struct pairs_walk {
	struct merge *merge;
	struct error *err;
};

static int pairs_write(void *context, uint32_t image, const struct stored_pair *pairs, size_t count,
		       uint64_t seen)
{
	const struct pairs_walk *walk = context;
	struct pair_recording *recording = &walk->merge->pairs;
	int64_t id = 0;
	int r;

	if (pair_recording_make(recording, pairs, count, seen) < 0)
		return error_set(walk->err, ENOMEM, "out of memory");
	if (recording->pair_count == 0)
		return 0;
	r = image_id(walk->merge, image, &id, walk->err);
	if (r < 0)
		return r;
	return profile_writer_recording_set(walk->merge->writer, id, &recording->recording,
					    walk->err);
}

int merge_pairs(struct merge *merge, const struct pair_store *pairs, struct error *err)
{
	struct pairs_walk walk = {merge, err};

	return pair_store_images(pairs, pairs_write, &walk);
}
