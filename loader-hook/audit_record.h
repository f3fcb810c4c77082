/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The LD_AUDIT library's datagrams, checked and made into image events. Internal to
 * audit_feed.c.
 */
#ifndef DCPI_AUDIT_RECORD_H
#define DCPI_AUDIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "loader-hook/audit/audit_message.h"
#include "loader-hook/image_event.h"

/**
 * struct audit_reader - a datagram; fields but @head and @program are private
 * @head:    as it says
 * @program: if it begins a program, the path of that, "" if not known; else NULL
 */
struct audit_reader {
	struct audit_message head;
	const char *program;
	const unsigned char *data;
	size_t bytes;
	size_t at;
};

/**
 * audit_reader_init() - look at the head
 * @data: aligned to eight, @bytes of it; stays the caller's. Nothing is read beyond,
 *        whatever it says
 *
 * Return: whether it is one of ours.
 */
bool audit_reader_init(struct audit_reader *reader, const void *data, size_t bytes);

/**
 * audit_reader_next() - make an event of the next record
 * @event: out, less the process and the time: MAP, UNMAP or RENAME. Its path is in @data
 *
 * Return: 1; 0 there are no more; -EINVAL what follows makes no sense; -ENOENT: this one
 * tells of something that cannot be found by what it says; the next can be had.
 */
int audit_reader_next(struct audit_reader *reader, struct image_event *event);

#endif
