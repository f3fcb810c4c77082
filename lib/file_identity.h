/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identities of files that hostile users may have written, and the decision which files those are.
 * A build-id identifies no such file: each user can write another file's build-id into a file. A
 * digest of lib/file_digest.h does not identify them either.
 */
#ifndef DCPI_FILE_IDENTITY_H
#define DCPI_FILE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/content_digest.h"

#define FILE_IDENTITY_BYTES 12

/**
 * struct file_writers - users that may have written a file
 * @owner:  user id
 * @others: other users may write it, or @owner may be false. The latter is possible if the file
 *          system is FUSE, or if @owner is the superuser and the file system is mounted without
 *          set-user-ID programs, as are file systems mounted by users.
 */
struct file_writers {
	uid_t owner;
	bool others;
};

/**
 * file_writers_get() - determine the writers of a file. @fd: may be O_PATH; @status: its fstat(2)
 */
struct file_writers file_writers_get(int fd, const struct stat *status);

/** file_writers_only() - return true if only the superuser or @user may have written a file */
bool file_writers_only(const struct file_writers *writers, uid_t user);

/**
 * file_identity_content() - the identity of a file's contents and writers
 * @content: from content_digest()
 *
 * Files of different owners have different identities, even if their contents are equal: the
 * path of an image is that of its owner. Stored in databases: never to be changed.
 */
void file_identity_content(uint8_t identity[FILE_IDENTITY_BYTES],
			   const uint8_t content[CONTENT_DIGEST_BYTES],
			   const struct file_writers *writers);

/**
 * file_identity_status() - the identity of a file whose contents have not been read
 *
 * From its owner, device, inode, size and times. Stored in databases: never to be changed.
 */
void file_identity_status(uint8_t identity[FILE_IDENTITY_BYTES], const struct stat *status);

/**
 * file_identity_claim() - the identity of a file that cannot be found
 * @owner: user id of the process that claims to have mapped the file
 * @path:  path that this process claims
 */
void file_identity_claim(uint8_t identity[FILE_IDENTITY_BYTES], uid_t owner, const char *path);

/**
 * file_identity_jit() - the identity of code that a program of a user generates at run time
 * @user:    user id of the process
 * @program: identity of the program, @bytes
 *
 * Stored in databases: never to be changed.
 */
void file_identity_jit(uint8_t identity[FILE_IDENTITY_BYTES], uid_t user, const uint8_t *program,
		       size_t bytes);

#endif
