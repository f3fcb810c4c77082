// SPDX-License-Identifier: GPL-2.0-only
#include "ship/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/gzip.h"

static const struct protocol *const protocols[] = {
	&protocol_clickhouse,
	&protocol_otlp,
	&protocol_pprof,
};

const struct protocol *protocol_find(const char *name)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
		if (strcmp(protocols[i]->name, name) == 0)
			return protocols[i];
	}
	return NULL;
}

int protocol_request_add(const struct batch_builder *batch, const struct ship_request *request)
{
	struct ship_request stored = *request;
	_cleanup_free_ void *compressed = NULL;

	if (request->bytes >= GZIP_BYTES_MIN) {
		compressed = gzip_compress(request->body, &stored.bytes);
		if (compressed == NULL)
			return error_set(batch->err, ENOMEM, ERROR_NO_MEMORY);
		stored.body = compressed;
		stored.compressed = true;
	}
	return ship_state_request_add(batch->state, batch->number, &stored, batch->err);
}

int protocol_check_slice(const struct batch_builder *batch, const struct profile_epoch *part,
			 const struct profile_slice *slice, uint64_t total)
{
	if (total == slice->interrupts)
		return 0;
	return error_set(batch->err, EBADMSG,
			 "database is damaged: a slice of epoch %" PRId64 " has %" PRIu64
			 " interrupts, but %" PRIu64 " samples and losses",
			 part->id, slice->interrupts, total);
}
