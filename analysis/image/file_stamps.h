/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that something was made from, or that were looked for in vain, as they were:
 * as long as all are the same, making it again would give the same.
 */
#ifndef DCPI_FILE_STAMPS_H
#define DCPI_FILE_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct file_state - what tells a file from what is at its path later
 * @there: there is one; else all is 0
 */
struct file_state {
	bool there;
	uint64_t inode;
	uint64_t bytes;
	int64_t modified_ns;
	int64_t changed_ns;
};

/** file_state_get() - of what is at a path now. */
struct file_state file_state_get(const char *path);

bool file_state_equal(const struct file_state *a, const struct file_state *b);

struct file_stamp {
	char *path;
	struct file_state state;
};

/** struct file_stamps - zero-initialised is empty; @failed: not all could be noted */
struct file_stamps {
	struct file_stamp *list;
	size_t count;
	size_t capacity;
	bool failed;
};

/** file_stamps_note() - note what is at a path; nothing if @stamps is NULL. */
void file_stamps_note(struct file_stamps *stamps, const char *path);

void file_stamps_deinit(struct file_stamps *stamps);

#endif
