// SPDX-License-Identifier: GPL-2.0-only
/* Rows of whole epochs: their description, and all data that is not stored by slice. */
#include "ship/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "lib/cleanup.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

/* The first byte of the keys of descriptions. */
enum description {
	DESCRIPTION_EPOCH = 'e',
	DESCRIPTION_EVENTS = 'v',
	DESCRIPTION_LABELS = 'l',
	DESCRIPTION_PROCESSES = 'p',
};

/*
 * Numbers that grow until the epoch ends are not a part of its description: their rows are sent
 * when it begins, and when it has ended.
 */
static bool is_growing(const struct batch_builder *batch)
{
	const struct clickhouse *ch = batch->data;

	return ch->target == &ch->scratch && batch->epoch->open;
}

static int epoch_row(struct batch_builder *batch)
{
	const struct profile_epoch *epoch = batch->epoch;
	struct clickhouse *ch = batch->data;
	bool growing = is_growing(batch);

	rows_put_epoch(batch);
	rows_put_text(ch, epoch->host);
	rows_put_i64(ch, epoch->start_ns);
	rows_put_i64(ch, growing ? 0 : epoch->end_ns);
	rows_put_u8(ch, epoch->open != 0);
	rows_put_text(ch, epoch->cpu_model);
	rows_put_u32(ch, epoch->cpus);
	rows_put_text(ch, epoch->kernel);
	rows_put_text(ch, epoch->source);
	rows_put_text(ch, epoch->source_reason);
	rows_put_text(ch, epoch->label);
	rows_put_u64(ch, growing ? 0 : epoch->interrupts);
	rows_put_u64(ch, ch->version);
	return rows_end(batch, CLICKHOUSE_EPOCHS, 0);
}

static int event_row(void *context, const struct profile_event *event)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	bool growing = is_growing(batch);

	rows_put_epoch(batch);
	rows_put_u32(ch, event->number);
	rows_put_text(ch, event->name);
	rows_put_text(ch, event->unit);
	rows_put_u64(ch, event->period_min);
	rows_put_u64(ch, event->period_max);
	rows_put_u64(ch, growing ? 0 : event->enabled_ns);
	rows_put_u64(ch, growing ? 0 : event->running_ns);
	rows_put_u64(ch, ch->version);
	return rows_end(batch, CLICKHOUSE_EVENTS, 0);
}

static int event_rows(struct batch_builder *batch)
{
	return profile_reader_events(batch->reader, batch->epoch->id, event_row, batch, batch->err);
}

static int label_row(void *context, const struct profile_label *label)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;

	rows_put_epoch(batch);
	rows_put_u32(ch, label->number);
	rows_put_text(ch, label->unit);
	rows_put_text(ch, label->container);
	return rows_end(batch, CLICKHOUSE_LABELS, 0);
}

static int label_rows(struct batch_builder *batch)
{
	return batch->config->units ? profile_reader_labels(batch->reader, batch->epoch->id,
							    label_row, batch, batch->err)
				    : 0;
}

/* Return: 1: the row of a process is in no batch, or has changed since; 0: it has not; or an error.
 */
static int process_changed(struct batch_builder *batch, const struct profile_process *process)
{
	struct clickhouse *ch = batch->data;
	size_t length = strlen(process->command);
	uint64_t *known = u64_map_insert(&ch->processes, (uint64_t)process->pid), digest[2];
	_cleanup_free_ char *text = malloc(sizeof(process->label) + length);

	if (known == NULL || text == NULL)
		return rows_no_memory(batch);
	memcpy(text, &process->label, sizeof(process->label));
	memcpy(text + sizeof(process->label), process->command, length);
	ship_id_digest((uint8_t *)digest, text, sizeof(process->label) + length);
	/* 0 is a new entry. */
	digest[0] |= 1;
	if (*known == digest[0])
		return 0;
	*known = digest[0];
	return 1;
}

static int process_row(void *context, const struct profile_process *process)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	int r = ch->target == &ch->scratch ? 1 : process_changed(batch, process);

	if (r <= 0)
		return r;
	rows_put_epoch(batch);
	rows_put_i64(ch, process->pid);
	rows_put_text(ch, process->command);
	rows_put_u32(ch, process->label);
	rows_put_u64(ch, ch->version);
	return rows_end(batch, CLICKHOUSE_PROCESSES, 0);
}

static int process_rows(struct batch_builder *batch)
{
	return batch->config->commands ? profile_reader_processes(batch->reader, batch->epoch->id,
								  process_row, batch, batch->err)
				       : 0;
}

/* Add rows that describe the epoch, unless the destination has the same ones. */
static int epoch_describe(struct batch_builder *batch, enum description what,
			  enum clickhouse_table table, int (*rows)(struct batch_builder *batch))
{
	struct clickhouse *ch = batch->data;
	uint8_t key[1 + 16] = {(uint8_t)what}, digest[16];
	int r;

