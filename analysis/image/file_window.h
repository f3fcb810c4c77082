/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a file in memory, read on demand in chunks: only the accessed part of a large section
 * costs time and memory. Bytes never move.
 */
#ifndef DCPI_FILE_WINDOW_H
#define DCPI_FILE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/** struct file_window - fields are private. */
struct file_window {
	uint8_t *memory;
	uint8_t *loaded; /* one byte for each chunk */
	uint64_t offset;
	uint64_t bytes;
	int fd;
};

/**
 * file_window_init() - prepare access to @bytes bytes at @offset of a file
 * @fd: owned by the caller; must stay open
 *
 * Nothing is read or allocated yet.
 */
void file_window_init(struct file_window *window, int fd, uint64_t offset, uint64_t bytes);

void file_window_deinit(struct file_window *window);

/**
 * file_window_get() - return bytes of the window
 * @at: offset from the window's beginning
 *
 * Return: valid until file_window_deinit(); NULL if some are outside or cannot be read.
 */
const uint8_t *file_window_get(struct file_window *window, uint64_t at, uint64_t bytes);

#endif
