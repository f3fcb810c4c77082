/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the daemon store the samples that it holds, so that current ones are read. If no daemon
 * answers, or it writes to another database, the samples are those of its own last merge.
 */
#ifndef DCPI_TOP_FLUSH_H
#define DCPI_TOP_FLUSH_H

#include "lib/control_client.h"
#include "lib/error.h"

/** enum top_flush_state - reply that is awaited */
enum top_flush_state {
	TOP_FLUSH_IDLE,
	TOP_FLUSH_STATUS, /* the database to which the daemon writes */
	TOP_FLUSH_FLUSH,
};

/**
 * struct top_flush - strings are owned by the caller
 * @socket:   path; NULL: no request is sent to the daemon
 * @database: path
 * @problem:  reason why samples are not current; its message is "" if they are
 *
 * The rest is private; initially zero.
 */
struct top_flush {
	const char *socket;
	const char *database;
	struct error problem;
	struct control_client *client;
	enum top_flush_state state;
	int same; /* it writes to @database */
};

/** top_flush_begin() - send a request, unless a reply is still awaited */
void top_flush_begin(struct top_flush *flush);

/**
 * top_flush_receive() - read replies of the daemon
 * @wait: wait until it is done
 *
 * Return: 0: it has stored all samples, or there is a problem; -EAGAIN: not yet.
 */
int top_flush_receive(struct top_flush *flush, int wait);

/** top_flush_fd() - descriptor that is readable when a reply waits; -1: none is awaited */
int top_flush_fd(const struct top_flush *flush);

void top_flush_deinit(struct top_flush *flush);

#endif
