/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A protocol: how batches of slices become requests to a destination, and how these are sent.
 * ship/shipment.h selects the slices of a batch.
 */
#ifndef DCPI_PROTOCOL_H
#define DCPI_PROTOCOL_H

#include <stdint.h>

#include "db/profile.h"
#include "db/ship_state.h"
#include "ship/http_client.h"

struct error;
struct profile_reader;
struct ship_config;

/**
 * struct batch_builder - a batch that is being made, of one epoch
 * @number: of the batch
 * @epoch:  the epoch in the database; NULL: it has been deleted
 * @known:  its ids and progress
 * @data:   the protocol's
 */
struct batch_builder {
	const struct ship_config *config;
	struct ship_state *state;
	struct profile_reader *reader;
	int64_t number;
	const struct profile_epoch *epoch;
	const struct ship_epoch *known;
	void *data;
	struct error *err;
};

/** enum protocol_promise - how often an interrupt arrives */
enum protocol_promise {
	/* Once: a request that is repeated changes nothing at the destination. */
	PROTOCOL_EXACTLY_ONCE,
	/* Requests without a known result are repeated, and counted twice if they had arrived. */
	PROTOCOL_AT_LEAST_ONCE,
	/* Requests that may have arrived are not repeated. */
	PROTOCOL_AT_MOST_ONCE,
};

/**
 * struct protocol - functions of a protocol
 *
 * The functions that make a batch are called in this order: begin, for each slice either slice or
 * lost, preceded by replace, then rest, end. They return 0 or a negative errno; then the batch is
 * dropped.
 *
 * @create:  make @data
 * @known:   ask the destination which slices of an epoch it has; NULL: it cannot answer. Return:
 *           0; -EAGAIN, with @response; or the result of @visit
 * @slice:   @part is the epoch, reduced to the slice. -EBADMSG: the slice is damaged
 * @lost:    the samples of a slice are no longer in the database; @name: of the loss
 * @replace: the next slice includes this one, which was in an earlier batch. NULL: nothing can be
 *           replaced, so the rest of the next slice is lost ("merged")
 * @rest:    the epoch has ended: everything that is not stored by slice
 * @end:     store the requests
 * @send:    send a request
 */
struct protocol {
	const char *name;
	enum protocol_promise promise;
	int (*create)(void **data, const struct ship_config *config, struct error *err);
	void (*destroy)(void *data);
	int (*known)(struct http_client *client, const struct ship_config *config,
		     const struct ship_epoch *epoch, profile_slice_fn visit, void *context,
		     struct http_response *response);
	int (*begin)(struct batch_builder *batch);
	int (*slice)(struct batch_builder *batch, const struct profile_epoch *part,
		     const struct profile_slice *slice);
	int (*lost)(struct batch_builder *batch, const struct profile_slice *slice,
		    const char *name);
	int (*replace)(struct batch_builder *batch, const struct profile_slice *slice);
	int (*rest)(struct batch_builder *batch);
	int (*end)(struct batch_builder *batch);
	void (*send)(struct http_client *client, const struct ship_config *config,
		     const struct ship_request *request, struct http_response *response);
};

extern const struct protocol protocol_clickhouse;
extern const struct protocol protocol_otlp;
extern const struct protocol protocol_pprof;

/** protocol_find() - return the protocol with a name; NULL: none */
const struct protocol *protocol_find(const char *name);

/** protocol_request_add() - add a request to the batch; its body is compressed, unless it is short
 */
int protocol_request_add(const struct batch_builder *batch, const struct ship_request *request);

/**
 * protocol_check_slice() - compare the samples and losses of a slice with its interrupts
 *
 * Return: 0; -EBADMSG: the slice is damaged.
 */
int protocol_check_slice(const struct batch_builder *batch, const struct profile_epoch *part,
			 const struct profile_slice *slice, uint64_t total);

#endif
