// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/file_stamps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "lib/broker.h"

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

struct file_state file_state_get(const char *path)
{
	struct file_state state = {0};
	struct stat status;

	if (broker_stat(path, &status) < 0)
		return state;
	state.there = true;
	state.inode = status.st_ino;
	state.bytes = (uint64_t)status.st_size;
	state.modified_ns = ns_of(&status.st_mtim);
	state.changed_ns = ns_of(&status.st_ctim);
	return state;
}

bool file_state_equal(const struct file_state *a, const struct file_state *b)
{
	return a->there == b->there && a->inode == b->inode && a->bytes == b->bytes &&
	       a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

void file_stamps_note(struct file_stamps *stamps, const char *path)
{
	struct file_stamp stamp;

	if (stamps == NULL)
		return;
	/* Before the file is read, so that a change while reading is detected. */
	stamp.state = file_state_get(path);
	stamp.path = strdup(path);
	if (stamp.path == NULL ||
	    array_reserve(&stamps->list, &stamps->capacity, stamps->count + 1, sizeof(stamp)) < 0) {
		free(stamp.path);
		stamps->failed = true;
		return;
	}
	stamps->list[stamps->count++] = stamp;
}

void file_stamps_deinit(struct file_stamps *stamps)
{
	for (size_t i = 0; i < stamps->count; i++)
		free(stamps->list[i].path);
	free(stamps->list);
	*stamps = (struct file_stamps){0};
}
