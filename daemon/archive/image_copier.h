/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fills an image archive (lib/image_store.h) in the background and limits its size.
 *
 * A separate thread copies one file after another, small ones first, in steps, and with a limited
 * rate. Only this thread is blocked by a slow disk, or a file system that never answers. Holes are
 * preserved, and if the file system can share blocks between files, copies take no space.
 *
 * Only the file that the process mapped is copied, and only if the process's user may read it
 * (daemon/image/image_file.h). The copy has no name until its own build-id or digest has been
 * verified. Then other users may read it. After a crash the archive contains only complete copies.
 *
 * Copies remain as long as there is space. They are evicted in order of their modification time,
 * oldest first: see image_copier_touch().
 *
 * An archive has one copier: that of the database's writer.
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
 * struct image_copier_config - the archive and its limits
 * @directory:        created if it does not exist, 0750
 * @bytes_max:        disk space of all copies; one copy may take half of it
 * @bytes_per_second: maximum rate of copying
 * @group:            group of created files, whose members may read them; -1: unchanged
 */
struct image_copier_config {
	const char *directory;
	uint64_t bytes_max;
	uint64_t bytes_per_second;
	int64_t group;
};

/**
 * struct image_copier_job - a copy to be made, or its result
 * @tag:        set by the caller
 * @kind, @identity, @identity_bytes: identity of the image
 * @claim:      of a file: its identity, as far as it is known
 * @fd:         the file, opened through its mapping, O_PATH suffices; or -1
 * @path:       without @fd: allocated, a path at which the file may be found by @claim; or NULL
 * @data:       without @fd and @path: allocated contents, @data_bytes long
 * @expires_ns: CLOCK_REALTIME: the first image_copier_touch(); 0: touch only
 * @result:     out: 0: the archive has a copy; or an error, see below
 * @copied:     out: false if the archive already had a copy
 *
 * Errors:
 *
 *	-ENOENT    Touch only, and the archive no longer has a copy.
 *	-EFBIG     Larger than half of @bytes_max.
 *	-EBADMSG   The copy has another identity than @identity.
 *	-ESTALE    The file at @path is another one.
 *	-ENOTUNIQ  The file at @path may be another one.
 *	-EPERM     The process's user may not read the file.
 *	-ENODEV    Not a regular file.
 *	-EAGAIN    The file was changed while it was copied.
 *	-ENOSPC    The disk is full; a twentieth of it is never used.
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

/** image_copier_open() - start the thread. Return: 0, or the error of creating the directory. */
int image_copier_open(struct image_copier **ret, const struct image_copier_config *config,
		      struct error *err);

/** image_copier_close() - stop the thread, aborting its current copy. @copier may be NULL. */
void image_copier_close(struct image_copier *copier);

/**
 * image_copier_has() - return true if there is already a copy
 *
 * Copies of files that other users could write only count for IMAGE_STORE_CONTENT.
 *
 * Queries the file system, so that copies of previous runs are included.
 */
bool image_copier_has(const struct image_copier *copier, enum image_store_kind kind,
		      const uint8_t *identity, size_t identity_bytes);

/**
 * image_copier_add() - queue a copy
 * @job: copied; on success, ownership of its @fd, @path and @data passes to the copier
 *
 * Return: 0; -EAGAIN if the queue is full.
 */
int image_copier_add(struct image_copier *copier, const struct image_copier_job *job);

/**
 * image_copier_touch() - extend the lifetime of a copy
 * @job: @expires_ns: its new time. A time never becomes earlier.
 *
 * Return: as image_copier_add().
 */
int image_copier_touch(struct image_copier *copier, const struct image_copier_job *job);

/** image_copier_result() - take a finished job. Return: false: there is none. */
bool image_copier_result(struct image_copier *copier, struct image_copier_job *ret);

/**
 * struct image_copier_status - contents of the archive, and work done since the start
 * @files, @bytes:             in the archive
 * @waiting:                   number of queued jobs
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
