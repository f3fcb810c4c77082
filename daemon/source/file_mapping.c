// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/file_mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "loader-hook/process_scan.h"

struct finding {
	struct file_mapping *mapping;
	uint64_t address;
	bool found;
};

static void mapping_take(void *context, const struct image_event *event)
{
	struct finding *finding = context;
	struct file_mapping *mapping = finding->mapping;

	if (event->type != IMAGE_EVENT_MAP || finding->address - event->start >= event->bytes ||
	    event->inode == 0 || event->path[0] != '/')
		return;
	if (snprintf(mapping->path, sizeof(mapping->path), "/proc/%" PRIu32 "/root%s", event->pid,
		     event->path) >= (int)sizeof(mapping->path))
		return;
	mapping->start = event->start;
	mapping->end = event->start + event->bytes;
	mapping->offset = event->file_offset;
	finding->found = true;
}

int file_mapping_find(struct file_mapping *ret, uint32_t pid, uint64_t address)
{
	struct finding finding = {.mapping = ret, .address = address};
	int rc = process_scan(pid, mapping_take, &finding, NULL);

	if (rc < 0)
		return rc;
	return finding.found ? 0 : -EINVAL;
}
