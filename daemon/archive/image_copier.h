/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fills an image store (lib/image_store.h) in the background and keeps it small.
 *
 * A thread of its own copies one file after the other, small ones first, in steps, no
 * faster than it may: what it waits for (a slow disk, a file system that never answers) it
 * waits for alone. Holes stay holes, and where the file system can share blocks
 * between files, copies cost no room.
 *
 * Only the file that the process mapped is copied, and only if the process' user may read it
 * (daemon/image/image_file.h). The copy has no name until its own build-id or digest has been
 * verified. Then others may read it. After a crash the store has whole copies only.
 *
 * Copies stay as long as there is room. Their time of modification says which of
 * them goes first, the earliest: see image_copier_touch().
 *
 * One store has one copier: the database's writer.
 */
#ifndef DCPI_IMAGE_COPIER_H
#define DCPI_IMAGE_COPIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_file.h"
#include "lib/image_store.h"

struct error;
struct image_copier;

/**
 * struct image_copier_config - bounds
 * @directory:        made if it is not there, 0750
 * @bytes_max:        of all copies, as they take room on the disk; one copy may
 *                    take half of it
 * @bytes_per_second: not to be copied faster than
 * @group:            of what is made: members may read it; -1: as is
 */
struct image_copier_config {
	const char *directory;
	uint64_t bytes_max;
	uint64_t bytes_per_second;
	int64_t group;
};

/**
 * struct image_copier_job - a copy to be made, or its result
 * @tag:            of the caller
 * @kind, @identity, @identity_bytes: what it is
 * @claim:          of a file: its identity, as far as it is known
 * @fd:             the file, opened through its mapping, O_PATH will do; or -1, and
 * @path:           malloc'd, where it may be found by @claim; or NULL, and
 * @data:           malloc'd contents, @data_bytes of them
 * @expires_ns:     CLOCK_REALTIME: the first image_copier_touch(); 0: touch only
 * @result:         out: 0: the store has a copy; or an error:
 *                  -ENOENT: touch only, and the store has no copy any more
 *                  -EFBIG: larger than half of @bytes_max
 *                  -EBADMSG: the copy has another identity than @identity
 *                  -ESTALE: the file at @path is another one
 *                  -ENOTUNIQ: the file at @path may be another one
 *                  -EPERM: the process' user may not read the file
 *                  -ENODEV: no regular file
 *                  -EAGAIN: the file was changed while it was copied
 *                  -ENOSPC: the disk has no room; a twentieth of it is never used
 * @copied:         out: false if it had it before
 */
struct image_copier_job {
	uint32_t tag;
	enum image_store_kind kind;
	uint8_t identity[IMAGE_STORE_IDENTITY_BYTES];
	size_t identity_bytes;
	struct image_file_claim claim;
	int fd;
	char *path;
	void *data;
	size_t data_bytes;
	int64_t expires_ns;
	int result;
	bool copied;
};

/** image_copier_open() - start the thread. Return: 0, or the error of making the directory. */
int image_copier_open(struct image_copier **ret, const struct image_copier_config *config,
		      struct error *err);

/** image_copier_close() - stop: a copy that has begun is given up. NULL is fine. */
void image_copier_close(struct image_copier *copier);

/**
 * image_copier_has() - return whether there is a copy already
 *
 * A copy of a file that other users could write counts for IMAGE_STORE_CONTENT only.
 *
 * Asks the file system, so it also is true of what another run left.
 */
bool image_copier_has(const struct image_copier *copier, enum image_store_kind kind,
		      const uint8_t *identity, size_t identity_bytes);

/**
 * image_copier_add() - have something copied
 * @job: copied; takes over its @fd, @path and @data, if it succeeds
 *
 * Return: 0; -EAGAIN as many wait as may.
 */
int image_copier_add(struct image_copier *copier, const struct image_copier_job *job);

/**
 * image_copier_touch() - keep a copy for longer
 * @job: @expires_ns: its new time. It never gets earlier.
 *
 * Return: as image_copier_add().
 */
int image_copier_touch(struct image_copier *copier, const struct image_copier_job *job);

/** image_copier_result() - a job that is done. Return: false: there is none. */
bool image_copier_result(struct image_copier *copier, struct image_copier_job *ret);

/**
 * struct image_copier_status - what there is, and what was done since the start
 * @files, @bytes: in the store
 * @waiting:       jobs
 * @copied, @evicted, @failed: since the start
 */
struct image_copier_status {
	uint64_t files;
	uint64_t bytes;
	uint64_t waiting;
	uint64_t copied;
	uint64_t evicted;
	uint64_t failed;
};

void image_copier_status(struct image_copier *copier, struct image_copier_status *status);

#endif
