// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/data_spaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/uapi/dcpi_uapi.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/partition_point.h"
#include "loader-hook/proc/process_maps.h"

/* Executable mappings of a process that data is assigned to. */
#define IMAGES_MAX 256
/* Lines of a process that are read at most. */
#define LINES_MAX 8192

/* struct data_range - @image: of PROFILE_REGION_IMAGE: index of its mapping in @code, plus 1 */
struct data_range {
	uint64_t start;
	uint64_t end;
	enum profile_region region;
	uint32_t image;
};

/* struct file_code - code of a file, by its first executable mapping */
struct file_code {
	uint64_t device;
	uint64_t inode;
	uint64_t address;
};

/* struct data_space - the mappings of a process, by address; @tag 0: none */
struct data_space {
	uint64_t tag;
	uint64_t read_ns;
	struct data_range *ranges;
	size_t count;
	size_t capacity;
	struct file_code code[IMAGES_MAX];
	uint32_t code_count;
};

/* @second: of the CPU time @spent_ns */
struct data_spaces {
	struct data_space spaces[DATA_SPACES_PROCESSES];
	size_t bytes;
	uint64_t second;
	uint64_t spent_ns;
};

struct data_spaces *data_spaces_create(void)
{
	return calloc(1, sizeof(struct data_spaces));
}

void data_spaces_destroy(struct data_spaces *spaces)
{
	if (spaces == NULL)
		return;
	for (size_t i = 0; i < DATA_SPACES_PROCESSES; i++)
		free(spaces->spaces[i].ranges);
	free(spaces);
}

size_t data_spaces_bytes(const struct data_spaces *spaces)
{
	return sizeof(*spaces) + spaces->bytes;
}

/* Return: the number of the code of a mapping's file, plus 1; 0: no executable mapping. */
static uint32_t code_of(const struct data_space *space, const struct process_mapping *mapping)
{
	for (uint32_t i = 0; i < space->code_count; i++)
		if (space->code[i].inode == mapping->inode &&
		    space->code[i].device == mapping->device)
			return i + 1;
	return 0;
}

