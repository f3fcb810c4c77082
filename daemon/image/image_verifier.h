/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads files in a separate thread to identify them, so that no user can block the caller through a
 * file or its file system.
 *
 * A process in a sandbox reads the build-ids (build_id_process.h).
 *
 * The thread reads at most 16 MiB per second, with bursts of up to 256 MiB. It serves the user next
 * that was served least recently: first the build-ids of all its files, then the smallest file. Up
 * to 128 files may wait, at most a quarter of them of one user.
 */
#ifndef DCPI_IMAGE_VERIFIER_H
#define DCPI_IMAGE_VERIFIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/file_digest.h"
#include "lib/file_identity.h"
#include "loader-hook/build_id.h"

struct image_verifier;

/**
 * enum image_verifier_kind - what to read
 * @IMAGE_VERIFIER_BUILD_ID: the build-id; a result of kind CONTENT follows if there is no error
 * @IMAGE_VERIFIER_CONTENT:  a digest of all contents
 * @IMAGE_VERIFIER_DIGEST:   the digest of a system file without build-id
 */
enum image_verifier_kind {
	IMAGE_VERIFIER_BUILD_ID,
	IMAGE_VERIFIER_CONTENT,
	IMAGE_VERIFIER_DIGEST,
};

/**
 * struct image_verifier_result - data read from a file
 * @tag:     set by the caller
 * @kind:    which of the following is valid, if @result is 0
 * @status:  as passed to image_verifier_add()
 * @result:  0; -ESTALE if the file was written meanwhile; or another error
 * @content: CONTENT: of content_digest(), and @writers: users that may write the file
 * @build_id: BUILD_ID: no bytes: the file has none
 * @digest:  DIGEST: of file_digest()
 */
struct image_verifier_result {
	uint32_t tag;
	enum image_verifier_kind kind;
	struct stat status;
	int result;
	uint8_t content[CONTENT_DIGEST_BYTES];
	struct file_writers writers;
	struct build_id build_id;
	uint8_t digest[FILE_DIGEST_BYTES];
};

/**
 * image_verifier_create() - start the thread. Return: NULL: out of memory, or no thread can be
 * started.
 */
struct image_verifier *image_verifier_create(void);

/**
 * image_verifier_destroy() - stop the thread. Does not wait for a file system. @verifier may be
 * NULL.
 */
void image_verifier_destroy(struct image_verifier *verifier);

/**
 * image_verifier_add() - queue a file for reading
 * @uid:    user that needs the result
 * @fd:     of a regular file, O_PATH suffices; the caller keeps ownership
 * @status: its fstat(2), which must not change during the reading
 *
 * Return: 0; -EAGAIN if too many files wait, try again later; -EMFILE and other errors of dup(2).
 */
int image_verifier_add(struct image_verifier *verifier, uint32_t tag, enum image_verifier_kind kind,
		       uint32_t uid, int fd, const struct stat *status);

/** image_verifier_result() - take the oldest result. Return: false: there is none. */
bool image_verifier_result(struct image_verifier *verifier, struct image_verifier_result *ret);

/**
 * image_verifier_wait() - wait for a result
 * @until_ns: maximum, CLOCK_MONOTONIC
 *
 * Return: false: there is none, because no file waits or the time has passed.
 */
bool image_verifier_wait(struct image_verifier *verifier, uint64_t until_ns);

#endif
