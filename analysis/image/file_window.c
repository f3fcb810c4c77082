// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/file_window.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/file_read.h"

#define CHUNK_BYTES (UINT64_C(1) << 17)

void file_window_init(struct file_window *window, int fd, uint64_t offset, uint64_t bytes)
{
	*window = (struct file_window){.offset = offset, .bytes = bytes, .fd = fd};
}

void file_window_deinit(struct file_window *window)
{
	free(window->memory);
	free(window->loaded);
	*window = (struct file_window){.fd = -1};
}

/* Large blocks come from mmap: untouched parts take no memory. */
static bool allocate(struct file_window *window)
{
	if (window->memory != NULL)
		return true;
	window->loaded = calloc(window->bytes / CHUNK_BYTES + 1, 1);
	if (window->loaded == NULL)
		return false;
	window->memory = malloc(window->bytes);
	if (window->memory != NULL)
		return true;
	free(window->loaded);
	window->loaded = NULL;
	return false;
}

static bool file_window_load(struct file_window *window, uint64_t chunk)
{
	uint64_t at = chunk * CHUNK_BYTES, bytes = window->bytes - at;

	if (window->loaded[chunk])
		return true;
	if (bytes > CHUNK_BYTES)
		bytes = CHUNK_BYTES;
	if (file_read_exactly(window->fd, window->memory + at, bytes, window->offset + at) < 0)
		return false;
	window->loaded[chunk] = 1;
	return true;
}

const uint8_t *file_window_get(struct file_window *window, uint64_t at, uint64_t bytes)
{
	if (bytes == 0 || at >= window->bytes || bytes > window->bytes - at || !allocate(window))
		return NULL;
	for (uint64_t chunk = at / CHUNK_BYTES; chunk <= (at + bytes - 1) / CHUNK_BYTES; chunk++) {
		if (!file_window_load(window, chunk))
			return NULL;
	}
	return window->memory + at;
}
