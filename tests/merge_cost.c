// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a merge for cli_merge_cost.sh, which counts its instructions. The merge adds SAMPLES samples
 * to each of CHANGED images, in a database of IMAGES images with ENTRIES offsets each.
 *
 * merge_cost DB IMAGES ENTRIES CHANGED SAMPLES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_write.h"
#include "lib/error.h"

#define SPACING 12 /* average bytes between two offsets */

static uint64_t state = 1;

static uint64_t draw(uint64_t n)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % n;
}

static void check(int rc, const struct error *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "merge_cost: %s\n", err->message);
	exit(2);
}

/* Add samples at @count offsets, chosen among the first @among offsets of an image. */
static void image_add(struct profile_writer *writer, unsigned int number, size_t count,
		      size_t among)
{
	struct profile_sample *samples = calloc(count, sizeof(*samples));
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.identity_kind = PROFILE_IDENTITY_BUILD_ID,
		.identity_bytes = 20,
	};
	uint64_t offset = 0;
	struct error err;
	char path[64];
	int64_t id;
	size_t i;

	if (samples == NULL)
		abort();
	for (i = 0; i < count; i++) {
		offset += 4 * (1 + draw(2 * SPACING / 4 * among / count - 1));
		samples[i] = (struct profile_sample){.offset = offset, .count = 1 + draw(20)};
	}
	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/libexample-%u.so.1", number);
	memcpy(image.identity, &number, sizeof(number));
	image.path = path;
	check(profile_writer_image(writer, &image, &id, &err), &err);
	check(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, samples, count, &err), &err);
	free(samples);
}

/* The merge to be measured. The changed images are spread over all images. */
static __attribute__((noinline)) void merge_counted(struct profile_writer *writer,
						    unsigned int images, size_t entries,
						    unsigned int changed, size_t samples)
{
	struct error err;
	unsigned int i;

	check(profile_writer_begin(writer, &err), &err);
	for (i = 0; i < changed; i++)
		image_add(writer, i * (images / changed), samples, entries);
	check(profile_writer_commit(writer, &err), &err);
}

static void fill(struct profile_writer *writer, unsigned int images, size_t entries)
{
	struct error err;
	unsigned int i;

	check(profile_writer_begin(writer, &err), &err);
	for (i = 0; i < images; i++)
		image_add(writer, i, entries, entries);
	check(profile_writer_commit(writer, &err), &err);
}

int main(int argc, char **argv)
{
	static const struct profile_epoch epoch = {
		.start_ns = 1,
		.host = "h",
		.machine_id = "",
		.cpu_model = "",
		.kernel = "",
		.source = "",
		.source_reason = "",
		.label = "",
	};
	static const struct profile_event event = {.name = "cycles", .unit = "cycles"};
	unsigned long numbers[4] = {0}; /* images, entries, changed, samples */
	struct profile_writer *writer;
	struct error err;
	int i;

	for (i = 0; i < 4 && argc == 6; i++)
		numbers[i] = strtoul(argv[2 + i], NULL, 10);
	if (numbers[3] == 0 || numbers[2] == 0 || numbers[0] < numbers[2] ||
	    numbers[1] < numbers[3]) {
		fprintf(stderr, "usage: merge_cost DB IMAGES ENTRIES CHANGED SAMPLES\n");
		return 2;
	}
	check(profile_writer_open(&writer, argv[1], &err), &err);
	check(profile_writer_epoch_begin(writer, &epoch, &event, 1, &err), &err);
	fill(writer, (unsigned int)numbers[0], numbers[1]);
	/* The first merge after that many additions has pages to write back. */
	merge_counted(writer, (unsigned int)numbers[0], numbers[1], (unsigned int)numbers[2],
		      numbers[3]);
	profile_writer_close(writer);
	return 0;
}
