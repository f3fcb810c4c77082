/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an image's file is, and the full symbol table of a stripped one.
 *
 * The symbol table, in this order: a separate file named after the build-id, a separate file
 * named by .gnu_debuglink, mini-debuginfo inside the file, and only if asked
 * for, a debuginfod server. A separate file counts only if it has the image's
 * build-id or, where the image has none, the checksum in .gnu_debuglink.
 */
#ifndef DCPI_DEBUG_FILE_H
#define DCPI_DEBUG_FILE_H

#include "analysis/image/elf_file.h"

struct file_stamps;
struct image_elf;

#define DEBUG_FILE_DIRECTORY "/usr/lib/debug"

/**
 * struct debug_file_options - zero-initialised: the defaults
 * @directory:  where separate debug files are; NULL: DEBUG_FILE_DIRECTORY
 * @debuginfod: ask the servers in DEBUGINFOD_URLS. Otherwise nothing here ever
 *              uses the network.
 * @stamps:     files that are looked at, or looked for, are noted there, unless NULL
 * @cache:      directory with indexes of symbols, for tools/report/symbol_cache.h; NULL: none
 * @images:     directory with copies of images (lib/image_store.h), for those
 *              whose file is gone or another one by now; NULL: there are none
 */
struct debug_file_options {
	const char *directory;
	bool debuginfod;
	const char *images;
	const char *cache;
	struct file_stamps *stamps;
};

/**
 * debug_file_open() - find the debug file of an image
 * @ret: out; closed by elf_file_close()
 *
 * Return: 0; -ENOENT there is none.
 */
int debug_file_open(struct elf_file *ret, const struct image_elf *image,
		    const struct debug_file_options *options);

#endif
