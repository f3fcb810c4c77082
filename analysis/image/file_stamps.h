/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of all files that a result was made from, including missing ones. As long as all states
 * are unchanged, the result is valid.
 */
#ifndef DCPI_FILE_STAMPS_H
#define DCPI_FILE_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct file_state - identity of a file's contents at one time
 * @there: the file exists; if not, all members are 0
 */
struct file_state {
	bool there;
	uint64_t inode;
	uint64_t bytes;
	int64_t modified_ns;
	int64_t changed_ns;
};

/** file_state_get() - return the current state of a path. */
struct file_state file_state_get(const char *path);

bool file_state_equal(const struct file_state *a, const struct file_state *b);

struct file_stamp {
	char *path;
	struct file_state state;
};

/** struct file_stamps - empty if zero-initialised; @failed: some states could not be recorded */
struct file_stamps {
	struct file_stamp *list;
	size_t count;
	size_t capacity;
	bool failed;
};

/** file_stamps_note() - record the state of a path; no effect if @stamps is NULL. */
void file_stamps_note(struct file_stamps *stamps, const char *path);

void file_stamps_deinit(struct file_stamps *stamps);

#endif
