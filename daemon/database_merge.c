// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/database_merge.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/base/log.h"
#include "db/profile_merge.h"
#include "db/profile_read.h"
#include "db/profile_write.h"

static void note_epoch(void *context, const struct profile_epoch *epoch,
		       enum profile_merge_result result)
{
	const char *file = context;

	if (result == PROFILE_MERGE_OPEN)
		log_info("'%s': epoch %" PRId64 " of host '%s' is still open: skipped", file,
			 epoch->id, epoch->host);
	if (result == PROFILE_MERGE_DIFFERS)
		log_info("'%s': epoch %" PRId64
			 " of host '%s' exists with another end or other interrupts: skipped",
			 file, epoch->id, epoch->host);
}

static int check_file(const char *file, struct error *err)
{
	struct profile_reader *reader = NULL;
	int r = profile_reader_open(&reader, file, err);

	profile_reader_close(reader);
	return r;
}

static void print_counts(const char *name, const struct profile_merge_counts *counts)
{
	printf("%s: %zu epochs merged, %zu skipped (%zu known, %zu open), %zu new images\n", name,
	       counts->epochs[PROFILE_MERGE_DONE],
	       counts->epochs[PROFILE_MERGE_KNOWN] + counts->epochs[PROFILE_MERGE_DIFFERS] +
		       counts->epochs[PROFILE_MERGE_OPEN],
	       counts->epochs[PROFILE_MERGE_KNOWN] + counts->epochs[PROFILE_MERGE_DIFFERS],
	       counts->epochs[PROFILE_MERGE_OPEN], counts->images);
	fflush(stdout);
}

static int merge_file(struct profile_writer *writer, char *file, struct profile_merge_counts *sum,
		      struct error *err)
{
	struct profile_merge_counts counts = {0};
	struct profile_reader *reader = NULL;
	size_t i;
	int r;

	r = profile_reader_open(&reader, file, err);
	if (r < 0)
		return r;
	r = profile_merge(writer, reader, note_epoch, file, &counts, err);
	profile_reader_close(reader);
	print_counts(file, &counts);
	for (i = 0; i < PROFILE_MERGE_RESULTS; i++)
		sum->epochs[i] += counts.epochs[i];
	sum->images += counts.images;
	return r;
}

int database_merge(const char *out, char *const *files, size_t count, struct error *err)
{
	struct profile_merge_counts sum = {0};
	struct profile_writer *writer = NULL;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < count; i++)
		r = check_file(files[i], err);
	if (r == 0)
		r = profile_writer_open(&writer, out, err);
	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < count; i++)
		r = merge_file(writer, files[i], &sum, err);
	profile_writer_close(writer);
	if (r == 0)
		print_counts("total", &sum);
	return r;
}
