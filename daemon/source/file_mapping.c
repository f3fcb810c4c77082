// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/file_mapping.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "loader-hook/proc/process_maps.h"
#include "loader-hook/proc/process_scan.h"

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

struct named_finding {
	const char *name;
	uint64_t start;
	uint64_t end;
};

static void named_take(void *context, const struct image_event *event)
{
	struct named_finding *finding = context;

	if (event->type != IMAGE_EVENT_MAP || strcmp(event->path, finding->name) != 0)
		return;
	finding->start = event->start;
	finding->end = event->start + event->bytes;
}

int file_mapping_find_named(uint64_t *start, uint64_t *end, uint32_t pid, const char *name)
{
	struct named_finding finding = {.name = name};
	int rc = process_scan(pid, named_take, &finding, NULL);

	if (rc < 0)
		return rc;
	*start = finding.start;
	*end = finding.end;
	return finding.end != 0 ? 0 : -ENOENT;
}

static bool is_other(const struct process_mapping *other, const struct file_mapping *mapping)
{
	uint64_t bytes = mapping->end - mapping->start;

	return other->inode == mapping->from.inode && other->device == mapping->from.device &&
	       other->start != mapping->start && other->offset < mapping->from.offset + bytes &&
	       other->offset + (other->end - other->start) > mapping->from.offset &&
	       other->permissions[1] != 'w' && other->permissions[3] == 'p';
}

int file_mapping_others(uint32_t pid, const struct file_mapping *mapping)
{
	_cleanup_file_ FILE *maps = process_maps_open(pid, NULL);
	_cleanup_free_ char *line = NULL;
	struct process_mapping other;
	size_t capacity = 0;

	if (maps == NULL)
		return -errno;
	while (getline(&line, &capacity, maps) > 0) {
		if (process_maps_take(&other, line) && is_other(&other, mapping))
			return 1;
	}
	return 0;
}

void file_mapping_close(struct file_mapping *mapping)
{
	if (mapping->end != 0 && mapping->fd >= 0)
		close(mapping->fd);
	*mapping = (struct file_mapping){.end = 0};
}
