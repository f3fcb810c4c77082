/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of debuginfod servers, those of DEBUGINFOD_URLS, by build-id. */
#ifndef DCPI_DEBUG_SERVER_H
#define DCPI_DEBUG_SERVER_H

#include <stddef.h>
#include <stdint.h>

enum debug_server_kind {
	DEBUG_SERVER_EXECUTABLE,
	DEBUG_SERVER_DEBUGINFO,
};

/**
 * debug_server_find() - get a file from a server, or from the cache of earlier answers
 *
 * The file is not checked.
 *
 * Return: its path, malloc'd; NULL: no server has it, or it cannot be asked.
 */
char *debug_server_find(enum debug_server_kind kind, const uint8_t *id, size_t bytes);

#endif