	memcpy(key + 1, batch->known->uuid, 16);
	row_buffer_clear(&ch->scratch);
	ch->target = &ch->scratch;
	ch->version = 0;
	r = rows(batch);
	if (r == 0 && ch->scratch.failed)
		r = rows_no_memory(batch);
	ship_id_digest(digest, ch->scratch.data, ch->scratch.bytes);
	ch->version = (uint64_t)batch->number;
	if (r == 0)
		r = ship_state_describe(batch->state, key, sizeof(key), digest, batch->err);
	if (r <= 0)
		return r;
	rows_begin(batch, table);
	return rows(batch);
}

int rows_epoch_begin(struct batch_builder *batch)
{
	int r = epoch_describe(batch, DESCRIPTION_EPOCH, CLICKHOUSE_EPOCHS, epoch_row);

	if (r == 0)
		r = epoch_describe(batch, DESCRIPTION_EVENTS, CLICKHOUSE_EVENTS, event_rows);
	if (r == 0)
		r = epoch_describe(batch, DESCRIPTION_LABELS, CLICKHOUSE_LABELS, label_rows);
	if (r == 0)
		r = epoch_describe(batch, DESCRIPTION_PROCESSES, CLICKHOUSE_PROCESSES,
				   process_rows);
	return r;
}

static int edge_rows(void *context, const struct profile_edges *edges)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	const uint8_t *from = NULL, *to = NULL;
	uint8_t from_uuid[16];
	int r = rows_image(batch, edges->image, &from);

	if (r == 0) {
		/* The list of ids may move. */
		memcpy(from_uuid, from, 16);
		r = rows_image(batch, edges->to_image, &to);
	}
	rows_begin(batch, CLICKHOUSE_EDGES);
	for (size_t i = 0; r == 0 && i < edges->count; i++) {
		rows_put_epoch(batch);
		row_buffer_uuid(ch->target, from_uuid);
		row_buffer_uuid(ch->target, to);
		rows_put_u8(ch, (uint64_t)edges->kind);
		rows_put_u64(ch, edges->edges[i].from);
		rows_put_u64(ch, edges->edges[i].to);
		rows_put_u64(ch, edges->edges[i].count);
		r = rows_end(batch, CLICKHOUSE_EDGES, edges->edges[i].count);
	}
	return r;
}

static int execution_rows(void *context, const struct profile_counts *counts)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	const uint8_t *image = NULL;
	int r = rows_image(batch, counts->image, &image);

	rows_begin(batch, CLICKHOUSE_EXECUTIONS);
	for (size_t i = 0; r == 0 && i < counts->count; i++) {
		rows_put_epoch(batch);
		row_buffer_uuid(ch->target, image);
		rows_put_u8(ch, (uint64_t)counts->kind);
		rows_put_u64(ch, counts->counts[i].from);
		rows_put_u64(ch, counts->counts[i].to);
		rows_put_u64(ch, counts->counts[i].count);
		r = rows_end(batch, CLICKHOUSE_EXECUTIONS, counts->counts[i].count);
	}
	return r;
}

static int stack_rows(void *context, const struct profile_recording *recording)
{
	struct batch_builder *batch = context;
	struct clickhouse *ch = batch->data;
	const struct profile_recording_table *nodes;
	const uint8_t *image = NULL;
	int r;

	if (!profile_recording_has(recording, PROFILE_STACKS_NODES, PROFILE_STACK_COLUMNS))
		return 0;
	nodes = &recording->tables[PROFILE_STACKS_NODES];
	r = rows_image(batch, recording->image, &image);
	rows_begin(batch, CLICKHOUSE_STACKS);
	for (size_t i = 0; r == 0 && i < nodes->rows; i++) {
		const uint64_t *row = profile_recording_row(nodes, i);

		rows_put_epoch(batch);
		rows_put_u64(ch, row[PROFILE_STACK_NODE]);
		rows_put_u64(ch, row[PROFILE_STACK_PARENT]);
		row_buffer_uuid(ch->target, image);
		rows_put_u64(ch, row[PROFILE_STACK_OFFSET]);
		rows_put_u64(ch, row[PROFILE_STACK_STACKS]);
		r = rows_end(batch, CLICKHOUSE_STACKS, row[PROFILE_STACK_STACKS]);
	}
	return r;
}

/* JIT code has new procedures until the epoch ends. */
static int jit_rows(void *context, const struct profile *profile)
{
	struct batch_builder *batch = context;
	struct profile_image image;
	struct image_id id;
	int r = profile_reader_image(batch->reader, profile->image, &image, batch->err);

	if (r < 0 || image.kind != PROFILE_IMAGE_JIT)
		return r;
	ship_id_image(id.uuid, &image, batch->known->host);
	return rows_procedures(batch, profile->image, &id);
}

int rows_epoch_rest(struct batch_builder *batch)
{
	const struct profile_filter filter = {.epochs = &batch->epoch->id, .epoch_count = 1};
	struct profile_reader *reader = batch->reader;
	struct error *err = batch->err;
	int r = profile_reader_edges(reader, &filter, edge_rows, batch, err);

	if (r == 0)
		r = profile_reader_counts(reader, &filter, execution_rows, batch, err);
	if (r == 0 && batch->config->stacks)
		r = profile_reader_recordings(reader, &filter, PROFILE_RECORDING_STACKS, stack_rows,
					      batch, err);
	if (r == 0)
		r = profile_reader_totals(reader, &filter, jit_rows, batch, err);
	return r;
}
