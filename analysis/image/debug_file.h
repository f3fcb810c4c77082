/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The separate debug file of an image: lines, and the full symbol table if the image is stripped.
 *
 * Sources are tried in this order:
 * - a separate file named after the build-id
 * - a separate file named by .gnu_debuglink
 * - a file of the image store named after the build-id
 * - mini-debuginfo inside the file
 * - only on request, a debuginfod server
 *
 * A separate file must have the image's build-id or, if the image has none, the checksum in
 * .gnu_debuglink.
 */
#ifndef DCPI_DEBUG_FILE_H
#define DCPI_DEBUG_FILE_H

#include <sys/types.h>

#include "analysis/image/elf_file.h"

struct file_stamps;
struct image_elf;

#define DEBUG_FILE_DIRECTORY "/usr/lib/debug"
#define DEBUG_FILE_BUILD_ID_BYTES_MAX 64

/**
 * struct debug_file_options - zero-initialised: the defaults
 * @directory:  directory of separate debug files; NULL: DEBUG_FILE_DIRECTORY
 * @debuginfod: ask the servers in DEBUGINFOD_URLS. If false, the network is never used.
 * @stamps:     records all files that are read or searched; may be NULL
 * @cache:      directory with indexes of symbols, for tools/report/symbol_cache.h; NULL: none
 * @images:     directory with copies of images (lib/image_store.h), for images
 *              whose file was removed or replaced; NULL: no store
 * @checks_owner: files at or next to the path of an image must be ones that only the superuser,
 *              this process's user or @owner can write
 * @owner:      user id: the owner of the database
 */
struct debug_file_options {
	const char *directory;
	bool debuginfod;
	const char *images;
	const char *cache;
	struct file_stamps *stamps;
	bool checks_owner;
	uid_t owner;
};

/**
 * debug_file_path() - return the path of a build-id's file in a debug directory
 * @suffix: ".debug"; "": the executable
 *
 * Return: malloc'd, "DIRECTORY/.build-id/ab/cdefSUFFIX"; NULL if @id is no valid build-id, or out
 * of memory.
 */
char *debug_file_path(const char *directory, const uint8_t *id, size_t bytes, const char *suffix);

/**
 * debug_file_open() - find the debug file of an image
 * @ret: out; closed by elf_file_close()
 *
 * Return: 0; -ENOENT if there is none.
 */
int debug_file_open(struct elf_file *ret, const struct image_elf *image,
		    const struct debug_file_options *options);

#endif
