// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/accumulate.h"
#include "daemon/edge_accumulate.h"
#include "daemon/image_table.h"
#include "daemon/kernel_image.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/*
 * @ids:     number in the database by number in the image table; 0: not asked
 * @scratch: one bin's samples, kept between merges; @edges: likewise
 */
struct merge {
	struct profile_writer *writer;
	const struct image_table *images;
	struct kernel_images *kernel;
	int64_t *ids;
	size_t id_count;
	size_t id_capacity;
	struct accumulate_samples scratch;
	struct edge_run edges;
};

int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel, struct error *err)
{
	struct merge *merge = calloc(1, sizeof(*merge));

	if (merge == NULL)
		return error_set(err, ENOMEM, "out of memory");
	merge->writer = writer;
	merge->images = images;
	merge->kernel = kernel;
	*ret = merge;
	return 0;
}

void merge_destroy(struct merge *merge)
{
	if (merge == NULL)
		return;
	free(merge->ids);
	free(merge->scratch.samples);
	free(merge->edges.edges);
	free(merge);
}

void merge_forget(struct merge *merge)
{
	merge->id_count = 0;
}

/* What exists only on this running system is kept with the profile, once. */
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
		return 0; /* not the kernel's, or not to be had: profiles work without */
	return profile_writer_symbols(merge->writer, id, symbols, count, err);
}

static int image_id(struct merge *merge, uint32_t image, int64_t *ret, struct error *err)
{
	int rc;

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

		rc = profile_writer_image(merge->writer, image_table_get(merge->images, image), &id,
					  err);
		if (rc == 0)
			rc = symbols_write(merge, image, id, err);
		if (rc < 0)
			return rc;
		merge->ids[image] = id;
	}
	*ret = merge->ids[image];
	return 0;
}

/* Reasons become counters, and one sample is left. */
static void reasons_take(struct accumulate_samples *scratch, struct merge_result *result)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < scratch->count; i++) {
		result->unknown[scratch->samples[i].offset] += scratch->samples[i].count;
		sum += scratch->samples[i].count;
	}
	scratch->samples[0] = (struct profile_sample){.offset = 0, .count = sum};
	scratch->count = 1;
}

static int bin_write(struct merge *merge, const struct accumulate_bin *bin,
		     struct merge_result *result, struct error *err)
{
	struct accumulate_key key = accumulate_bin_key(bin);
	const char *command = accumulate_bin_command(bin);
	int64_t id = 0;
	int rc;

	rc = image_id(merge, key.image, &id, err);
	if (rc < 0)
		return rc;
	if (accumulate_bin_samples(bin, &merge->scratch) < 0)
		return error_set(err, ENOMEM, "out of memory");
	if (merge->scratch.count == 0)
		return 0;
	if (key.image == IMAGE_UNKNOWN)
		reasons_take(&merge->scratch, result);
	rc = profile_writer_add(merge->writer, id, key.event, key.pid, merge->scratch.samples,
				merge->scratch.count, err);
	if (rc == 0 && key.pid >= 0 && command[0] != '\0')
		rc = profile_writer_process(merge->writer, key.pid, command, err);
	return rc;
}

int merge_bins(struct merge *merge, const struct accumulate *accumulate, size_t bins,
	       struct merge_result *result, struct error *err)
{
	const struct accumulate_bin *bin = accumulate_first(accumulate);
	int rc;

	for (; bin != NULL && bins > 0; bins--) {
		rc = bin_write(merge, bin, result, err);
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
