/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory of an image store: which copies are there, how much room they
 * take, and which go when there is not enough of it. Not for several threads,
 * but for image_shelf_has().
 */
#ifndef DCPI_IMAGE_SHELF_H
#define DCPI_IMAGE_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct image_shelf;

/* Copies that are looked after: no more are made. What is there beyond stays, unlooked at. */
#define IMAGE_SHELF_MAX 65536

/**
 * image_shelf_open() - make the directory, or see what is in it
 * @bytes_max: of all copies, on the disk
 * @group:     of what is made; -1: as is
 *
 * Evicts what is too much already, and removes what somebody before was about to copy: who
 * still is (image_copier_close()) cannot give it a name any more.
 */
int image_shelf_open(struct image_shelf **ret, const char *directory, uint64_t bytes_max,
		     int64_t group, struct error *err);
void image_shelf_close(struct image_shelf *shelf);

/** image_shelf_has() - whether a copy of that name is there; any thread. */
bool image_shelf_has(const struct image_shelf *shelf, const char *name);

/**
 * image_shelf_incoming() - begin a copy
 * @bytes: it will have, at most
 *
 * The copy has no name (O_TMPFILE), or where the file system cannot do that, a name that only
 * this shelf uses; only the daemon's user may read it (mode 0600).
 *
 * Return: a descriptor to write it to, empty; -1 and in @error -ENOSPC: the file
 * system would be nearly full; or another one.
 */
int image_shelf_incoming(struct image_shelf *shelf, uint64_t bytes, int *error);

/** image_shelf_discard() - remove a copy that failed; its descriptor stays the caller's. */
void image_shelf_discard(struct image_shelf *shelf);

/**
 * image_shelf_put() - publish a copy that is complete and verified
 * @fd:         of image_shelf_incoming(); stays the caller's
 * @expires_ns: its time, see image_shelf_touch()
 *
 * From now on the group may read it (mode 0640). Others are evicted to make room: for its bytes,
 * and for one more.
 *
 * Return: 0 or an error.
 */
int image_shelf_put(struct image_shelf *shelf, int fd, const char *name, int64_t expires_ns);

/**
 * image_shelf_touch() - keep a copy for longer than those of an earlier time
 * @expires_ns: CLOCK_REALTIME; kept as the file's time of modification
 *
 * Return: 0; -ENOENT there is none.
 */
int image_shelf_touch(struct image_shelf *shelf, const char *name, int64_t expires_ns);

/** image_shelf_count() - copies and bytes there are, and how many were evicted. */
void image_shelf_count(const struct image_shelf *shelf, uint64_t *files, uint64_t *bytes,
		       uint64_t *evicted);

#endif
