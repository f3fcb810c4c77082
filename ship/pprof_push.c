// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol of servers like Pyroscope: pprof profiles to /ingest. These servers count a
 * profile twice if it arrives twice, and nothing in the protocol identifies a repetition. So a
 * request that may have arrived is not repeated.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ship/profile_format.h"

#define NUMBER_BYTES 32

static int pprof_create(void **data, const struct ship_config *config, struct error *err)
{
	(void)config;
	return profile_batch_create(data, &format_pprof, err);
}

static void pprof_send(struct http_client *client, const struct ship_config *config,
		       const struct ship_request *request, struct http_response *response)
{
	char from[NUMBER_BYTES], until[NUMBER_BYTES];
	struct http_field fields[] = {
		{"format", "pprof"}, {"from", from}, {"until", until}, {"name", ""}, {NULL, NULL},
	};
	const struct http_post post = {
		.path = "ingest",
		.fields = fields,
		.type = "application/octet-stream",
		.body = request->body,
		.bytes = request->bytes,
		.compressed = request->compressed,
		.gzipped = true,
		.once = true,
	};
	int name = 0;

	(void)config;
	if (sscanf(request->target, "%31[-0-9] %31[-0-9] %n", from, until, &name) != 2 ||
	    name == 0) {
		*response = (struct http_response){.text = ""};
		http_response_set(response, HTTP_REFUSED, "the state file has another protocol");
		return;
	}
	fields[3].value = request->target + name;
	http_client_post(client, &post, response);
}

const struct protocol protocol_pprof = {
	.name = "pprof",
	.promise = PROTOCOL_AT_MOST_ONCE,
	.create = pprof_create,
	.destroy = profile_batch_destroy,
	.begin = profile_batch_begin,
	.slice = profile_batch_slice,
	.lost = profile_batch_lost,
	.rest = profile_batch_rest,
	.end = profile_batch_end,
	.send = pprof_send,
};
