// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/code/code_capture.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/footprint_recording.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/image_names.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/pair_recording.h"
#include "daemon/collect/pair_store.h"
#include "daemon/collect/region_store.h"
#include "daemon/collect/stack_recording.h"
#include "daemon/collect/stack_store.h"
#include "daemon/collect/thread_recording.h"
#include "daemon/image/image_table.h"
#include "daemon/image/kernel_image.h"
#include "daemon/jit/jit_image.h"
#include "db/profile_pairs.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/data_caches.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * @ids:            number in the database, by number in the image table; 0: not looked up
 * @revision:       of the image table when they were looked up
 * @labels_written: a bit for each label that the epoch contains
 * @sum, @next:     samples of the parts of one bin, reused between merges
 * @edges:          edges of one bin, reused between merges
 * @pairs, @footprints: of one image, reused between merges
 * @cache_bytes:    of the data caches, by level
 * @stacks:         call stacks of one image, reused between merges
 */
struct merge {
	struct profile_writer *writer;
	const struct image_table *images;
	struct kernel_images *kernel;
	const struct label_table *labels;
	struct jit_images *jit;
	struct code_capture *capture;
	struct image_names *names;
	int64_t *ids;
	size_t id_count;
	size_t id_capacity;
	uint64_t revision;
	uint8_t labels_written[(LABEL_TABLE_MAX + 8) / 8];
	struct profile_pairs sum;
	struct profile_pairs next;
	struct edge_run edges;
	struct pair_recording pairs;
	struct footprint_recording footprints;
	uint64_t cache_bytes[DATA_CACHE_LEVELS];
	struct stack_recording stacks;
	struct thread_recording threads;
};

int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel,
		 const struct label_table *labels, struct jit_images *jit, struct error *err)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	merge->writer = writer;
	merge->images = images;
	merge->kernel = kernel;
	merge->labels = labels;
	merge->jit = jit;
	data_caches_read(merge->cache_bytes);
	*ret = merge;
	return 0;
}

void merge_destroy(struct merge *merge)
{
	if (merge == NULL)
		return;
	free(merge->ids);
	profile_pairs_deinit(&merge->sum);
	profile_pairs_deinit(&merge->next);
	free(merge->edges.edges);
	pair_recording_deinit(&merge->pairs);
	footprint_recording_deinit(&merge->footprints);
	stack_recording_deinit(&merge->stacks);
	thread_recording_deinit(&merge->threads);
	free(merge);
}

void merge_capture(struct merge *merge, struct code_capture *capture)
{
	merge->capture = capture;
}

void merge_names(struct merge *merge, struct image_names *names)
{
	merge->names = names;
}

void merge_forget(struct merge *merge)
{
	merge->id_count = 0;
	memset(merge->labels_written, 0, sizeof(merge->labels_written));
	if (merge->jit != NULL)
		jit_images_unwritten(merge->jit);
	if (merge->capture != NULL)
		code_capture_forget(merge->capture);
	if (merge->names != NULL)
		image_names_forget(merge->names);
}

