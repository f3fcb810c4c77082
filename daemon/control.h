/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: a Unix stream socket with line-based requests.
 *
 *	request:  VERB [ARGUMENT]\n
 *	reply:    any number of "KEY VALUE\n", then "ok\n" or "error MESSAGE\n"
 *
 * Peers may be root, the daemon's own user, or members of a group; other connections are closed. No
 * peer can block the daemon or use much of its memory. The number of peers, the buffers in both
 * directions, and the time without progress are limited. A request is read only after the reply to
 * the previous one has been read.
 */
#ifndef DCPI_CONTROL_H
#define DCPI_CONTROL_H

#include <stdint.h>

struct control;
struct control_reply;
struct error;

#define CONTROL_REQUEST_BYTES 512
#define CONTROL_REPLY_BYTES 16384
#define CONTROL_PEERS_MAX 16
/* Maximum time to wait for the rest of a line, or until a peer reads. */
#define CONTROL_IDLE_NS 10000000000ULL

/**
 * control_fn() - handle a request
 * @verb:     first word
 * @argument: the rest, "" if there is none
 * @reply:    filled with control_reply_value(), control_reply_error()
 */
typedef void (*control_fn)(void *context, const char *verb, const char *argument,
			   struct control_reply *reply);

/**
 * control_open() - listen
 * @path:  of the socket; a stale socket without a listener is replaced. The directory is created if
 *         its parent exists.
 * @group: its members may connect; NULL or a group that does not exist: none
 *
 * Return: 0; -EADDRINUSE if another daemon listens there; errors of bind(2).
 */
int control_open(struct control **ret, const char *path, const char *group, control_fn handle,
		 void *context, struct error *err);

/** control_close() - close all connections, remove the socket. @control may be NULL. */
void control_close(struct control *control);

/**
 * control_poll_fd() - return a descriptor that is readable when control_dispatch() should be
 * called.
 */
int control_poll_fd(const struct control *control);

/**
 * control_dispatch() - accept, read, handle and write as far as possible without blocking
 *
 * A connection that cannot be accepted, for lack of descriptors or memory, waits until the next
 * control_expire().
 */
void control_dispatch(struct control *control);

/**
 * control_expire() - close connections without progress, and retry accepting pending ones
 *
 * To be called regularly, with the monotonic time.
 */
void control_expire(struct control *control, uint64_t now_ns);

/** control_peers() - return the number of connected peers. */
unsigned int control_peers(const struct control *control);

/**
 * control_reply_value() - add a line; newlines become blanks; it is an error if the line does not
 * fit.
 */
void control_reply_value(struct control_reply *reply, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** control_reply_error() - report that the request has failed. */
void control_reply_error(struct control_reply *reply, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
