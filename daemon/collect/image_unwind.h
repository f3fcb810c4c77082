/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the unwind table of an image from its file.
 *
 * The file is found by its path: an image that only the superuser can write in our root directory,
 * another one also in that of a process that maps it. It is used only if it has the build-id of the
 * image, or the digest if there is no build-id. Only local file systems are read, because others
 * may never answer.
 */
#ifndef DCPI_IMAGE_UNWIND_H
#define DCPI_IMAGE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "db/profile.h"

struct unwind_table;
struct unwind_wanted;

/* Number of places where the file of an image may be. */
#define IMAGE_UNWIND_FILES 2

/**
 * struct image_unwind_identity - how to recognize the file of an image
 * @build_id: @data is a build-id; otherwise a digest (lib/file_digest.h)
 * @bytes:    of @data; 0: it cannot be recognized
 */
struct image_unwind_identity {
	uint32_t build_id;
	uint32_t bytes;
	uint8_t data[PROFILE_IDENTITY_BYTES_MAX];
};

/**
 * image_unwind_find() - find files that may be that of an image; does not read them
 * @pid:   a process that maps the image
 * @files: out: descriptors (O_PATH), owned by the caller; unused ones are -1
 *
 * Return: 0; -ENOENT: there is none; -EREMOTE: it is on a file system of another machine or
 * process.
 */
int image_unwind_find(int files[IMAGE_UNWIND_FILES], struct image_unwind_identity *identity,
		      const struct profile_image *image, uint32_t pid);

/** image_unwind_is_file() - read a file's build-id or digest, and return true if it is this */
bool image_unwind_is_file(const struct image_unwind_identity *identity, int fd);

/**
 * image_unwind_build() - make a table
 * @fd:     a regular file, open for reading
 * @wanted: as of unwind_build_pages()
 *
 * Reads and parses the file, which may take long: call it in the process of
 * daemon/collect/unwind_builder.h.
 *
 * Return: 0; -ENOENT: it is another file, or has no call frame information; errors of
 * unwind_build().
 */
int image_unwind_build(struct unwind_table **ret, const struct image_unwind_identity *identity,
		       int fd, const struct unwind_wanted *wanted);

/** image_unwind_vdso() - make the table of this machine's vDSO, as image_unwind_build(). */
int image_unwind_vdso(struct unwind_table **ret);

#endif
