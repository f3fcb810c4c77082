// SPDX-License-Identifier: GPL-2.0-only
#include "db/profile_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_reader.h"
#include "db/profile_writer.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * A merge in progress. Profiles, shares, edges, counts and recordings are ordered by image, so that
 * one number in the source and one in the target need to be cached.
 */
struct merge {
	struct profile_writer *writer;
	struct profile_reader *reader;
	profile_merge_fn visit;
	void *context;
	struct profile_merge_counts *counts;
	struct error *err;
	const struct profile_epoch *epoch;
	int64_t from_image;
	int64_t to_image;
	size_t images;
	int64_t slice;	    /* in the target; 0: rows of the epoch are copied */
	uint64_t accounted; /* samples and losses of the epoch or slice */
};

static int account(struct merge *merge, uint64_t count)
{
	if (__builtin_add_overflow(merge->accounted, count, &merge->accounted))
		return error_set(merge->err, EOVERFLOW, "epoch %" PRId64 ": too many samples",
				 merge->epoch->id);
	return 0;
}

/* Each host may have seen different procedures of code generated at run time. */
static int copy_symbols(struct merge *merge, const struct profile_image *image, int64_t from,
			int64_t to)
{
	bool grows = image->kind == PROFILE_IMAGE_JIT;
	struct profile_symbols symbols;
	int r;

	if (!grows && profile_writer_has_symbols(merge->writer, to))
		return 0;
	r = profile_reader_symbols(merge->reader, from, &symbols, merge->err);
	if (r < 0)
		return r;
	if (symbols.count > 0)
		r = (grows ? profile_writer_symbols_add : profile_writer_symbols)(
			merge->writer, to, symbols.symbols, symbols.count, merge->err);
	profile_symbols_deinit(&symbols);
	return r;
}

struct code_list {
	struct profile_code *codes;
	size_t count;
	size_t capacity;
};

static int code_take(void *context, const struct profile_code *code)
{
	struct code_list *list = context;
	uint8_t *data = malloc(code->bytes);

	if (data == NULL || array_reserve(&list->codes, &list->capacity, list->count + 1,
					  sizeof(list->codes[0])) < 0) {
		free(data);
		return -ENOMEM;
	}
	memcpy(data, code->data, code->bytes);
	list->codes[list->count] = *code;
	list->codes[list->count++].data = data;
	return 0;
}