void merge_done(struct merge *merge)
{
	if (merge->jit != NULL)
		jit_images_written(merge->jit);
	if (merge->capture != NULL)
		code_capture_written(merge->capture);
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
	if (merge->capture != NULL &&
	    code_capture_symbols(merge->capture, image, symbols, count) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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

size_t merge_slices_find(const struct merge_slices *slices, uint32_t number)
{
	size_t i = 0;

	while (i + 1 < slices->count && slices->list[i].last < number)
		i++;
	return i;
}

/*
 * struct part_write - a part of a bin that is written
 * @id:      number of its image in the database
 * @slice:   number of its slice in the database, 0: none
 * @samples: its samples; those of the unknown image are one sample
 */
struct part_write {
	struct accumulate_key key;
	const struct accumulate_part *part;
	int64_t id;
	int64_t slice;
	const struct profile_sample *samples;
	size_t count;
	struct profile_sample unknown;
};

/* Convert reasons to counters, and their sum to one sample. */
static int reasons_take(struct merge *merge, struct part_write *write, struct merge_result *result,
			struct error *err)
{
	int rc = 0;

	write->unknown = (struct profile_sample){.offset = 0};
	for (size_t i = 0; rc == 0 && i < write->count; i++) {
		const struct profile_sample *sample = &write->samples[i];

		result->unknown[sample->offset] += sample->count;
		write->unknown.count += sample->count;
		if (write->slice != 0)
			rc = profile_writer_slice_count(
				merge->writer, write->slice, "unknown",
				image_unknown_name((enum image_unknown)sample->offset),
				sample->count, err);
	}
	write->samples = &write->unknown;
	write->count = 1;
	return rc;
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

static int labels_write(struct merge *merge, const struct part_write *write, struct error *err)
{
	const struct accumulate_label *labels;
	size_t count;
	int rc = 0;

	labels = accumulate_part_labels(write->part, &count);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		uint32_t label = labels[i].label;

		rc = label_write(merge, label, err);
		if (rc == 0)
			rc = profile_writer_share(merge->writer, write->id, write->key.event, label,
						  labels[i].samples, err);
		if (rc == 0 && write->slice != 0)
			rc = profile_writer_slice_share(merge->writer, write->slice, write->id,
							write->key.event, label, labels[i].samples,
							err);
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
	const struct accumulate_part *part = accumulate_bin_oldest(bin);

	for (; part != NULL; part = accumulate_part_next(part)) {
		size_t count;
		const struct accumulate_label *labels = accumulate_part_labels(part, &count);

		if (count > 0 && labels[count - 1].label > process.label)
			process.label = labels[count - 1].label;
	}
	if (process.pid < 0 || process.command[0] == '\0')
		return 0;
	return profile_writer_process(merge->writer, &process, err);
}

/* Write a part to its slice, and add its samples to those of the bin. */
static int part_write(struct merge *merge, struct accumulate *accumulate, struct part_write *write,
		      struct merge_result *result, struct error *err)
{
	int rc = 0;

	if (accumulate_part_samples(accumulate, write->part, &write->samples, &write->count) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (write->count == 0)
		return 0;
	if (write->key.image == IMAGE_UNKNOWN)
		rc = reasons_take(merge, write, result, err);
	if (rc == 0 && write->slice != 0)
		rc = profile_writer_slice_add(merge->writer, write->slice, write->id,
					      write->key.event, write->key.pid, write->samples,
					      write->count, err);
	if (rc == 0)
		rc = labels_write(merge, write, err);
	if (rc < 0)
		return rc;
	rc = profile_pairs_add(&merge->sum, &merge->next, write->samples, write->count);
	return rc < 0 ? error_set(err, -rc, "cannot add samples: %s", strerror(-rc)) : 0;
}

/* The names of the procedures with these samples are stored later. */
static void names_want(struct merge *merge, uint32_t image, int64_t id,
		       const struct profile_pairs *samples)
{
	struct named_image *named;

	if (merge->names == NULL)
		return;
	named = image_names_image(merge->names, id, image_table_get(merge->images, image));
	for (size_t i = 0; named != NULL && i < samples->count; i++)
		image_names_want(merge->names, named, samples->samples[i].offset);
}

/* The row of the epoch is written once for all parts, because it is the largest. */
static int bin_write(struct merge *merge, struct accumulate *accumulate, struct accumulate_bin *bin,
		     const struct merge_slices *slices, struct merge_result *result,
		     struct error *err)
{
	struct part_write write = {
		.key = accumulate_bin_key(bin),
		.part = accumulate_bin_oldest(bin),
	};
	struct profile_pairs *sum = &merge->sum;
	int rc = image_id(merge, write.key.image, &write.id, err);

	sum->count = 0;
	sum->total = 0;
	for (; rc == 0 && write.part != NULL; write.part = accumulate_part_next(write.part)) {
		uint32_t number = accumulate_part_slice(write.part);

		if (slices->count > 0)
			write.slice = slices->list[merge_slices_find(slices, number)].id;
		rc = part_write(merge, accumulate, &write, result, err);
	}
	if (rc < 0 || sum->count == 0)
		return rc;
	rc = profile_writer_add(merge->writer, write.id, write.key.event, write.key.pid,
				sum->samples, sum->count, err);
	if (rc == 0 && write.key.image != IMAGE_UNKNOWN)
		names_want(merge, write.key.image, write.id, sum);
	if (rc == 0 && merge->capture != NULL)
		rc = code_capture_write(merge->capture, write.key.image, write.id, sum->samples,
					sum->count, merge->writer, err);
	return rc == 0 ? process_write(merge, bin, err) : rc;
}

int merge_bins(struct merge *merge, struct accumulate *accumulate, size_t bins,
	       const struct merge_slices *slices, struct merge_result *result, struct error *err)
{
	struct accumulate_bin *bin = accumulate_first(accumulate);
	int rc;

	for (; bin != NULL && bins > 0; bins--) {
		rc = bin_write(merge, accumulate, bin, slices, result, err);
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
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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

/* State of a walk over images with recordings. */
struct recording_walk {
	struct merge *merge;
	struct error *err;
};

static int recording_write(const struct recording_walk *walk, uint32_t image,
			   struct profile_recording *recording)
{
	int64_t id = 0;
	int r = image_id(walk->merge, image, &id, walk->err);

	return r < 0 ? r
		     : profile_writer_recording_set(walk->merge->writer, id, recording, walk->err);
}

static int pairs_write(void *context, uint32_t image, const struct stored_pair *pairs, size_t count,
		       uint64_t seen)
{
	const struct recording_walk *walk = context;
	struct pair_recording *recording = &walk->merge->pairs;

	if (pair_recording_make(recording, pairs, count, seen) < 0)
		return error_set(walk->err, ENOMEM, ERROR_NO_MEMORY);
	return recording->pair_count > 0 ? recording_write(walk, image, &recording->recording) : 0;
}

/* struct id_list - @ids: of @images */
struct id_list {
	struct merge *merge;
	struct error *err;
	uint32_t *images;
	int64_t *ids;
	size_t count;
	size_t image_capacity;
	size_t id_capacity;
};

static int id_add(void *context, uint32_t image, const struct stored_pair *pairs, size_t count,
		  uint64_t seen)
{
	struct id_list *list = context;
	int64_t id = 0;
	int r = image_id(list->merge, image, &id, list->err);

	(void)pairs;
	(void)count;
	(void)seen;
	if (r < 0)
		return r;
	if (array_reserve(&list->images, &list->image_capacity, list->count + 1,
			  sizeof(*list->images)) < 0 ||
	    array_reserve(&list->ids, &list->id_capacity, list->count + 1, sizeof(*list->ids)) < 0)
		return error_set(list->err, ENOMEM, ERROR_NO_MEMORY);
	list->images[list->count] = image;
	list->ids[list->count++] = id;
	return 0;
}

/* Images with the same number in the database have one recording there. */
static int pairs_join(struct merge *merge, struct pair_store *pairs, struct error *err)
{
	struct id_list list = {.merge = merge, .err = err};
	int r = pair_store_images(pairs, id_add, &list);

	for (size_t i = 1; i < list.count && r == 0; i++) {
		size_t first = 0;

		while (list.ids[first] != list.ids[i])
			first++;
		if (first < i && pair_store_join(pairs, list.images[i], list.images[first]) < 0)
			r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	free(list.images);
	free(list.ids);
	return r;
}

int merge_pairs(struct merge *merge, struct pair_store *pairs, struct error *err)
{
	struct recording_walk walk = {merge, err};
	int r = pairs_join(merge, pairs, err);

	return r < 0 ? r : pair_store_images(pairs, pairs_write, &walk);
}

static int footprints_write(void *context, uint32_t image,
			    const struct footprint *const *footprints, size_t count)
{
	const struct recording_walk *walk = context;
	struct footprint_recording *recording = &walk->merge->footprints;

	if (footprint_recording_make(recording, footprints, count, walk->merge->cache_bytes) < 0)
		return error_set(walk->err, ENOMEM, ERROR_NO_MEMORY);
	return recording->count > 0 ? recording_write(walk, image, &recording->recording) : 0;
}

int merge_footprints(struct merge *merge, const struct footprint_store *footprints,
		     struct error *err)
{
	struct recording_walk walk = {merge, err};
	int r = footprint_store_images(footprints, footprints_write, &walk);

	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

static int regions_write(void *context, uint32_t image, struct profile_recording *recording)
{
	return recording_write(context, image, recording);
}

int merge_regions(struct merge *merge, struct region_store *regions, struct error *err)
{
	struct recording_walk walk = {merge, err};
	int r = region_store_images(regions, regions_write, &walk);

	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

/* Find the numbers in the database of the images of all stacks: they are in @merge->ids then. */
static int stack_images(struct merge *merge, const struct stack_store *stacks, struct error *err)
{
	const uint32_t *images;
	size_t count;

	images = stack_store_images(stacks, &count);
	for (size_t i = 0; i < count; i++) {
		int64_t id = 0;
		int r = image_id(merge, images[i], &id, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The names of callers are stored as well as those of procedures with samples. */
static void stack_names_want(struct merge *merge, const struct stack_store *stacks)
{
	const struct stack_store_node *nodes;
	uint32_t count;

	if (merge->names == NULL)
		return;
	nodes = stack_store_nodes(stacks, &count);
	/* The root is in no image. */
	for (uint32_t i = 1; i < count; i++) {
		const struct stack_frame *frame = &nodes[i].frame;
		struct named_image *named = NULL;

		if (frame->image != IMAGE_UNKNOWN)
			named = image_names_image(merge->names, merge->ids[frame->image],
						  image_table_get(merge->images, frame->image));
		if (named != NULL)
			image_names_want(merge->names, named, frame->offset);
	}
}

/* struct frame - a frame of any stack */
struct frame {
	uint32_t image;
	struct profile_sample sample;
};

static int frame_compare(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->sample.offset > y->sample.offset) - (x->sample.offset < y->sample.offset);
}

/* Store code of the kernel's procedures that call others, in order to compare their executions. */
static int callers_write(struct merge *merge, const struct stack_store *stacks, struct error *err)
{
	uint32_t count;
	const struct stack_store_node *nodes = stack_store_nodes(stacks, &count);
	_cleanup_free_ struct frame *frames = calloc((size_t)count + 1, sizeof(*frames));
	_cleanup_free_ struct profile_sample *samples = calloc((size_t)count + 1, sizeof(*samples));
	int r = 0;

	if (frames == NULL || samples == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (uint32_t i = 0; i < count; i++)
		frames[i] = (struct frame){nodes[i].frame.image, {nodes[i].frame.offset, 1}};
	qsort(frames, count, sizeof(*frames), frame_compare);
	for (uint32_t first = 0, end; first < count && r == 0; first = end) {
		uint32_t image = frames[first].image;

		for (end = first; end < count && frames[end].image == image; end++)
			samples[end - first] = frames[end].sample;
		if (image != IMAGE_UNKNOWN)
			r = code_capture_callers(merge->capture, image, merge->ids[image], samples,
						 end - first, merge->writer, err);
	}
	return r;
}

/*
 * All recordings are written again. Since the last merge, nodes may have other numbers, and an
 * image another number in the database because its identity became known.
 */
int merge_stacks(struct merge *merge, const struct stack_store *stacks,
		 enum profile_recording_mode mode, uint64_t every, struct error *err)
{
	struct stack_recording *recording = &merge->stacks;
	int64_t id = 0;
	int r = stack_images(merge, stacks, err);

	if (r == 0)
		r = profile_writer_recordings_clear(merge->writer, mode, err);
	if (r < 0)
		return r;
	stack_names_want(merge, stacks);
	if (merge->capture != NULL && mode == PROFILE_RECORDING_STACKS)
		r = callers_write(merge, stacks, err);
	if (r < 0)
		return r;
	r = stack_recording_begin(recording, stacks, merge->ids);
	while (r == 0 && (r = stack_recording_next(recording, stacks, mode, every, &id)) > 0)
		r = profile_writer_recording_set(merge->writer, id, &recording->recording, err);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

int merge_threads(struct merge *merge, const struct thread_store *threads, uint64_t every,
		  struct error *err)
{
	const struct recording_walk walk = {merge, err};
	struct thread_recording *recording = &merge->threads;

	if (thread_recording_make(recording, threads, every) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return recording->count > 0 ? recording_write(&walk, IMAGE_UNKNOWN, &recording->recording)
				    : 0;
}
