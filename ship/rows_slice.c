// SPDX-License-Identifier: GPL-2.0-only
/* Rows of slices. */
#include "ship/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/ship_config.h"

static int slice_note(struct batch_builder *batch, struct slice_list *list,
		      const struct profile_slice *slice)
{
	if (array_reserve(&list->list, &list->capacity, list->count + 1, sizeof(*slice)) < 0)
		return rows_no_memory(batch);
	list->list[list->count++] = *slice;
	return 0;
}

static int loss_row(struct batch_builder *batch, const char *name, uint64_t count)
{
	struct clickhouse *ch = batch->data;

	if (__builtin_add_overflow(ch->lost, count, &ch->lost))
		return error_set(batch->err, EBADMSG, ERROR_DATABASE_COUNTS);
	rows_begin(batch, CLICKHOUSE_LOSSES);
	rows_put_slice(batch, ch->slice);
	rows_put_text(ch, name);
	rows_put_u64(ch, count);
	return rows_end(batch, CLICKHOUSE_LOSSES, count);
}

static int counter_row(void *context, const struct profile_counter *counter)
{
	return strcmp(counter->group, "loss") == 0 && counter->count > 0
		       ? loss_row(context, counter->name, counter->count)
		       : 0;
}

static int profile_rows(void *context, const struct profile *profile)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	const uint32_t label = profile_label_of_pid(profile->pid);
	const uint8_t *image = NULL;
	int r = rows_image(batch, profile->image, &image);

	if (r == 0 && __builtin_add_overflow(ch->samples, profile->total, &ch->samples))
		r = error_set(batch->err, EBADMSG, ERROR_DATABASE_COUNTS);
	return r == 0 ? rows_samples(batch, profile, image,
				     label > 0 ? PROFILE_PID_ALL : profile->pid, label)
		      : r;
}

static int share_row(void *context, const struct profile_share *share)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	const uint8_t *image = NULL;
	int r = rows_image(batch, share->image, &image);

	if (r < 0)
		return r;
	rows_begin(batch, CLICKHOUSE_SHARES);
	rows_put_slice(batch, ch->slice);
	row_buffer_uuid(ch->target, image);
	rows_put_u32(ch, share->event);
	rows_put_u32(ch, share->label);
	rows_put_u64(ch, share->samples);
	return rows_end(batch, CLICKHOUSE_SHARES, share->samples);
}

/* Version 2 of a slice: another one has replaced it. */
static int slice_row(struct batch_builder *batch, const struct profile_slice *slice, bool live)
{
	struct clickhouse *ch = batch->data;
	uint64_t version = live ? 1 : 2;
	int r = slice_note(batch, &ch->changed, slice);

	if (r == 0 && live)
		r = slice_note(batch, &ch->slices, slice);
	if (r < 0)
		return r;
	rows_begin(batch, CLICKHOUSE_SLICES);
	rows_put_slice(batch, slice);
	rows_put_u64(ch, slice->interrupts);
	rows_put_u64(ch, live ? ch->samples : 0);
	rows_put_u64(ch, live ? ch->lost : 0);
	rows_put_u8(ch, live);
	rows_put_u8(ch, version);
	return rows_end(batch, CLICKHOUSE_SLICES, version);
}

static void slice_begin(struct clickhouse *ch, const struct profile_slice *slice)
{
	ch->slice = slice;
	ch->samples = 0;
	ch->lost = 0;
}

int rows_slice(struct batch_builder *batch, const struct profile_epoch *part,
	       const struct profile_slice *slice)
{
	const struct profile_filter filter = {
		.epochs = &part->id,
		.epoch_count = 1,
		.since_ns = part->since_ns,
		.until_ns = part->until_ns,
	};
	struct clickhouse *ch = batch->data;
	int r;

	slice_begin(ch, slice);
	r = profile_reader_counters(batch->reader, part, counter_row, batch, batch->err);
	if (r == 0)
		r = profile_reader_profiles(batch->reader, &filter, profile_rows, batch,
					    batch->err);
	if (r == 0 && batch->config->units)
		r = profile_reader_shares(batch->reader, &filter, share_row, batch, batch->err);
	if (r == 0)
		r = protocol_check_slice(batch, part, slice, ch->samples + ch->lost);
	return r == 0 ? slice_row(batch, slice, true) : r;
}

int rows_slice_lost(struct batch_builder *batch, const struct profile_slice *slice,
		    const char *name)
{
	int r;

	slice_begin(batch->data, slice);
	r = loss_row(batch, name, slice->interrupts);
	return r == 0 ? slice_row(batch, slice, true) : r;
}

int rows_slice_replaced(struct batch_builder *batch, const struct profile_slice *slice)
{
	return slice_row(batch, slice, false);
}
