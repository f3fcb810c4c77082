// SPDX-License-Identifier: GPL-2.0-only
#include "ship/delivery.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "db/ship_state.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/protocol.h"
#include "ship/ship_config.h"

/* The longest interval is 2^DOUBLINGS seconds, unless the configuration has a shorter one. */
#define DOUBLINGS 17

/* A number in 0 .. @limit - 1. Many hosts must not repeat their requests at the same time. */
static uint64_t random_below(uint64_t limit)
{
	uint64_t number = clock_monotonic_ns();

	(void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
	return number % limit;
}

uint64_t delivery_wait_ns(struct delivery *delivery, const struct http_response *response)
{
	uint64_t longest = delivery->config->retry_max_s, wait_ns;
	unsigned int doublings = delivery->failures < DOUBLINGS ? delivery->failures : DOUBLINGS;

	delivery->failures++;
	wait_ns = (1ULL << doublings) < longest ? 1ULL << doublings : longest;
	wait_ns *= NS_PER_SECOND;
	wait_ns = wait_ns / 2 + random_below(wait_ns / 2 + 1);
	if (response->retry_after_s * NS_PER_SECOND > wait_ns)
		wait_ns = response->retry_after_s * NS_PER_SECOND + random_below(NS_PER_SECOND);
	snprintf(delivery->message, sizeof(delivery->message), "%s", response->message);
	return wait_ns;
}

/* Return true if the response has the expected text, apart from blank space at its end. */
static bool is_expected(const char *expected, const char *text)
{
	size_t length = strlen(expected);

	return length == 0 || (strncmp(text, expected, length) == 0 &&
			       text[length + strspn(text + length, " \r\n")] == '\0');
}

static int request_done(struct delivery *delivery, const struct ship_request *request,
			struct error *err)
{
	delivery->failures = 0;
	delivery->requests++;
	delivery->bytes += request->bytes;
	delivery->entries += request->entries;
	if (delivery->protocol->promise == PROTOCOL_EXACTLY_ONCE) {
		delivery->after = request->sequence;
		return 0;
	}
	return ship_state_request_sent(delivery->state, request->sequence, true, err);
}

/* The destination has accepted a request, except for a part of it. */
static void delivery_rejected(struct delivery *delivery, const struct http_response *response)
{
	delivery->rejected += response->rejected;
	if (response->rejected > 0)
		snprintf(delivery->message, sizeof(delivery->message), "%s", response->message);
}

/* Quarantine the batch of a request that the destination refuses. */
static int request_refused(struct delivery *delivery, const struct ship_batch *batch,
			   const struct http_response *response, uint64_t *wait_ns,
			   struct error *err)
{
	int r;

	*wait_ns = delivery_wait_ns(delivery, response);
	delivery->refused++;
	delivery->batch = 0;
	r = ship_state_batch_quarantine(delivery->state, batch->number, response->message, err);
	return r < 0 ? r : -EPERM;
}

/* Send a request that is repeated until it succeeds. */
static int request_send(struct delivery *delivery, const struct ship_batch *batch,
			const struct ship_request *request, uint64_t *wait_ns, struct error *err)
{
	struct http_response response;
	int r;

	delivery->protocol->send(delivery->client, delivery->config, request, &response);
	if (response.result == HTTP_DONE && is_expected(request->expect, response.text)) {
		delivery_rejected(delivery, &response);
		r = request_done(delivery, request, err);
		return r < 0 ? r : 1;
	}
	if (response.result == HTTP_REFUSED)
		return request_refused(delivery, batch, &response, wait_ns, err);
	if (response.result == HTTP_DONE) {
		delivery->recounts++;
		delivery->after = 0;
		snprintf(response.message, sizeof(response.message),
			 "the destination does not have all rows of batch %lld",
			 (long long)batch->number);
		r = ship_state_batch_restart(delivery->state, batch->number, err);
		if (r < 0)
			return r;
	}
	delivery->retries++;
	*wait_ns = delivery_wait_ns(delivery, &response);
	return -EAGAIN;
}

/*
 * Send a request that must not arrive twice. Before it is sent, it is marked as sent. The mark is
 * removed if the response, or the missing connection, prove that it was not processed.
 */
static int request_send_once(struct delivery *delivery, const struct ship_batch *batch,
			     const struct ship_request *request, uint64_t *wait_ns,
			     struct error *err)
{
	_cleanup_free_ uint8_t *body = malloc(request->bytes);
	_cleanup_free_ char *target = strdup(request->target);
	struct ship_request copy = *request;
	struct http_response response;
	int r;

	if (body == NULL || target == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	/* Pointers into the state file are valid until it is written. */
	memcpy(body, request->body, request->bytes);
	copy.body = body;
	copy.target = target;
	r = ship_state_request_sent(delivery->state, copy.sequence, true, err);
	if (r < 0)
		return r;
	delivery->protocol->send(delivery->client, delivery->config, &copy, &response);
	if (response.result == HTTP_DONE) {
		r = request_done(delivery, &copy, err);
		return r < 0 ? r : 1;
	}
	if (response.result == HTTP_REFUSED || response.unprocessed) {
		r = ship_state_request_sent(delivery->state, copy.sequence, false, err);
		if (r < 0)
			return r;
	}
	if (response.result == HTTP_REFUSED)
		return request_refused(delivery, batch, &response, wait_ns, err);
	if (response.unprocessed)
		delivery->retries++;
	else
		delivery->abandoned++;
	*wait_ns = delivery_wait_ns(delivery, &response);
	return -EAGAIN;
}

int delivery_step(struct delivery *delivery, uint64_t *wait_ns, struct error *err)
{
	struct ship_request request;
	struct ship_batch batch;
	int r = ship_state_batch(delivery->state, &batch, err);

	if (r <= 0)
		return r;
	if (batch.number != delivery->batch) {
		delivery->batch = batch.number;
		delivery->after = 0;
	}
	r = ship_state_request(delivery->state, batch.number, delivery->after, &request, err);
	if (r < 0)
		return r;
	if (r > 0)
		return delivery->protocol->promise == PROTOCOL_AT_MOST_ONCE
			       ? request_send_once(delivery, &batch, &request, wait_ns, err)
			       : request_send(delivery, &batch, &request, wait_ns, err);
	delivery->batches++;
	delivery->interrupts += batch.interrupts;
	r = ship_state_batch_delivered(delivery->state, batch.number, err);
	return r < 0 ? r : 1;
}
