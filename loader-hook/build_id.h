/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What identifies a file of code: its build-id. (If it has none: lib/file_digest.h.)
 *
 * Files are read with pread(2) only, never mapped: a file that is cut off
 * while it is being read gives an error, not SIGBUS. Whatever a file says
 * about itself, what is read and allocated is bounded.
 */
#ifndef DCPI_BUILD_ID_H
#define DCPI_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

/** struct build_id - NT_GNU_BUILD_ID; a longer one is cut, as the kernel does. */
struct build_id {
	uint8_t data[IMAGE_BUILD_ID_BYTES_MAX];
	size_t bytes;
};

/**
 * build_id_from_notes() - find the build-id in ELF notes of this machine's
 * byte order, such as a PT_NOTE segment or /sys/kernel/notes
 * @alignment: 8 if the segment says so, else 4
 *
 * Return: 0; -ENOENT there is none.
 */
int build_id_from_notes(struct build_id *ret, const void *notes, size_t bytes, size_t alignment);

/**
 * build_id_from_file() - the build-id of an ELF file
 * @fd: open for reading, a regular file
 *
 * Return: 0; -ENOENT it has none; -ENOEXEC it is no ELF file that this machine
 * could run; or the error of pread(2).
 */
int build_id_from_file(struct build_id *ret, int fd);

#endif
