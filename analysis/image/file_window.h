/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a file in memory, read when it is asked for, in chunks: of a big
 * section only what is looked at costs time and memory. Bytes never move.
 */
#ifndef DCPI_FILE_WINDOW_H
#define DCPI_FILE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/** struct file_window - fields are private. */
struct file_window {
	uint8_t *memory;
	uint8_t *loaded; /* a byte for each chunk */
	uint64_t offset;
	uint64_t bytes;
	int fd;
};

/**
 * file_window_init() - @bytes bytes at @offset of a file
 * @fd: stays the caller's, and open
 *
 * Nothing is read and no memory touched yet.
 */
void file_window_init(struct file_window *window, int fd, uint64_t offset, uint64_t bytes);

void file_window_deinit(struct file_window *window);

/**
 * file_window_get() - bytes of it
 * @at: from the window's beginning
 *
 * Return: valid until the end; NULL if they are not all there or cannot be read.
 */
const uint8_t *file_window_get(struct file_window *window, uint64_t at, uint64_t bytes);

#endif
