/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks the BPF program's records and converts them to image events. Internal to bpf_hook.c. */
#ifndef DCPI_HOOK_RECORD_H
#define DCPI_HOOK_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "kmod/uapi/dcpi_image_record.h"
#include "loader-hook/image_event.h"

/* Room for "/" before each name, " (deleted)" after the last one, and the NUL. */
#define HOOK_RECORD_PATH_BYTES (sizeof(((struct image_record_map *)NULL)->path) + 16)

/**
 * hook_record_mapper() - find the process and the time of a record that changes mappings, without
 * parsing the record
 *
 * Return: false: it is another record, or malformed.
 */
bool hook_record_mapper(const void *record, size_t bytes, uint32_t *pid, uint64_t *time_ns);

/**
 * hook_record_parse() - convert a record to an event
 * @event:  out; its path points into @path or @record
 * @record: aligned to eight
 * @bytes:  length of @record; nothing beyond is read, regardless of the contents
 *
 * Return: true if the record is valid.
 */
bool hook_record_parse(struct image_event *event, char path[HOOK_RECORD_PATH_BYTES],
		       const void *record, size_t bytes);

#endif
