/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of an image, found by the image's identity. All code, names and lines of files come
 * through this lookup. Suppliers, in this order:
 *
 * 1. the file at the image's path, if its identity is that of the image
 * 2. the store of copies (lib/image_store.h)
 * 3. executables by build-id in the debug directories: DIRECTORY/.build-id/ab/cdef...
 * 4. executables of debuginfod servers, if requested
 * 5. separate debug files by build-id: DIRECTORY/.build-id/ab/cdef....debug, the same in the store,
 *    next to the image's path (PATH.debug, .debug/NAME.debug, DIRECTORY/PATH.debug), debuginfod
 *    servers
 *
 * A debug file has names and lines, and no code: see image_elf_has_code(). Each file must have the
 * image's identity. An image without build-id has suppliers 1 and 2 only. A file that another user
 * may have written is never used for an image of the superuser: see image_elf_open().
 */
#ifndef DCPI_IMAGE_LOOKUP_H
#define DCPI_IMAGE_LOOKUP_H

#include "analysis/image/debug_file.h"
#include "analysis/image/debug_server.h"
#include "analysis/image/image_elf.h"

/**
 * image_lookup_open() - find and open the file of an image
 * @image: kind PROFILE_IMAGE_FILE, with its path
 * @ret:   out; freed by image_elf_close()
 *
 * All files that are read or searched are recorded in @options->stamps.
 *
 * Return: 0; if no supplier has the file, the error of image_elf_open() for the path; -EINVAL if
 * the image's kind has no file; -ENOMEM.
 */
int image_lookup_open(struct image_elf **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err);

/**
 * image_lookup_copy_name() - return the name of an image's copy, relative to its store
 * @ret: out, room for IMAGE_STORE_NAME_BYTES
 * @user: users other than the superuser could write the copied file
 *
 * Return: 0; -EINVAL: the image has no identity by which it could be stored.
 */
int image_lookup_copy_name(char *ret, const struct profile_image *image, bool user);

/**
 * image_lookup_wanted() - list the files to request from servers
 * @requests: out, memory for 2
 *
 * An image without its file needs an executable and a debug file, a stripped one a debug file.
 *
 * Return: the number of requests.
 */
size_t image_lookup_wanted(struct debug_server_request requests[2],
			   const struct profile_image *image,
			   const struct debug_file_options *options);

#endif
