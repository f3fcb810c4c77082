// SPDX-License-Identifier: GPL-2.0-only
#include "ship/delivery.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "db/ship_state.h"
#include "lib/clock.h"
#include "lib/error.h"
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
	return ship_state_request_sent(delivery->state, request->sequence, err);
}

/* Send the next request of a batch. */
static int request_send(struct delivery *delivery, const struct ship_batch *batch,
			const struct ship_request *request, uint64_t *wait_ns, struct error *err)
{
	struct http_response response;
	int r;

	delivery->protocol->send(delivery->client, delivery->config, request, &response);
	if (response.result == HTTP_DONE && is_expected(request->expect, response.text)) {
		r = request_done(delivery, request, err);
		return r < 0 ? r : 1;
	}
	if (response.result == HTTP_REFUSED) {
		*wait_ns = delivery_wait_ns(delivery, &response);
		delivery->refused++;
		r = ship_state_batch_quarantine(delivery->state, batch->number, response.message,
						err);
		return r < 0 ? r : -EPERM;
	}
	if (response.result == HTTP_DONE) {
		delivery->recounts++;
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

int delivery_step(struct delivery *delivery, uint64_t *wait_ns, struct error *err)
{
	struct ship_request request;
	struct ship_batch batch;
	int r = ship_state_batch(delivery->state, &batch, err);

	if (r <= 0)
		return r;
	r = ship_state_request(delivery->state, batch.number, &request, err);
	if (r < 0)
		return r;
	if (r > 0)
		return request_send(delivery, &batch, &request, wait_ns, err);
	delivery->batches++;
	delivery->interrupts += batch.interrupts;
	r = ship_state_batch_delivered(delivery->state, batch.number, err);
	return r < 0 ? r : 1;
}
