// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf/hook_record.h"

#include <string.h>
#include <sys/sysmacros.h>

static const enum image_event_type event_types[IMAGE_RECORD_TYPES] = {
	[IMAGE_RECORD_FORK] = IMAGE_EVENT_FORK,	    [IMAGE_RECORD_EXEC] = IMAGE_EVENT_EXEC,
	[IMAGE_RECORD_RENAME] = IMAGE_EVENT_RENAME, [IMAGE_RECORD_EXIT] = IMAGE_EVENT_EXIT,
	[IMAGE_RECORD_MAP] = IMAGE_EVENT_MAP,	    [IMAGE_RECORD_UNMAP] = IMAGE_EVENT_UNMAP,
};

/* The kernel's internal encoding of device numbers: major << 20 | minor. */
static uint64_t device_of(uint32_t device)
{
	return makedev(device >> 20, device & ((1U << 20) - 1));
}

/*
 * Build a path from the names in a record, which lead from the file up to the root's first
 * directory.
 */
static bool path_build(char path[HOOK_RECORD_PATH_BYTES], const struct image_record_map *map)
{
	const char *end = map->path + map->path_bytes, *name;
	size_t n = 0;

	if (map->path_bytes == 0 || end[-1] != '\0')
		return false;
	while (end > map->path) {
		for (name = end - 1; name > map->path && name[-1] != '\0'; name--)
			;
		path[n++] = '/';
		memcpy(path + n, name, (size_t)(end - name));
		n += (size_t)(end - name) - 1;
		end = name;
	}
	if (map->deleted)
		strcpy(path + n, " (deleted)");
	return true;
}

static bool path_valid(const struct image_record_map *map)
{
	return map->path_bytes > 1 && strnlen(map->path, map->path_bytes) == map->path_bytes - 1;
}

static bool map_parse(struct image_event *event, char path[HOOK_RECORD_PATH_BYTES],
		      const struct image_record_map *map, size_t bytes)
{
	size_t path_room;

	if (bytes < offsetof(struct image_record_map, path) || map->end <= map->start)
		return false;
	path_room = bytes - offsetof(struct image_record_map, path);
	if (map->path_bytes > path_room || map->path_bytes > sizeof(map->path))
		return false;
	event->start = map->start;
	event->bytes = map->end - map->start;
	event->file_offset = map->offset;
	event->has_user = true;
	event->user = map->user;
	event->file_user = map->file_user;
	event->path = map->memory == IMAGE_RECORD_VDSO ? "[vdso]" : "//anon";
	if (map->memory == IMAGE_RECORD_ANONYMOUS || map->memory == IMAGE_RECORD_VDSO)
		return true;
	event->device = device_of(map->device);
	event->inode = map->inode;
	event->version = IMAGE_EVENT_VERSION(map->version);
	event->has_state = true;
	event->file_bytes = map->bytes;
	event->modified_ns = (uint64_t)map->modified_s * 1000000000 + map->modified_ns;
	event->path = map->memory == IMAGE_RECORD_PATH ? map->path : path;
	return map->memory == IMAGE_RECORD_PATH ? path_valid(map) : path_build(path, map);
}

static bool name_parse(struct image_event *event, const struct image_record_name *record,
		       size_t bytes)
{
	event->path = record->name;
	return bytes >= sizeof(*record) && memchr(record->name, '\0', sizeof(record->name)) != NULL;
}

static bool unmap_parse(struct image_event *event, const struct image_record_unmap *record,
			size_t bytes)
{
	if (bytes < sizeof(*record) || record->end <= record->start)
		return false;
	event->start = record->start;
	event->bytes = record->end - record->start;
	return true;
}

bool hook_record_mapper(const void *record, size_t bytes, uint32_t *pid, uint64_t *time_ns)
{
	const struct image_record *head = record;

	if (bytes < sizeof(*head) ||
	    (head->type != IMAGE_RECORD_MAP && head->type != IMAGE_RECORD_UNMAP))
		return false;
	*pid = head->pid;
	*time_ns = head->time_ns;
	return true;
}

bool hook_record_parse(struct image_event *event, char path[HOOK_RECORD_PATH_BYTES],
		       const void *record, size_t bytes)
{
	const struct image_record *head = record;

	memset(event, 0, sizeof(*event));
	if (bytes < sizeof(*head) || head->type >= IMAGE_RECORD_TYPES || head->pid == 0)
		return false;
	event->type = event_types[head->type];
	event->pid = head->pid;
	if (head->type == IMAGE_RECORD_MAP || head->type == IMAGE_RECORD_UNMAP)
		event->in_exec = head->parent != 0;
	else
		event->parent = head->parent;
	event->time_ns = head->time_ns;
	event->has_generation = true;
	event->generation = head->generation;
	switch ((enum image_record_type)head->type) {
	case IMAGE_RECORD_EXEC:
	case IMAGE_RECORD_RENAME:
		return name_parse(event, record, bytes);
	case IMAGE_RECORD_MAP:
		return map_parse(event, path, record, bytes);
	case IMAGE_RECORD_UNMAP:
		return unmap_parse(event, record, bytes);
	case IMAGE_RECORD_FORK:
	case IMAGE_RECORD_EXIT:
	case IMAGE_RECORD_TYPES:
		break;
	}
	return true;
}
