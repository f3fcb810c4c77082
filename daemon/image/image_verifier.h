/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Computes digests of the contents of files in a thread of its own, so that nothing that a user
 * does to a file or its file system stops the caller.
 *
 * The thread reads at most 16 MiB in a second, after it has saved up to 256 MiB, the smallest
 * file first. 128 files may wait, a quarter of them of one owner.
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
 * @tag:     of the caller
 * @status:  as passed to image_verifier_add()
 * @result:  0; -ESTALE the file was written meanwhile; or another error
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

/** image_verifier_create() - Return: NULL: out of memory, or no thread can be started. */
struct image_verifier *image_verifier_create(void);

/** image_verifier_destroy() - stop. Does not wait for a file system. NULL is fine. */
void image_verifier_destroy(struct image_verifier *verifier);

/**
 * image_verifier_add() - have the contents of a file read
 * @fd:     of a regular file, O_PATH will do; stays the caller's
 * @status: its fstat(2), as it must be before and after
 *
 * Return: 0; -EAGAIN too many files wait, try again later; -EMFILE and other errors of dup(2).
 */
int image_verifier_add(struct image_verifier *verifier, uint32_t tag, int fd,
		       const struct stat *status);

/** image_verifier_result() - take a result. Return: false: there is none. */
bool image_verifier_result(struct image_verifier *verifier, struct image_verifier_result *ret);

/**
 * image_verifier_wait() - wait for a result
 * @until_ns: CLOCK_MONOTONIC: no longer
 *
 * Return: false: there is none, since no file waits or that time has come.
 */
bool image_verifier_wait(struct image_verifier *verifier, uint64_t until_ns);

#endif
