/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks the LD_AUDIT library's datagrams and converts them to image events. Internal to
 * audit_feed.c.
 */
#ifndef DCPI_AUDIT_RECORD_H
#define DCPI_AUDIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "loader-hook/audit/audit_message.h"
#include "loader-hook/image_event.h"

/**
 * struct audit_reader - a datagram; fields other than @head and @program are private
 * @head:    as received; not verified beyond its magic number and size
 * @program: if the datagram begins a program: its path, "" if unknown; else NULL
 */
struct audit_reader {
	struct audit_message head;
	const char *program;
	const unsigned char *data;
	size_t bytes;
	size_t at;
};

/**
 * audit_reader_init() - check the head of a datagram
 * @data:  aligned to eight; owned by the caller
 * @bytes: length of @data; nothing beyond is read, regardless of the contents
 *
 * Return: true if the datagram has the library's format.
 */
bool audit_reader_init(struct audit_reader *reader, const void *data, size_t bytes);

/**
 * audit_reader_next() - convert the next record to an event
 * @event: out: MAP, UNMAP or RENAME; the process and the time are not set. Its path points into
 *         @data
 *
 * Return: 1; 0: no record is left; -EINVAL: the rest of the datagram is malformed; -ENOENT: the
 * record does not identify a file, but the next record can be read.
 */
int audit_reader_next(struct audit_reader *reader, struct image_event *event);

#endif
