/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends the requests of batches until each has succeeded.
 *
 * A request is repeated without a connection, and after the status 408, 429 or 5xx. The intervals
 * double up to a maximum, and are random within a factor of two. The destination can extend them.
 * After any other status, the batch is quarantined: it stays in the state file, and later ones are
 * delivered.
 *
 * Protocols that promise at most one delivery repeat a request only if it was not processed: there
 * was no connection, or the status is 408, 429 or 503.
 */
#ifndef DCPI_DELIVERY_H
#define DCPI_DELIVERY_H

#include <stdint.h>

#include "ship/http_client.h"

struct error;
struct protocol;
struct ship_config;
struct ship_state;

/**
 * struct delivery - zero-initialised except for the first four; counters are since then
 * @batch, @after: the batch that is being sent, and its last request that has succeeded. If a
 *            repetition changes nothing at the destination, the state file does not have this:
 *            recording it took 14% of the CPU time
 * @failures: since the last success
 * @retries:  requests that will be repeated; @refused: batches that were quarantined
 * @recounts: batches that were sent again because rows were missing
 * @abandoned: requests that may have arrived, and must not arrive twice
 * @rejected: profiles that the destination has not accepted, in requests that succeeded
 */
struct delivery {
	const struct ship_config *config;
	const struct protocol *protocol;
	struct ship_state *state;
	struct http_client *client;
	int64_t batch;
	int64_t after;
	unsigned int failures;
	uint64_t requests;
	uint64_t bytes;
	uint64_t entries;
	uint64_t batches;
	uint64_t interrupts;
	uint64_t retries;
	uint64_t refused;
	uint64_t recounts;
	uint64_t abandoned;
	uint64_t rejected;
	char message[512];
};

/**
 * delivery_step() - send one request
 * @wait_ns: out: with -EAGAIN and -EPERM, the time until the next step
 *
 * Return: 1: there may be more to do; 0: all batches are delivered; or a negative errno:
 * - -EAGAIN: the request has to be sent again; @message of the delivery has the reason
 * - -EPERM: the batch was quarantined; @message has the reason
 * - others: of the state file
 */
int delivery_step(struct delivery *delivery, uint64_t *wait_ns, struct error *err);

/** delivery_wait_ns() - count a failure, and return the time to wait after it */
uint64_t delivery_wait_ns(struct delivery *delivery, const struct http_response *response);

#endif