static int copy_code(struct merge *merge, int64_t from, int64_t to)
{
	struct code_list list = {.count = 0};
	size_t i;
	int r = profile_reader_code(merge->reader, from, code_take, &list, merge->err);

	if (r == -ENOMEM)
		error_set(merge->err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = profile_writer_code(merge->writer, to, list.codes, list.count, merge->err);
	for (i = 0; i < list.count; i++)
		free((void *)(uintptr_t)list.codes[i].data);
	free(list.codes);
	return r;
}

static int map_image(struct merge *merge, int64_t from, int64_t *to)
{
	struct profile_image image;
	bool added = false;
	int r;

	if (merge->to_image != 0 && merge->from_image == from) {
		*to = merge->to_image;
		return 0;
	}
	r = profile_reader_image(merge->reader, from, &image, merge->err);
	if (r == -ENOENT)
		return database_corrupt(&merge->reader->db, merge->err,
					"image %" PRId64 " does not exist", from);
	if (r == 0)
		r = profile_writer_image_keep(merge->writer, &image, to, &added, merge->err);
	if (r == 0)
		r = copy_symbols(merge, &image, from, *to);
	if (r == 0 && image.kind != PROFILE_IMAGE_FILE)
		r = copy_code(merge, from, *to);
	if (r < 0)
		return r;
	merge->images += added;
	merge->from_image = from;
	merge->to_image = *to;
	return 0;
}

static int copy_event(void *context, const struct profile_event *event)
{
	struct merge *merge = context;
	int r = profile_writer_event_add(merge->writer, event, merge->err);

	if (r == 0)
		r = profile_writer_event_time(merge->writer, event->number, event->enabled_ns,
					      event->running_ns, merge->err);
	return r;
}

static int copy_counter(void *context, const struct profile_counter *counter)
{
	struct merge *merge = context;
	int r = 0;

	if (strcmp(counter->group, "loss") == 0)
		r = account(merge, counter->count);
	if (r == 0 && merge->slice != 0)
		return strcmp(counter->group, "stat") == 0
			       ? 0
			       : profile_writer_slice_count(merge->writer, merge->slice,
							    counter->group, counter->name,
							    counter->count, merge->err);
	return r < 0 ? r
		     : profile_writer_totals(merge->writer, merge->epoch->end_ns,
					     merge->epoch->interrupts, counter, 1, merge->err);
}

static int copy_label(void *context, const struct profile_label *label)
{
	struct merge *merge = context;

	return profile_writer_label(merge->writer, label, merge->err);
}

static int copy_share(void *context, const struct profile_share *share)
{
	struct merge *merge = context;
	int64_t image = 0;
	int r = map_image(merge, share->image, &image);

	if (r == 0 && merge->slice != 0)
		return profile_writer_slice_share(merge->writer, merge->slice, image, share->event,
						  share->label, share->samples, merge->err);
	return r < 0 ? r
		     : profile_writer_share(merge->writer, image, share->event, share->label,
					    share->samples, merge->err);
}

static int copy_process(void *context, const struct profile_process *process)
{
	struct merge *merge = context;

	return profile_writer_process(merge->writer, process, merge->err);
}

static int copy_profile(void *context, const struct profile *profile)
{
	struct merge *merge = context;
	int64_t image = 0;
	int r = account(merge, profile->total);

	if (r == 0)
		r = map_image(merge, profile->image, &image);
	if (r == 0 && merge->slice != 0)
		return profile_writer_slice_add(merge->writer, merge->slice, image, profile->event,
						profile->pid, profile->samples, profile->count,
						merge->err);
	return r < 0 ? r
		     : profile_writer_add(merge->writer, image, profile->event, profile->pid,
					  profile->samples, profile->count, merge->err);
}

static int copy_edges(void *context, const struct profile_edges *edges)
{
	struct merge *merge = context;
	int64_t to_image = 0, image = 0;
	int r = map_image(merge, edges->to_image, &to_image);

	if (r == 0)
		r = map_image(merge, edges->image, &image);
	return r < 0 ? r
		     : profile_writer_edges(merge->writer, image, to_image, edges->kind,
					    edges->edges, edges->count, merge->err);
}

static int copy_counts(void *context, const struct profile_counts *counts)
{
	struct merge *merge = context;
	int64_t image = 0;
	int r = map_image(merge, counts->image, &image);

	return r < 0 ? r
		     : profile_writer_counts(merge->writer, image, counts->kind, counts->counts,
					     counts->count, merge->err);
}

static int copy_recording(void *context, const struct profile_recording *recording)
{
	struct merge *merge = context;
	int64_t image = 0;
	int r = map_image(merge, recording->image, &image);

	return r < 0 ? r : profile_writer_recording(merge->writer, image, recording, merge->err);
}

/* Copy the rows of one slice. If it is the only one of its epoch, they are those of the epoch. */
static int copy_slice(void *context, const struct profile_slice *slice)
{
	struct merge *merge = context;
	const struct profile_filter filter = {
		.epochs = &merge->epoch->id,
		.epoch_count = 1,
		.since_ns = slice->start_ns,
		.until_ns = slice->start_ns + 1,
	};
	struct profile_epoch epoch = *merge->epoch;
	struct error *err = merge->err;
	int r;

	merge->accounted = 0;
	r = profile_reader_clip(merge->reader, &filter, &epoch, err);
	if (r == 0)
		r = database_corrupt(&merge->reader->db, err, "a slice of epoch %" PRId64,
				     epoch.id);
	if (r > 0)
		r = profile_writer_slice(merge->writer, slice->start_ns, &merge->slice, err);
	if (r == 0)
		r = profile_reader_counters(merge->reader, &epoch, copy_counter, merge, err);
	if (r == 0)
		r = profile_reader_profiles(merge->reader, &filter, copy_profile, merge, err);
	if (r == 0)
		r = profile_reader_shares(merge->reader, &filter, copy_share, merge, err);
	if (r == 0 && merge->accounted != slice->interrupts)
		r = database_corrupt(&merge->reader->db, err,
				     "a slice of epoch %" PRId64 " has %" PRIu64
				     " interrupts, but %" PRIu64 " samples and losses",
				     epoch.id, slice->interrupts, merge->accounted);
	return r < 0 ? r
		     : profile_writer_slice_set(merge->writer, merge->slice, slice, NULL, 0, err);
}

static int copy_slices(struct merge *merge)
{
	int r = profile_reader_slices(merge->reader, merge->epoch->id, copy_slice, merge,
				      merge->err);

	merge->slice = 0;
	return r;
}

/* Copy all rows of an epoch in the open transaction. */
static int copy_rows(struct merge *merge)
{
	const struct profile_epoch *epoch = merge->epoch;
	const struct profile_filter filter = {.epochs = &epoch->id, .epoch_count = 1};
	struct error *err = merge->err;
	int r;

	merge->accounted = 0;
	merge->images = 0;
	merge->to_image = 0;
	r = profile_writer_epoch_add(merge->writer, epoch, err);
	if (r == 0)
		r = profile_writer_totals(merge->writer, epoch->end_ns, epoch->interrupts, NULL, 0,
					  err);
	if (r == 0)
		r = profile_reader_events(merge->reader, epoch->id, copy_event, merge, err);
	if (r == 0)
		r = profile_reader_counters(merge->reader, epoch, copy_counter, merge, err);
	if (r == 0)
		r = profile_reader_labels(merge->reader, epoch->id, copy_label, merge, err);
	if (r == 0)
		r = profile_reader_processes(merge->reader, epoch->id, copy_process, merge, err);
	if (r == 0)
		r = profile_reader_profiles(merge->reader, &filter, copy_profile, merge, err);
	if (r == 0)
		r = profile_reader_shares(merge->reader, &filter, copy_share, merge, err);
	if (r == 0)
		r = profile_reader_edges(merge->reader, &filter, copy_edges, merge, err);
	if (r == 0)
		r = profile_reader_counts(merge->reader, &filter, copy_counts, merge, err);
	if (r == 0)
		r = profile_reader_recordings(merge->reader, &filter, -1, copy_recording, merge,
					      err);
	if (r == 0 && merge->accounted != epoch->interrupts)
		r = database_corrupt(&merge->reader->db, err,
				     "epoch %" PRId64 " has %" PRIu64 " interrupts, but %" PRIu64
				     " samples and losses",
				     epoch->id, epoch->interrupts, merge->accounted);
	if (r == 0)
		r = copy_slices(merge);
	return r == 0 ? profile_writer_epoch_finish(merge->writer, epoch->end_ns, err) : r;
}

static int copy_epoch(struct merge *merge)
{
	int r = profile_writer_begin(merge->writer, merge->err);

	if (r < 0)
		return r;
	r = profile_writer_settle(merge->writer, copy_rows(merge), merge->err);
	profile_writer_epoch_forget(merge->writer);
	if (r == 0)
		merge->counts->images += merge->images;
	return r;
}

/* Return: 1 the target has the epoch, compared in @result; 0 it does not. */
static int find_epoch(struct merge *merge, enum profile_merge_result *result)
{
	const struct profile_epoch *epoch = merge->epoch;
	struct database *db = &merge->writer->db;
	sqlite3_stmt *statement;
	int r;

	r = profile_writer_statement(merge->writer, WRITER_EPOCH_FIND, &statement, merge->err);
	if (r == 0)
		r = database_bind(db, statement, merge->err, "itttii", epoch->start_ns, epoch->host,
				  epoch->machine_id, epoch->source, epoch->end_ns,
				  (int64_t)epoch->interrupts);
	if (r == 0)
		r = database_step(db, statement, "read", merge->err);
	if (r != 1)
		return r;
	*result = sqlite3_column_int(statement, 0) ? PROFILE_MERGE_KNOWN : PROFILE_MERGE_DIFFERS;
	sqlite3_reset(statement);
	return 1;
}

static int merge_epoch(void *context, const struct profile_epoch *epoch)
{
	enum profile_merge_result result = PROFILE_MERGE_OPEN;
	struct merge *merge = context;
	int r = 0;

	merge->epoch = epoch;
	if (!epoch->open) {
		r = find_epoch(merge, &result);
		if (r == 0) {
			result = PROFILE_MERGE_DONE;
			r = copy_epoch(merge);
		}
	}
	if (r < 0)
		return r;
	merge->counts->epochs[result]++;
	if (merge->visit != NULL)
		merge->visit(merge->context, epoch, result);
	return 0;
}

int profile_merge(struct profile_writer *writer, struct profile_reader *reader,
		  profile_merge_fn visit, void *context, struct profile_merge_counts *counts,
		  struct error *err)
{
	struct merge merge = {
		.writer = writer,
		.reader = reader,
		.visit = visit,
		.context = context,
		.counts = counts,
		.err = err,
	};
	int r;

	if (strcmp(writer->db.path, reader->db.path) == 0)
		return error_set(err, EINVAL, "'%s' cannot be merged into itself", reader->db.path);
	if (writer->epoch != 0)
		return error_set(err, EINVAL, "'%s': an epoch is open", writer->db.path);
	r = profile_reader_snapshot(reader, err);
	return r == 0 ? profile_reader_epochs(reader, NULL, merge_epoch, &merge, err) : r;
}
