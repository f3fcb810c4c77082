/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF program's records, checked and made into image events. Internal to bpf_hook.c. */
#ifndef DCPI_HOOK_RECORD_H
#define DCPI_HOOK_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "kmod/uapi/dcpi_image_record.h"
#include "loader-hook/image_event.h"

/* "/" before each name, " (deleted)" after the last one, NUL. */
#define HOOK_RECORD_PATH_BYTES (sizeof(((struct image_record_map *)NULL)->path) + 16)

/**
 * hook_record_parse() - make an event of a record
 * @event:  out; its path is @path, or in the record
 * @record: @bytes of it, aligned to eight; nothing is read beyond, whatever it says
 *
 * Return: whether it is one.
 */
bool hook_record_parse(struct image_event *event, char path[HOOK_RECORD_PATH_BYTES],
		       const void *record, size_t bytes);

#endif
