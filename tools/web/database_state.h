/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a database, without reading it: any commit changes the database file, or its log in
 * which SQLite collects commits.
 */
#ifndef DCPI_DATABASE_STATE_H
#define DCPI_DATABASE_STATE_H

#include <stdbool.h>
#include <stdint.h>

/** struct database_state - all zero: the database does not exist */
struct database_state {
	struct {
		uint64_t device;
		uint64_t inode;
		int64_t bytes;
		int64_t changed_ns;
	} files[2];
};

/** database_state_read() - read the present state of the database at @path */
struct database_state database_state_read(const char *path);

/**
 * database_state_settled() - return true if later changes will have another time
 *
 * The times of files advance in steps: two changes within one step cannot be distinguished.
 */
bool database_state_settled(const struct database_state *state, int64_t now_ns);

bool database_state_equal(const struct database_state *a, const struct database_state *b);

#endif
