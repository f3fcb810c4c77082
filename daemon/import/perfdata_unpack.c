// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_unpack.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "daemon/import/perfdata_swap.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* perf compresses at most the contents of a ring at a time. */
#define UNPACKED_BYTES_MAX (64U << 20)
#define STEP_BYTES (1U << 17)

/* @used: part of @bytes that was returned as records */
struct perfdata_unpack {
	ZSTD_DStream *stream;
	uint8_t *data;
	size_t bytes;
	size_t used;
	size_t capacity;
};

int perfdata_unpack_create(struct perfdata_unpack **ret, struct error *err)
{
	struct perfdata_unpack *unpack = calloc(1, sizeof(*unpack));

	if (unpack != NULL)
		unpack->stream = ZSTD_createDStream();
	if (unpack == NULL || unpack->stream == NULL) {
		free(unpack);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	*ret = unpack;
	return 0;
}

void perfdata_unpack_destroy(struct perfdata_unpack *unpack)
{
	if (unpack == NULL)
		return;
	ZSTD_freeDStream(unpack->stream);
	free(unpack->data);
	free(unpack);
}

int perfdata_unpack_add(struct perfdata_unpack *unpack, const void *data, size_t bytes,
			struct error *err)
{
	ZSTD_inBuffer in = {.src = data, .size = bytes};
	ZSTD_outBuffer out;

	if (unpack->used > 0)
		memmove(unpack->data, unpack->data + unpack->used, unpack->bytes - unpack->used);
	unpack->bytes -= unpack->used;
	unpack->used = 0;
	do {
		size_t r;

		if (unpack->bytes > UNPACKED_BYTES_MAX)
			return error_set(err, EBADMSG, "a compressed record is too long");
		if (array_reserve(&unpack->data, &unpack->capacity, unpack->bytes + STEP_BYTES, 1) <
		    0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		out = (ZSTD_outBuffer){.dst = unpack->data + unpack->bytes, .size = STEP_BYTES};
		r = ZSTD_decompressStream(unpack->stream, &out, &in);
		if (ZSTD_isError(r))
			return error_set(err, EBADMSG, "a compressed record is damaged: %s",
					 ZSTD_getErrorName(r));
		unpack->bytes += out.pos;
	} while (in.pos < in.size || out.pos == out.size);
	return 0;
}

int perfdata_unpack_next(struct perfdata_unpack *unpack, void *record, bool swapped,
			 struct error *err)
{
	size_t left = unpack->bytes - unpack->used;
	struct perf_event_header head;

	if (left < sizeof(head))
		return 0;
	memcpy(&head, unpack->data + unpack->used, sizeof(head));
	if (swapped)
		perfdata_swap_head(&head);
	if (head.size < sizeof(head))
		return error_set(err, EBADMSG, "a record within a compressed one is malformed");
	if (head.size > left)
		return 0;
	memcpy(record, unpack->data + unpack->used, head.size);
	memcpy(record, &head, sizeof(head));
	unpack->used += head.size;
	return 1;
}
