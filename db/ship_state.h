/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of dcpiship for one destination: a SQLite file next to the profile database, which has
 * its progress and the requests that are not delivered.
 *
 * One transaction selects the data to deliver and stores its requests ("a batch"). Requests are
 * sent from the file only, so that each repetition has the same bytes. The profile database may
 * have changed in the meantime. A commit survives a power failure.
 *
 * Errors besides those named: -EIO, -ENOSPC, -EACCES, -ENOMEM, -EBADMSG: the file is damaged.
 */
#ifndef DCPI_SHIP_STATE_H
#define DCPI_SHIP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

struct error;
struct ship_state;

#define SHIP_UUID_BYTES 16
#define SHIP_DIGEST_BYTES 16

/**
 * ship_state_open() - open or create a state file
 * @ret:       out; freed by ship_state_close()
 * @read_only: only look at a file, which another process may have open
 *
 * Return: 0; -EBUSY another process has it open; -EMEDIUMTYPE not a state file; -EPROTO of another
 * version.
 */
int ship_state_open(struct ship_state **ret, const char *path, bool read_only, struct error *err);

/** ship_state_close() - free. NULL is fine. */
void ship_state_close(struct ship_state *state);

/** ship_state_begin() - start a transaction */
int ship_state_begin(struct ship_state *state, struct error *err);

/**
 * ship_state_settle() - commit or roll back
 * @r: result of the work in the transaction; negative: @err is set, roll back
 *
 * Return: @r if it is negative; else 0 or the error of the commit.
 */
int ship_state_settle(struct ship_state *state, int r, struct error *err);

/**
 * ship_state_setting() - compare a setting with the one in the file
 * @value: stored if the file has no such setting
 *
 * Return: 0; -EINVAL the file has another value.
 */
int ship_state_setting(struct ship_state *state, const char *name, const char *value,
		       struct error *err);

/**
 * struct ship_epoch - progress of an epoch
 * @host:      the id of its host
 * @start_ns, @end_ns, @interrupts: as the database had them at the last look
 * @cursor_ns: slices up to this time are in batches
 * @delivered: their interrupts
 * @finished:  all of the epoch is in batches
 */
struct ship_epoch {
	uint8_t uuid[SHIP_UUID_BYTES];
	uint8_t host[SHIP_UUID_BYTES];
	int64_t start_ns;
	int64_t end_ns;
	int64_t cursor_ns;
	uint64_t interrupts;
	uint64_t delivered;
	bool finished;
};

/** ship_state_epoch() - read the progress of the epoch @epoch->uuid. Return: 1; 0 unknown. */
int ship_state_epoch(struct ship_state *state, struct ship_epoch *epoch, struct error *err);

/** ship_state_epoch_set() - store the progress of an epoch; slices of a finished one are dropped */
int ship_state_epoch_set(struct ship_state *state, const struct ship_epoch *epoch,
			 struct error *err);

/**
 * ship_state_epoch_drop() - forget an epoch, its slices, and descriptions whose key is one byte and
 * its uuid
 */
int ship_state_epoch_drop(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			  struct error *err);

typedef int (*ship_epoch_fn)(void *context, const struct ship_epoch *epoch);

/** ship_state_epochs() - iterate over all epochs; a non-zero result of @visit ends it */
int ship_state_epochs(struct ship_state *state, ship_epoch_fn visit, void *context,
		      struct error *err);

/** ship_state_slice_add() - record that a slice is in a batch */
int ship_state_slice_add(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			 const struct profile_slice *slice, struct error *err);

/** ship_state_slice_drop() - a merged slice has replaced a slice */
int ship_state_slice_drop(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
			  const struct profile_slice *slice, struct error *err);

/** ship_state_slices() - iterate over the slices in batches that lie within @range */
int ship_state_slices(struct ship_state *state, const uint8_t uuid[SHIP_UUID_BYTES],
		      const struct profile_slice *range, profile_slice_fn visit, void *context,
		      struct error *err);

/**
 * ship_state_describe() - record the digest of a description
 *
 * Return: 1: the file had another one, or none; 0: the description has not changed.
 */
int ship_state_describe(struct ship_state *state, const uint8_t *key, size_t key_bytes,
			const uint8_t digest[SHIP_DIGEST_BYTES], struct error *err);

/**
 * struct ship_request - a request of a batch
 * @sequence: position; out
 * @target:   where it is sent to, in the terms of the protocol
 * @expect:   text that the response must have; "": any
 * @entries:  rows or samples in @body
 * @compressed: @body is in the format of gzip
 */
struct ship_request {
	int64_t sequence;
	const char *target;
	const char *expect;
	uint64_t entries;
	const uint8_t *body;
	size_t bytes;
	bool compressed;
};

/** ship_state_batch_begin() - add an empty batch, in a transaction */
int ship_state_batch_begin(struct ship_state *state, int64_t *number, struct error *err);

/** ship_state_batch_end() - set the number of interrupts in a batch */
int ship_state_batch_end(struct ship_state *state, int64_t number, uint64_t interrupts,
			 struct error *err);

/** ship_state_request_add() - add a request to a batch */
int ship_state_request_add(struct ship_state *state, int64_t number,
			   const struct ship_request *request, struct error *err);

/** struct ship_batch - a batch to be delivered; @interrupts: of its slices */
struct ship_batch {
	int64_t number;
	uint64_t interrupts;
};

/** ship_state_batch() - find the oldest batch that is not quarantined. Return: 1; 0 none. */
int ship_state_batch(struct ship_state *state, struct ship_batch *ret, struct error *err);

/**
 * ship_state_request() - find the first request of a batch that has not succeeded
 * @after: sequence of the request that it comes after; 0: any
 * @ret: out; its pointers are valid until the next call of any function with @state
 *
 * Return: 1; 0 all requests have succeeded.
 */
int ship_state_request(struct ship_state *state, int64_t number, int64_t after,
		       struct ship_request *ret, struct error *err);

/**
 * ship_state_request_sent() - record whether a request is not to be sent any more
 * @sent: true: it has succeeded, or must not be repeated; false: send it again
 */
int ship_state_request_sent(struct ship_state *state, int64_t sequence, bool sent,
			    struct error *err);

/** ship_state_batch_restart() - all requests of a batch have to be sent again */
int ship_state_batch_restart(struct ship_state *state, int64_t number, struct error *err);

/** ship_state_batch_delivered() - delete a batch */
int ship_state_batch_delivered(struct ship_state *state, int64_t number, struct error *err);

/** ship_state_batch_quarantine() - keep a batch that the destination refuses */
int ship_state_batch_quarantine(struct ship_state *state, int64_t number, const char *message,
				struct error *err);

/** ship_state_quarantined() - count quarantined batches, and their interrupts */
int ship_state_quarantined(struct ship_state *state, uint64_t *batches, uint64_t *interrupts,
			   struct error *err);

/** Called for each quarantined batch, with the reason. */
typedef int (*ship_quarantine_fn)(void *context, const struct ship_batch *batch,
				  const char *message);

/** ship_state_quarantine_list() - iterate over quarantined batches */
int ship_state_quarantine_list(struct ship_state *state, ship_quarantine_fn visit, void *context,
			       struct error *err);

/**
 * ship_state_release() - quarantined batches are to be delivered again
 * @complete: also their requests that have succeeded
 *
 * Return: their number.
 */
int ship_state_release(struct ship_state *state, bool complete, struct error *err);

#endif
