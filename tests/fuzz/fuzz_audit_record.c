// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz the reader of the LD_AUDIT library's datagrams, which any process may send. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loader-hook/audit_record.h"
#include "tests/fuzz/fuzz.h"

static void path_check(const char *path, const char *copy, size_t bytes)
{
	require(path >= copy && path + strlen(path) < copy + bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct audit_message head = {.magic = AUDIT_MESSAGE_MAGIC};
	char *copy = malloc(bytes > 0 ? bytes : 1);
	struct audit_reader reader;
	struct image_event event;
	int rc;

	require(copy != NULL);
	memcpy(copy, data, bytes);
	/* Set these fields correctly: fuzzing them gains nothing. */
	head.bytes = (uint32_t)bytes;
	if (bytes >= sizeof(head)) {
		memcpy(copy, &head.magic, sizeof(head.magic));
		memcpy(copy + offsetof(struct audit_message, bytes), &head.bytes,
		       sizeof(head.bytes));
	}
	if (audit_reader_init(&reader, copy, bytes)) {
		if (reader.program != NULL)
			path_check(reader.program, copy, bytes);
		while ((rc = audit_reader_next(&reader, &event)) > 0 || rc == -2) {
			require(event.type == IMAGE_EVENT_MAP || event.type == IMAGE_EVENT_UNMAP ||
				event.type == IMAGE_EVENT_RENAME);
			require(event.build_id_bytes <= sizeof(event.build_id));
			if (event.type != IMAGE_EVENT_UNMAP)
				path_check(event.path, copy, bytes);
			if (event.type != IMAGE_EVENT_RENAME)
				require(event.bytes > 0 &&
					event.start + event.bytes > event.start &&
					(event.start + event.bytes - 1) >> 63 == 0);
		}
	}
	free(copy);
	return 0;
}
