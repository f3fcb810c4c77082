/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The HTTP server of dcpiweb.
 *
 * One thread serves all connections and never blocks: the library is driven by its epoll
 * descriptor, reports run in processes (report_cache.h), and a connection is suspended until its
 * report has ended. Requests are read only: GET and HEAD without a body.
 */
#ifndef DCPI_WEB_SERVER_H
#define DCPI_WEB_SERVER_H

#include <stddef.h>

#include "tools/web/report_cache.h"
#include "tools/web/web_guard.h"
#include "tools/web/web_listener.h"

struct cli;
struct error;

/**
 * struct web_config - all pointers are owned by the caller
 * @cli:         options that apply to all reports
 * @folder:      of the programs
 * @names:       @name_count values of Host that are allowed besides the loopback interface
 * @token:       that clients must have
 * @connections: at a time; more wait in the queue of the socket
 * @live_s:      least time between two requests of a page that follows the database; 0: it does not
 * @request_s:   for a client to send a request
 * @answer_s:    for a client to read an answer
 */
struct web_config {
	const struct cli *cli;
	const char *folder;
	const char *const *names;
	size_t name_count;
	const struct web_token *token;
	struct report_limits limits;
	unsigned int connections;
	unsigned int live_s;
	unsigned int request_s;
	unsigned int answer_s;
};

/**
 * web_server_run() - serve until SIGINT or SIGTERM
 * @listener: listens
 *
 * Return: 0, or -errno if the server cannot start.
 */
int web_server_run(const struct web_config *config, const struct web_listener *listener,
		   struct error *err);

#endif
