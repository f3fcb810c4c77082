/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the debuginfod servers in DEBUGINFOD_URLS, by build-id.
 *
 * Servers are asked by HTTP, several files at once. libcurl is loaded for the first request. A
 * server that cannot be reached, stops sending, or sends another file is not asked again while the
 * program runs. "Not found" is not a failure. The total waiting time is bounded.
 *
 * DCPI_DEBUGINFOD_SECONDS   seconds to wait, all files together (10)
 * DEBUGINFOD_TIMEOUT        seconds without data until a server counts as failed (5, or fewer)
 */
#ifndef DCPI_DEBUG_SERVER_H
#define DCPI_DEBUG_SERVER_H

#include <stddef.h>
#include <stdint.h>

#define DEBUG_SERVER_ID_BYTES_MAX 64
#define DEBUG_SERVER_REQUESTS_MAX 128 /* capacity of a packet of lib/broker.h */

enum debug_server_kind {
	DEBUG_SERVER_EXECUTABLE,
	DEBUG_SERVER_DEBUGINFO,
};

/** struct debug_server_request - a requested file; @id: build-id of @bytes bytes */
struct debug_server_request {
	enum debug_server_kind kind;
	uint8_t id[DEBUG_SERVER_ID_BYTES_MAX];
	size_t bytes;
};

/**
 * struct debug_server_listener - callbacks for progress and failures
 * @failed:   a server failed, or the time is over: a message, once for each server
 * @progress: @done of @all files have an answer; called about every 100 ms
 * @end:      the last call for a series of requests
 */
struct debug_server_listener {
	void (*failed)(void *context, const char *message);
	void (*progress)(void *context, size_t done, size_t all);
	void (*end)(void *context);
	void *context;
};

/** debug_server_listen() - set the listener; @listener must stay valid. NULL: none. */
void debug_server_listen(const struct debug_server_listener *listener);

/**
 * debug_server_fetch() - fetch several files in parallel
 *
 * debug_server_find() returns the results afterwards. Any thread may call both.
 */
void debug_server_fetch(const struct debug_server_request *requests, size_t count);

/**
 * debug_server_find() - fetch one file from a server, or from the cache of earlier answers
 *
 * The file has the build-id.
 *
 * Return: its path, malloc'd; NULL if no server has it or can be asked.
 */
char *debug_server_find(enum debug_server_kind kind, const uint8_t *id, size_t bytes);

/** debug_server_id() - write the build-id in hexadecimal. */
void debug_server_id(char ret[2 * DEBUG_SERVER_ID_BYTES_MAX + 1],
		     const struct debug_server_request *request);

/** debug_server_kind_name() - return the kind's name in URLs and in the cache: "debuginfo". */
const char *debug_server_kind_name(enum debug_server_kind kind);

#endif
