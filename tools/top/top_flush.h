/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has the daemon store what it holds, so that what is read is of now. Where nobody
 * answers, or the daemon writes to another database, samples are as of its own merges.
 */
#ifndef DCPI_TOP_FLUSH_H
#define DCPI_TOP_FLUSH_H

#include "lib/control_client.h"
#include "lib/error.h"

/** enum top_flush_state - what we wait for. */
enum top_flush_state {
	TOP_FLUSH_IDLE,
	TOP_FLUSH_STATUS, /* which database it writes to */
	TOP_FLUSH_FLUSH,
};

/**
 * struct top_flush - strings are the caller's
 * @socket:   path; NULL: the daemon is not asked
 * @database: path
 * @problem:  why samples are not of now; message is "" if they are
 *
 * The rest is private; zero at first.
 */
struct top_flush {
	const char *socket;
	const char *database;
	struct error problem;
	struct control_client *client;
	enum top_flush_state state;
	int same; /* it writes to our database */
};

/** top_flush_begin() - ask; nothing if a reply is still to come. */
void top_flush_begin(struct top_flush *flush);

/**
 * top_flush_receive() - take what the daemon says
 * @wait: until it is done
 *
 * Return: 0 it has stored all, or there is a problem; -EAGAIN not yet.
 */
int top_flush_receive(struct top_flush *flush, int wait);

/** top_flush_fd() - readable when there is something to receive; -1: nothing to wait for. */
int top_flush_fd(const struct top_flush *flush);

void top_flush_deinit(struct top_flush *flush);

#endif
