/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build-id, which identifies a file of code. (Files without one: lib/file_digest.h.)
 *
 * Files are read with pread(2) only, never mapped: a file that is truncated while it is being read
 * gives an error, not SIGBUS. The bytes read and allocated are bounded, regardless of the contents
 * of the file.
 */
#ifndef DCPI_BUILD_ID_H
#define DCPI_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

/** struct build_id - NT_GNU_BUILD_ID; a longer one is truncated, as in the kernel */
struct build_id {
	uint8_t data[IMAGE_BUILD_ID_BYTES_MAX];
	size_t bytes;
};

/**
 * build_id_from_notes() - find the build-id in ELF notes of this machine's byte order, such as a
 * PT_NOTE segment or /sys/kernel/notes
 * @alignment: 8 if the segment header says so, else 4
 *
 * Return: 0; -ENOENT: the notes contain no build-id.
 */
int build_id_from_notes(struct build_id *ret, const void *notes, size_t bytes, size_t alignment);

/**
 * build_id_from_file() - read the build-id of an ELF file
 * @fd: open for reading, a regular file
 *
 * Return: 0; -ENOENT: the file has none; -ENOEXEC: the file is not an ELF file that this machine
 * could run; or the error of pread(2).
 */
int build_id_from_file(struct build_id *ret, int fd);

#endif
