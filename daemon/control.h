/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: a Unix stream socket, one line a request.
 *
 *	request:  VERB [ARGUMENT]\n
 *	reply:    any number of "KEY VALUE\n", then "ok\n" or "error MESSAGE\n"
 *
 * Peers may be root, the daemon's own user, or members of a group; others are
 * hung up on. No peer can block the daemon or make it grow: a fixed number of
 * peers, a fixed buffer each way, one request at a time, the next one only
 * when the reply has been read, and a limit on the time without progress.
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
/* How long a peer may keep us waiting for the rest of a line or for reading. */
#define CONTROL_IDLE_NS 10000000000ULL

/**
 * control_fn() - handle a request
 * @verb:     first word
 * @argument: the rest, "" if there is none
 * @reply:    to be filled with control_reply_value(), control_reply_error()
 */
typedef void (*control_fn)(void *context, const char *verb, const char *argument,
			   struct control_reply *reply);

/**
 * control_open() - listen
 * @path:  of the socket; a stale one, where nobody listens, is replaced. The
 *         directory is created if only it is missing.
 * @group: whose members may connect, or NULL; one that does not exist is none
 *
 * Return: 0; -EADDRINUSE another daemon listens there; errors of bind(2).
 */
int control_open(struct control **ret, const char *path, const char *group, control_fn handle,
		 void *context, struct error *err);

/** control_close() - hang up on everybody, remove the socket. NULL is fine. */
void control_close(struct control *control);

/** control_poll_fd() - readable when control_dispatch() has something to do. */
int control_poll_fd(const struct control *control);

/**
 * control_dispatch() - accept, read, handle, write: whatever can be done at once
 *
 * Who cannot be accepted, since there is no descriptor or memory for it, waits up to the next
 * control_expire().
 */
void control_dispatch(struct control *control);

/**
 * control_expire() - hang up on peers without progress, try again to accept who waits
 *
 * To be called now and then, with the monotonic time.
 */
void control_expire(struct control *control, uint64_t now_ns);

/** control_peers() - peers connected. */
unsigned int control_peers(const struct control *control);

/** control_reply_value() - add a line; newlines become blanks; what does not fit is an error. */
void control_reply_value(struct control_reply *reply, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** control_reply_error() - the request has failed. */
void control_reply_error(struct control_reply *reply, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
