/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory of an image archive: its copies, their disk space, and the order of eviction. Not
 * thread-safe, except archive_dir_has().
 */
#ifndef DCPI_ARCHIVE_DIR_H
#define DCPI_ARCHIVE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct archive_dir;

/* Maximum number of copies. Additional files found in the directory are ignored. */
#define ARCHIVE_DIR_MAX 65536

/**
 * archive_dir_open() - create the directory, or read its contents
 * @bytes_max: disk space of all copies
 * @group:     of created files; -1: unchanged
 *
 * Evicts copies beyond the limit, and removes incomplete copies of a previous owner. If an
 * abandoned copier is still writing one (image_copier_close()), it can no longer give the copy a
 * name.
 */
int archive_dir_open(struct archive_dir **ret, const char *directory, uint64_t bytes_max,
		     int64_t group, struct error *err);
void archive_dir_close(struct archive_dir *archive);

/** archive_dir_has() - return true if a copy of that name exists; thread-safe. */
bool archive_dir_has(const struct archive_dir *archive, const char *name);

/**
 * archive_dir_incoming() - begin a copy
 * @bytes: maximum size
 *
 * The copy has no name (O_TMPFILE) or, if the file system does not support that, a name that is
 * unique to this archive. Only the daemon's user may read it (mode 0600).
 *
 * Return: a descriptor of the empty file; -1 and in @error -ENOSPC, if the file system would be
 * nearly full, or another error.
 */
int archive_dir_incoming(struct archive_dir *archive, uint64_t bytes, int *error);

/** archive_dir_discard() - remove a copy that failed; the caller closes its descriptor. */
void archive_dir_discard(struct archive_dir *archive);

/**
 * archive_dir_put() - publish a copy that is complete and verified
 * @fd:         of archive_dir_incoming(); the caller keeps ownership
 * @expires_ns: its time, see archive_dir_touch()
 *
 * From now on the group may read it (mode 0640). Other copies are evicted to keep the limits of
 * size and number.
 *
 * Return: 0 or an error.
 */
int archive_dir_put(struct archive_dir *archive, int fd, const char *name, int64_t expires_ns);

/**
 * archive_dir_touch() - set a copy's time: copies with earlier times are evicted first
 * @expires_ns: CLOCK_REALTIME; stored as the file's modification time
 *
 * Return: 0; -ENOENT if there is no such copy.
 */
int archive_dir_touch(struct archive_dir *archive, const char *name, int64_t expires_ns);

/** archive_dir_count() - return the number and size of copies, and how many were evicted. */
void archive_dir_count(const struct archive_dir *archive, uint64_t *files, uint64_t *bytes,
		       uint64_t *evicted);

#endif