static void code_add(struct data_space *space, const struct process_mapping *mapping)
{
	if (mapping->inode == 0 || mapping->permissions[2] != 'x' ||
	    space->code_count == IMAGES_MAX || code_of(space, mapping) != 0)
		return;
	space->code[space->code_count++] = (struct file_code){
		.device = mapping->device, .inode = mapping->inode, .address = mapping->start};
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * @before: the previous range; NULL: none. Memory without a file that follows data of an image is
 * the part of its data that is not in the file.
 */
static struct data_range range_of(const struct data_space *space,
				  const struct process_mapping *mapping,
				  const struct data_range *before)
{
	struct data_range range = {.start = mapping->start, .end = mapping->end};

	if (begins_with(mapping->path, "[stack"))
		range.region = PROFILE_REGION_STACK;
	else if (begins_with(mapping->path, "[heap]"))
		range.region = PROFILE_REGION_HEAP;
	else if (mapping->permissions[3] == 's')
		range.region = PROFILE_REGION_SHARED;
	else if (mapping->inode != 0)
		range.image = code_of(space, mapping);
	else if (mapping->path[0] == '\0' && before != NULL && before->end == range.start)
		range.image = before->image;
	if (range.image != 0)
		range.region = PROFILE_REGION_IMAGE;
	else if (range.region == PROFILE_REGION_UNKNOWN && mapping->inode != 0)
		range.region = PROFILE_REGION_FILE;
	else if (range.region == PROFILE_REGION_UNKNOWN &&
		 (mapping->path[0] == '\0' || begins_with(mapping->path, "[anon")))
		range.region = PROFILE_REGION_ANONYMOUS;
	return range;
}

/* Return: false if there is no room. */
static bool range_add(struct data_spaces *spaces, struct data_space *space,
		      const struct process_mapping *mapping)
{
	struct data_range *last = space->count > 0 ? &space->ranges[space->count - 1] : NULL;
	struct data_range range = range_of(space, mapping, last);
	size_t before = space->capacity;

	if (last != NULL && last->end == range.start && last->region == range.region &&
	    last->image == range.image) {
		last->end = range.end;
		return true;
	}
	if (space->count == DATA_SPACES_RANGES ||
	    array_reserve(&space->ranges, &space->capacity, space->count + 1,
			  sizeof(*space->ranges)) < 0)
		return false;
	spaces->bytes += (space->capacity - before) * sizeof(*space->ranges);
	space->ranges[space->count++] = range;
	return true;
}

/* Visit the lines twice: data of a file may be mapped below its code. */
static void lines_read(struct data_spaces *spaces, struct data_space *space, FILE *maps)
{
	_cleanup_free_ char *line = NULL;
	struct process_mapping mapping;
	size_t capacity = 0;

	space->count = space->code_count = 0;
	for (int pass = 0; pass < 2; pass++) {
		rewind(maps);
		for (int i = 0; i < LINES_MAX && getline(&line, &capacity, maps) > 0; i++) {
			line[strcspn(line, "\n")] = '\0';
			if (!process_maps_take(&mapping, line))
				continue;
			if (pass == 0)
				code_add(space, &mapping);
			else if (!range_add(spaces, space, &mapping))
				return;
		}
	}
}

static const struct data_range *range_find(const struct data_space *space, uint64_t address)
{
	size_t after = partition_point(0, space->count, i, space->ranges[i].start <= address);

	return after > 0 && address < space->ranges[after - 1].end ? &space->ranges[after - 1]
								   : NULL;
}

/* Return: true if there is CPU time left in this second. */
static bool may_read(struct data_spaces *spaces, uint64_t now_ns)
{
	if (spaces->second != now_ns / NS_PER_SECOND) {
		spaces->second = now_ns / NS_PER_SECOND;
		spaces->spent_ns = 0;
	}
	return spaces->spent_ns < DATA_SPACES_READ_NS;
}

static void space_read(struct data_spaces *spaces, struct data_space *space, uint64_t tag,
		       uint64_t now_ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	FILE *maps = process_maps_open(dcpi_tag_pid(tag), NULL);

	space->tag = tag;
	space->read_ns = now_ns;
	space->count = 0;
	if (maps != NULL) {
		lines_read(spaces, space, maps);
		fclose(maps);
	}
	spaces->spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static struct data_place place_of(const struct data_space *space, uint64_t address)
{
	const struct data_range *range = range_find(space, address);

	if (range == NULL)
		return (struct data_place){.region = PROFILE_REGION_UNKNOWN};
	return (struct data_place){
		.region = range->region,
		.code = range->image != 0 ? space->code[range->image - 1].address : 0,
	};
}

struct data_place data_spaces_find(struct data_spaces *spaces, uint64_t tag, uint64_t address)
{
	struct data_space *space = &spaces->spaces[dcpi_tag_pid(tag) % DATA_SPACES_PROCESSES];
	uint64_t now_ns = clock_monotonic_ns();
	bool is_same = space->tag == tag && now_ns - space->read_ns < DATA_SPACES_AGE_NS;

	if (is_same &&
	    (range_find(space, address) != NULL || now_ns - space->read_ns < DATA_SPACES_AGAIN_NS))
		return place_of(space, address);
	if (!may_read(spaces, now_ns))
		return (struct data_place){.region = PROFILE_REGION_UNKNOWN};
	space_read(spaces, space, tag, now_ns);
	return place_of(space, address);
}

struct data_place data_spaces_read(struct data_spaces *spaces, const char *text, uint64_t address)
{
	struct data_space *space = &spaces->spaces[0];
	FILE *maps = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	if (maps == NULL)
		return (struct data_place){.region = PROFILE_REGION_UNKNOWN};
	lines_read(spaces, space, maps);
	fclose(maps);
	space->tag = 0;
	return place_of(space, address);
}
