/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image store: copies of the images that were sampled, so that their code and names can be
 * shown after a file was deleted, upgraded or removed with its container. It is a directory next to
 * the database:
 *
 *	/var/lib/dcpi/dcpi.db-images/ab/cdef0123....elf		build-id abcdef0123...
 *	/var/lib/dcpi/dcpi.db-images/ab/cdef0123....user.content
 *
 * This file defines the names of the copies. The daemon writes them
 * (daemon/archive/archive_policy.h). Tools use them when the file at an image's path differs from
 *the profiled file.
 *
 * Each user can make a file that has the build-id of libc. A file that users other than the
 * superuser (or the daemon's user) may have written is
 * therefore stored under the digest of its contents, with another name. Stores of older versions
 * have such files under their build-ids as well ("user.elf"): these are not used.
 */
#ifndef DCPI_IMAGE_STORE_H
#define DCPI_IMAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest identity of an image. */
#define IMAGE_STORE_IDENTITY_BYTES 32
/* Room for the name of a copy in its store, with the NUL. */
#define IMAGE_STORE_NAME_BYTES (2 * IMAGE_STORE_IDENTITY_BYTES + 16)

/** enum image_store_kind - kind of the file stored under an identity */
enum image_store_kind {
	IMAGE_STORE_BUILD_ID, /* an ELF file; its NT_GNU_BUILD_ID */
	IMAGE_STORE_DIGEST,   /* a file without build-id; lib/file_digest.h */
	IMAGE_STORE_JIT,      /* code generated at run time, as it was in memory */
	IMAGE_STORE_CONTENT,  /* a file that other users may write; PROFILE_IDENTITY_CONTENT */
};

/** enum image_store_owner - users that could write the copied file. */
enum image_store_owner {
	IMAGE_STORE_ROOT, /* only the superuser, or the daemon's user, could write it */
	IMAGE_STORE_USER, /* other users could write it */
};

/**
 * image_store_name() - the name of a copy, relative to the store: "ab/cdef.elf"
 * @identity_bytes: 2 .. IMAGE_STORE_IDENTITY_BYTES
 *
 * Return: 0; -EINVAL an identity of another length.
 */
int image_store_name(char ret[IMAGE_STORE_NAME_BYTES], enum image_store_kind kind,
		     enum image_store_owner owner, const uint8_t *identity, size_t identity_bytes);

/** image_store_is_users() - return true if a path is that of a copy of IMAGE_STORE_USER */
bool image_store_is_users(const char *path);

/**
 * image_store_directory() - return the store's directory of a database
 * @database: path of the database; symbolic links are followed, as they are for its lock
 *
 * Return: malloc'd; NULL if the database does not exist, or out of memory.
 */
char *image_store_directory(const char *database);

#endif
