// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/file_mapping.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "loader-hook/process_scan.h"

struct finding {
	struct file_mapping *mapping;
	uint64_t address;
	bool found;
};

static int open_mapped(const struct image_event *event)
{
	struct image_file_key key;
	_cleanup_close_ int named = image_file_open(event, &key);

	return named < 0 ? named : image_file_readable(named);
}

static void mapping_take(void *context, const struct image_event *event)
{
	struct finding *finding = context;

	if (event->type != IMAGE_EVENT_MAP || finding->address - event->start >= event->bytes ||
	    event->inode == 0 || event->path[0] != '/' || finding->found)
		return;
	*finding->mapping = (struct file_mapping){
		.start = event->start,
		.end = event->start + event->bytes,
		.from = {event->device, event->inode, event->file_offset},
		.fd = open_mapped(event),
	};
	finding->found = true;
}

int file_mapping_find(struct file_mapping *ret, uint32_t pid, uint64_t address)
{
	struct finding finding = {.mapping = ret, .address = address};
	int rc = process_scan(pid, mapping_take, &finding, NULL);

	if (rc < 0 && !finding.found)
		return rc;
	return finding.found ? 0 : -EINVAL;
}

void file_mapping_close(struct file_mapping *mapping)
{
	if (mapping->end != 0 && mapping->fd >= 0)
		close(mapping->fd);
	*mapping = (struct file_mapping){.end = 0};
}
