// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/audit_record.h"

#include <errno.h>
#include <string.h>

#define ADDRESSES_END (1ULL << 63)

/* Return: the next record if it is complete and well-formed; else NULL. */
static const struct audit_record *record_next(struct audit_reader *reader)
{
	const struct audit_record *record = (const void *)(reader->data + reader->at);
	size_t left = reader->bytes - reader->at;

	if (left < sizeof(*record) || record->bytes < sizeof(*record) || record->bytes > left ||
	    record->bytes % 8 != 0 || record->type >= AUDIT_RECORD_TYPES)
		return NULL;
	if (record->path_bytes > record->bytes - sizeof(*record))
		return NULL;
	/* The path has exactly one NUL, at its end. */
	if (record->type != AUDIT_RECORD_UNMAP &&
	    (record->path_bytes == 0 || memchr(record->path, '\0', record->path_bytes) !=
						record->path + record->path_bytes - 1))
		return NULL;
	reader->at += record->bytes;
	return record;
}

bool audit_reader_init(struct audit_reader *reader, const void *data, size_t bytes)
{
	const struct audit_record *program;

	memset(reader, 0, sizeof(*reader));
	if (bytes < sizeof(reader->head) || bytes > AUDIT_MESSAGE_BYTES)
		return false;
	memcpy(&reader->head, data, sizeof(reader->head));
	if (reader->head.magic != AUDIT_MESSAGE_MAGIC || reader->head.bytes != bytes)
		return false;
	reader->data = data;
	reader->bytes = bytes;
	reader->at = sizeof(reader->head);
	if (!(reader->head.flags & AUDIT_MESSAGE_BEGINS))
		return true;
	program = record_next(reader);
	if (program == NULL || program->type != AUDIT_RECORD_PROGRAM)
		return false;
	reader->program = program->path;
	return true;
}

/* User space is the lower half of the address space. */
static bool range_take(struct image_event *event, const struct audit_record *record)
{
	event->start = record->start;
	event->bytes = record->length;
	return record->start < ADDRESSES_END && record->length > 0 &&
	       record->length <= ADDRESSES_END - record->start;
}

/* A mapping without a build-id, or with a relative path, does not identify a file. */
static int map_take(struct image_event *event, const struct audit_record *record)
{
	if (record->build_id_bytes > sizeof(event->build_id))
		return -EINVAL;
	event->file_offset = record->file_offset;
	event->build_id_bytes = record->build_id_bytes;
	memcpy(event->build_id, record->build_id, record->build_id_bytes);
	event->path = record->path;
	if (strcmp(record->path, "[vdso]") == 0)
		return 1;
	return record->build_id_bytes > 0 && record->path[0] == '/' ? 1 : -ENOENT;
}

int audit_reader_next(struct audit_reader *reader, struct image_event *event)
{
	const struct audit_record *record;

	if (reader->at == reader->bytes)
		return 0;
	record = record_next(reader);
	if (record == NULL)
		return -EINVAL;
	memset(event, 0, sizeof(*event));
	switch ((enum audit_record_type)record->type) {
	case AUDIT_RECORD_COMMAND:
		event->type = IMAGE_EVENT_RENAME;
		event->path = record->path;
		return 1;
	case AUDIT_RECORD_MAP:
		event->type = IMAGE_EVENT_MAP;
		return range_take(event, record) ? map_take(event, record) : -EINVAL;
	case AUDIT_RECORD_UNMAP:
		event->type = IMAGE_EVENT_UNMAP;
		return range_take(event, record) ? 1 : -EINVAL;
	case AUDIT_RECORD_PROGRAM: /* valid only as the first record */
	case AUDIT_RECORD_TYPES:
		break;
	}
	return -EINVAL;
}
