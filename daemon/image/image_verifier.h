/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Computes digests of file contents in a separate thread, so that no user can block the caller
 * through a file or its file system.
 *
 * The thread reads at most 16 MiB per second, with bursts of up to 256 MiB, smallest files first.
 * Up to 128 files may wait, at most a quarter of them from one owner.
 */
#ifndef DCPI_IMAGE_VERIFIER_H
#define DCPI_IMAGE_VERIFIER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/file_identity.h"

struct image_verifier;

/**
 * struct image_verifier_result - the contents of a file
 * @tag:     set by the caller
 * @status:  as passed to image_verifier_add()
 * @result:  0; -ESTALE if the file was written meanwhile; or another error
 * @content: out of content_digest(), if @result is 0
 * @writers: out: users that may write the file, if @result is 0
 */
struct image_verifier_result {
	uint32_t tag;
	struct stat status;
	int result;
	uint8_t content[CONTENT_DIGEST_BYTES];
	struct file_writers writers;
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
 * image_verifier_add() - queue a file for reading its contents
 * @fd:     of a regular file, O_PATH suffices; the caller keeps ownership
 * @status: its fstat(2), which must not change during the reading
 *
 * Return: 0; -EAGAIN if too many files wait, try again later; -EMFILE and other errors of dup(2).
 */
int image_verifier_add(struct image_verifier *verifier, uint32_t tag, int fd,
		       const struct stat *status);

/** image_verifier_result() - take a result. Return: false: there is none. */
bool image_verifier_result(struct image_verifier *verifier, struct image_verifier_result *ret);

/**
 * image_verifier_wait() - wait for a result
 * @until_ns: maximum, CLOCK_MONOTONIC
 *
 * Return: false: there is none, because no file waits or the time has passed.
 */
bool image_verifier_wait(struct image_verifier *verifier, uint64_t until_ns);

#endif
