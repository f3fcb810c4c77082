// SPDX-License-Identifier: GPL-2.0-only
#include "ship/shipment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "db/ship_state.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/protocol.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

/* Slices in a batch. */
#define BATCH_SLICES 32

struct uuid {
	uint8_t bytes[SHIP_UUID_BYTES];
};

/*
 * struct part - a slice to be delivered
 * @pieces:   number of delivered slices that it replaces; @delivered: their interrupts
 * @loss:     NULL: its samples are in the database
 */
struct part {
	struct profile_slice slice;
	size_t pieces;
	uint64_t delivered;
	const char *loss;
};

/*
 * struct shipment - state from one batch to the next
 * @seen:    epochs of the database; @list: its slices of the current epoch
 * @damaged: slices that cannot be read
 * @known, @epoch: the current epoch
 * @parts:   of the batch
 */
struct shipment {
	const struct ship_config *config;
	const struct protocol *protocol;
	struct ship_state *state;
	struct http_client *client;
	void *data;
	struct uuid *seen;
	size_t seen_count, seen_capacity;
	struct profile_slice *list;
	size_t list_count, list_capacity;
	struct profile_slice *damaged;
	size_t damaged_count, damaged_capacity;
	struct profile_reader *reader;
	struct ship_epoch known;
	const struct profile_epoch *epoch;
	struct part parts[BATCH_SLICES];
	size_t part_count;
	struct http_response *response;
	struct error *err;
	int64_t end_ns;
};

CLEANUP_DEFINE(reader, struct profile_reader *, profile_reader_close)

int shipment_create(struct shipment **ret, const struct ship_config *config,
		    const struct protocol *protocol, struct ship_state *state,
		    struct http_client *client, struct error *err)
{
	struct shipment *shipment = calloc(1, sizeof(*shipment));
	int r;

