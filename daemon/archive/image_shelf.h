/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory of an image archive: its copies, their disk space, and the order of eviction. Not
 * thread-safe, except image_shelf_has().
 */
#ifndef DCPI_IMAGE_SHELF_H
#define DCPI_IMAGE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct image_shelf;

/* Maximum number of copies. Additional files found in the directory are ignored. */
#define IMAGE_SHELF_MAX 65536

/**
 * image_shelf_open() - create the directory, or read its contents
 * @bytes_max: disk space of all copies
 * @group:     of created files; -1: unchanged
 *
 * Evicts copies beyond the limit, and removes incomplete copies of a previous owner. If an
 * abandoned copier is still writing one (image_copier_close()), it can no longer give the copy a
 * name.
 */
int image_shelf_open(struct image_shelf **ret, const char *directory, uint64_t bytes_max,
		     int64_t group, struct error *err);
void image_shelf_close(struct image_shelf *shelf);

/** image_shelf_has() - return true if a copy of that name exists; thread-safe. */
bool image_shelf_has(const struct image_shelf *shelf, const char *name);

/**
 * image_shelf_incoming() - begin a copy
 * @bytes: maximum size
 *
 * The copy has no name (O_TMPFILE) or, if the file system does not support that, a name that is
 * unique to this shelf. Only the daemon's user may read it (mode 0600).
 *
 * Return: a descriptor of the empty file; -1 and in @error -ENOSPC, if the file system would be
 * nearly full, or another error.
 */
int image_shelf_incoming(struct image_shelf *shelf, uint64_t bytes, int *error);

/** image_shelf_discard() - remove a copy that failed; the caller closes its descriptor. */
void image_shelf_discard(struct image_shelf *shelf);

/**
 * image_shelf_put() - publish a copy that is complete and verified
 * @fd:         of image_shelf_incoming(); the caller keeps ownership
 * @expires_ns: its time, see image_shelf_touch()
 *
 * From now on the group may read it (mode 0640). Other copies are evicted to keep the limits of
 * size and number.
 *
 * Return: 0 or an error.
 */
int image_shelf_put(struct image_shelf *shelf, int fd, const char *name, int64_t expires_ns);

/**
 * image_shelf_touch() - set a copy's time: copies with earlier times are evicted first
 * @expires_ns: CLOCK_REALTIME; stored as the file's modification time
 *
 * Return: 0; -ENOENT if there is no such copy.
 */
int image_shelf_touch(struct image_shelf *shelf, const char *name, int64_t expires_ns);

/** image_shelf_count() - return the number and size of copies, and how many were evicted. */
void image_shelf_count(const struct image_shelf *shelf, uint64_t *files, uint64_t *bytes,
		       uint64_t *evicted);

#endif