	if (shipment == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	shipment->config = config;
	shipment->protocol = protocol;
	shipment->state = state;
	shipment->client = client;
	r = protocol->create(&shipment->data, config, err);
	if (r < 0) {
		free(shipment);
		return r;
	}
	*ret = shipment;
	return 0;
}

void shipment_destroy(struct shipment *shipment)
{
	if (shipment == NULL)
		return;
	shipment->protocol->destroy(shipment->data);
	free(shipment->seen);
	free(shipment->list);
	free(shipment->damaged);
	free(shipment);
}

int64_t shipment_end_ns(const struct shipment *shipment)
{
	return shipment->end_ns;
}

static int shipment_no_memory(struct shipment *shipment)
{
	return error_set(shipment->err, ENOMEM, ERROR_NO_MEMORY);
}

/* --- progress of an epoch ----------------------------------------------------- */

/* A slice that the destination has, although the state file does not know it. */
static int take_known(void *context, const struct profile_slice *slice)
{
	struct shipment *shipment = context;
	struct ship_epoch *known = &shipment->known;

	known->delivered += slice->interrupts;
	if (slice->end_ns > known->cursor_ns)
		known->cursor_ns = slice->end_ns;
	return ship_state_slice_add(shipment->state, known->uuid, slice, shipment->err);
}

/*
 * Begin to deliver an epoch. The destination has slices of it if this state file is a new one, as
 * after the loss of the old one.
 */
static int epoch_register(struct shipment *shipment)
{
	int r = ship_state_begin(shipment->state, shipment->err);

	if (r < 0)
		return r;
	r = ship_state_epoch_set(shipment->state, &shipment->known, shipment->err);
	if (r == 0 && shipment->protocol->known != NULL)
		r = shipment->protocol->known(shipment->client, shipment->config, &shipment->known,
					      take_known, shipment, shipment->response);
	if (r == 0)
		r = ship_state_epoch_set(shipment->state, &shipment->known, shipment->err);
	return ship_state_settle(shipment->state, r, shipment->err);
}

/* Read the progress of an epoch. */
static int epoch_find(struct shipment *shipment, const struct profile_epoch *epoch)
{
	struct ship_epoch *known = &shipment->known;
	int r;

	shipment->epoch = epoch;
	*known = (struct ship_epoch){.start_ns = epoch->start_ns, .cursor_ns = epoch->start_ns};
	ship_id_epoch(known->uuid, epoch);
	ship_id_host(known->host, epoch);
	if (array_reserve(&shipment->seen, &shipment->seen_capacity, shipment->seen_count + 1,
			  sizeof(*shipment->seen)) < 0)
		return shipment_no_memory(shipment);
	memcpy(shipment->seen[shipment->seen_count++].bytes, known->uuid, SHIP_UUID_BYTES);
	r = ship_state_epoch(shipment->state, known, shipment->err);
	known->end_ns = epoch->end_ns;
	known->interrupts = epoch->interrupts;
	if (r == 0)
		r = epoch_register(shipment);
	return r < 0 ? r : 0;
}

/* --- what to deliver ---------------------------------------------------------- */

static int take_slice(void *context, const struct profile_slice *slice)
{
	struct shipment *shipment = context;

	if (array_reserve(&shipment->list, &shipment->list_capacity, shipment->list_count + 1,
			  sizeof(*shipment->list)) < 0)
		return shipment_no_memory(shipment);
	shipment->list[shipment->list_count++] = *slice;
	return 0;
}

static int add_piece(void *context, const struct profile_slice *piece)
{
	struct part *part = context;

	part->pieces++;
	part->delivered += piece->interrupts;
	return 0;
}

static int find_pending(void *context, const struct profile_counter *counter)
{
	(void)context;
	return strcmp(counter->group, "loss") == 0 && strcmp(counter->name, "pending") == 0 &&
	       counter->count > 0;
}

static int part_pending(void *context, const struct profile_epoch *part)
{
	struct shipment *shipment = context;

	return profile_reader_counters(shipment->reader, part, find_pending, NULL, shipment->err);
}

/* The filter that selects one slice of the current epoch, or all of it if it has no slices. */
static struct profile_filter slice_filter(const struct shipment *shipment,
					  const struct profile_slice *slice)
{
	struct profile_filter filter = {.epochs = &shipment->epoch->id, .epoch_count = 1};

	if (shipment->list_count > 0) {
		filter.since_ns = slice->start_ns;
		filter.until_ns = slice->start_ns + 1;
	}
	return filter;
}

/* Return: 1: the daemon will no longer change the slice; 0; or an error. */
static int slice_complete(struct shipment *shipment, size_t index)
{
	const struct profile_filter filter = slice_filter(shipment, &shipment->list[index]);
	int r;

	if (!shipment->epoch->open)
		return 1;
	if (index + 1 == shipment->list_count)
		return 0;
	r = profile_reader_epochs(shipment->reader, &filter, part_pending, shipment, shipment->err);
	return r < 0 ? r : r == 0;
}

static bool is_damaged(const struct shipment *shipment, const struct profile_slice *slice)
{
	for (size_t i = 0; i < shipment->damaged_count; i++) {
		if (shipment->damaged[i].start_ns == slice->start_ns &&
		    shipment->damaged[i].end_ns == slice->end_ns)
			return true;
	}
	return false;
}

static void part_add(struct shipment *shipment, const struct part *part)
{
	shipment->parts[shipment->part_count] = *part;
	if (is_damaged(shipment, &part->slice))
		shipment->parts[shipment->part_count].loss = "damaged";
	shipment->part_count++;
}

/*
 * Find the slices to deliver.
 *
 * Return: 1: all slices of the epoch are delivered after this batch; 0: not all; or an error.
 */
static int plan_slices(struct shipment *shipment)
{
	for (size_t i = 0; i < shipment->list_count; i++) {
		struct part part = {.slice = shipment->list[i]};
		int r;

		if (part.slice.end_ns <= shipment->known.cursor_ns &&
		    part.slice.start_ns < shipment->known.cursor_ns)
			continue;
		if (shipment->part_count == BATCH_SLICES)
			return 0;
		r = slice_complete(shipment, i);
		if (r <= 0)
			return r;
		r = ship_state_slices(shipment->state, shipment->known.uuid, &part.slice, add_piece,
				      &part, shipment->err);
		if (r < 0)
			return r;
		if (part.delivered != part.slice.interrupts)
			part_add(shipment, &part);
	}
	return !shipment->epoch->open;
}

/* An epoch without slices is delivered as one; if it had slices before, it is being deleted. */
static int plan_whole(struct shipment *shipment)
{
	const struct ship_epoch *known = &shipment->known;
	struct part part = {.slice = {known->start_ns, known->end_ns, known->interrupts}};

	if (shipment->epoch->open)
		return 0;
	if (known->delivered > 0) {
		part.slice.start_ns = known->cursor_ns;
		part.slice.interrupts = known->interrupts > known->delivered
						? known->interrupts - known->delivered
						: 0;
		part.loss = "expired";
	}
	if (part.slice.interrupts > 0)
		part_add(shipment, &part);
	return 1;
}

/* --- batches ------------------------------------------------------------------ */

/* struct replacing - the visit of slices that a merged slice replaces */
struct replacing {
	struct shipment *shipment;
	struct batch_builder *batch;
	struct profile_slice *list;
	size_t count, capacity;
};

static int take_piece(void *context, const struct profile_slice *piece)
{
	struct replacing *replacing = context;

	if (array_reserve(&replacing->list, &replacing->capacity, replacing->count + 1,
			  sizeof(*piece)) < 0)
		return shipment_no_memory(replacing->shipment);
	replacing->list[replacing->count++] = *piece;
	return 0;
}

static int part_replace(struct shipment *shipment, struct batch_builder *batch,
			const struct part *part)
{
	struct replacing replacing = {.shipment = shipment, .batch = batch};
	int r = ship_state_slices(shipment->state, shipment->known.uuid, &part->slice, take_piece,
				  &replacing, shipment->err);

	for (size_t i = 0; r == 0 && i < replacing.count; i++) {
		if (shipment->protocol->replace != NULL)
			r = shipment->protocol->replace(batch, &replacing.list[i]);
		if (r == 0)
			r = ship_state_slice_drop(shipment->state, shipment->known.uuid,
						  &replacing.list[i], shipment->err);
	}
	free(replacing.list);
	return r;
}

/* struct delivering - the visit of the part of an epoch that is a slice */
struct delivering {
	struct shipment *shipment;
	struct batch_builder *batch;
	const struct part *part;
	bool found;
};

static int part_samples(void *context, const struct profile_epoch *epoch)
{
	struct delivering *delivering = context;
	struct shipment *shipment = delivering->shipment;
	const struct profile_slice *slice = &delivering->part->slice;
	int r = shipment->protocol->slice(delivering->batch, epoch, slice);

	delivering->found = true;
	if (r == -EBADMSG) {
		/* In the next batch, the slice is a loss. */
		if (array_reserve(&shipment->damaged, &shipment->damaged_capacity,
				  shipment->damaged_count + 1, sizeof(*slice)) < 0)
			return shipment_no_memory(shipment);
		shipment->damaged[shipment->damaged_count++] = *slice;
		return -ESTALE;
	}
	return r;
}

/* Add the samples of a slice in the database. */
static int part_read(struct shipment *shipment, struct batch_builder *batch,
		     const struct part *part)
{
	struct delivering delivering = {.shipment = shipment, .batch = batch, .part = part};
	const struct profile_filter filter = slice_filter(shipment, &part->slice);
	int r = profile_reader_epochs(shipment->reader, &filter, part_samples, &delivering,
				      shipment->err);

	return r == 0 && !delivering.found
		       ? error_set(shipment->err, EBADMSG, ERROR_DATABASE_COUNTS)
		       : r;
}

static int part_deliver(struct shipment *shipment, struct batch_builder *batch,
			const struct part *part)
{
	struct ship_epoch *known = &shipment->known;
	struct profile_slice rest = part->slice;
	const char *loss = part->loss;
	int r = part->pieces > 0 ? part_replace(shipment, batch, part) : 0;

	if (part->pieces > 0 && shipment->protocol->replace == NULL) {
		/* Samples of the other parts are not known any more. */
		loss = loss != NULL ? loss : "merged";
		rest.interrupts -=
			part->delivered < rest.interrupts ? part->delivered : rest.interrupts;
	}
	if (r == 0)
		r = loss != NULL ? shipment->protocol->lost(batch, &rest, loss)
				 : part_read(shipment, batch, part);
	if (r < 0)
		return r;
	known->delivered += part->slice.interrupts - part->delivered;
	if (part->slice.end_ns > known->cursor_ns)
		known->cursor_ns = part->slice.end_ns;
	return ship_state_slice_add(shipment->state, known->uuid, &part->slice, shipment->err);
}

/* Fill a batch, in the open transaction of the state file. */
static int batch_fill(struct shipment *shipment, struct batch_builder *batch, bool finish)
{
	const struct protocol *protocol = shipment->protocol;
	uint64_t interrupts = 0;
	int r = ship_state_batch_begin(shipment->state, &batch->number, shipment->err);

	if (r == 0)
		r = protocol->begin(batch);
	for (size_t i = 0; r == 0 && i < shipment->part_count; i++) {
		r = part_deliver(shipment, batch, &shipment->parts[i]);
		interrupts += shipment->parts[i].slice.interrupts - shipment->parts[i].delivered;
	}
	if (r == 0 && finish && shipment->epoch != NULL)
		r = protocol->rest(batch);
	if (r == 0)
		r = protocol->end(batch);
	if (r == 0)
		r = ship_state_batch_end(shipment->state, batch->number, interrupts, shipment->err);
	shipment->known.finished = finish;
	if (r == 0 && shipment->epoch != NULL)
		r = ship_state_epoch_set(shipment->state, &shipment->known, shipment->err);
	if (r == 0 && shipment->epoch == NULL)
		r = ship_state_epoch_drop(shipment->state, shipment->known.uuid, shipment->err);
	return r;
}

/* Make a batch of the planned slices. Return: 1, or an error. */
static int batch_make(struct shipment *shipment, bool finish)
{
	struct batch_builder batch = {
		.config = shipment->config,
		.state = shipment->state,
		.reader = shipment->reader,
		.epoch = shipment->epoch,
		.known = &shipment->known,
		.data = shipment->data,
		.err = shipment->err,
	};
	int r = ship_state_begin(shipment->state, shipment->err);

	if (r < 0)
		return r;
	r = batch_fill(shipment, &batch, finish);
	/* Damage: the transaction is rolled back, and the caller tries again. */
	r = ship_state_settle(shipment->state, r, shipment->err);
	if (r == 0 && shipment->known.cursor_ns > shipment->end_ns)
		shipment->end_ns = shipment->known.cursor_ns;
	return r < 0 ? r : 1;
}

static int visit_epoch(void *context, const struct profile_epoch *epoch)
{
	struct shipment *shipment = context;
	int finish, r = epoch_find(shipment, epoch);

	if (r < 0 || shipment->known.finished)
		return r;
	shipment->list_count = 0;
	shipment->part_count = 0;
	r = profile_reader_slices(shipment->reader, epoch->id, take_slice, shipment, shipment->err);
	if (r < 0)
		return r;
	finish = shipment->list_count > 0 ? plan_slices(shipment) : plan_whole(shipment);
	if (finish < 0 || (finish == 0 && shipment->part_count == 0))
		return finish;
	return batch_make(shipment, finish);
}

/* An epoch in the state file: deliver deleted samples as a loss, and forget the epoch. */
static int visit_known(void *context, const struct ship_epoch *known)
{
	struct shipment *shipment = context;

	for (size_t i = 0; i < shipment->seen_count; i++) {
		if (memcmp(shipment->seen[i].bytes, known->uuid, SHIP_UUID_BYTES) == 0)
			return 0;
	}
	shipment->known = *known;
	return 1;
}

static int gone_deliver(struct shipment *shipment)
{
	int r = ship_state_epochs(shipment->state, visit_known, shipment, shipment->err);
	const struct ship_epoch *known = &shipment->known;
	const struct part part = {
		.slice = {known->cursor_ns, known->end_ns, known->interrupts - known->delivered},
		.loss = "expired",
	};

	if (r <= 0)
		return r;
	shipment->epoch = NULL;
	shipment->part_count = 0;
	if (known->finished || known->interrupts <= known->delivered) {
		r = ship_state_epoch_drop(shipment->state, known->uuid, shipment->err);
		return r < 0 ? r : 1;
	}
	part_add(shipment, &part);
	return batch_make(shipment, true);
}

int shipment_prepare(struct shipment *shipment, struct http_response *response, struct error *err)
{
	_cleanup_(cleanup_reader) struct profile_reader *reader = NULL;
	int r;

	shipment->response = response;
	shipment->err = err;
	do {
		cleanup_reader(&reader);
		reader = NULL;
		shipment->seen_count = 0;
		r = profile_reader_open(&reader, shipment->config->db, err);
		if (r == 0)
			r = profile_reader_snapshot(reader, err);
		if (r < 0)
			return r;
		shipment->reader = reader;
		r = profile_reader_epochs(reader, NULL, visit_epoch, shipment, err);
	} while (r == -ESTALE);
	return r == 0 ? gone_deliver(shipment) : r;
}
