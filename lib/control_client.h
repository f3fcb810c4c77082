/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send requests to the daemon through its control socket; daemon/control.h describes the protocol.
 *
 * A request can wait for its reply. It can also be sent and its reply received in pieces as they
 * arrive, so that a program with a screen does not block.
 */
#ifndef DCPI_CONTROL_CLIENT_H
#define DCPI_CONTROL_CLIENT_H

#include <stdbool.h>

struct control_client;
struct error;

/* Where the daemon listens by default. */
#define CONTROL_CLIENT_SOCKET "/run/dcpi/dcpid.sock"

/** Called for each line of a reply. */
typedef void (*control_client_fn)(void *context, const char *key, const char *value);

/**
 * control_client_open() - connect
 * @ret: out; freed by control_client_close()
 *
 * Return: 0; -ENAMETOOLONG; -ENOMEM; errors of connect(2).
 */
int control_client_open(struct control_client **ret, const char *path, struct error *err);

/** control_client_from() - use a connected socket, which is taken over. Return: 0 or -ENOMEM. */
int control_client_from(struct control_client **ret, int fd, struct error *err);

/** control_client_failed() - describe why connect(2) failed. Return: -@errnum. */
int control_client_failed(const char *path, int errnum, struct error *err);

/** control_client_close() - hang up. NULL is fine. */
void control_client_close(struct control_client *client);

/** control_client_fd() - return the descriptor to wait for before control_client_receive(). */
int control_client_fd(const struct control_client *client);

/**
 * control_client_send() - send a request, without its newline
 *
 * Return: 0; -EINVAL the request has more than one line, or is too long; errors of send(2).
 */
int control_client_send(struct control_client *client, const char *request, struct error *err);

/**
 * control_client_receive() - process the received part of a reply
 * @line: called for each value
 * @wait: wait until the reply is complete
 *
 * Return: 0 the reply is complete; -EAGAIN not yet (never if @wait); -EREMOTEIO the daemon refused,
 * @err has its message; -ECONNRESET the daemon hung up; -EBADMSG; errors of recv(2).
 */
int control_client_receive(struct control_client *client, control_client_fn line, void *context,
			   bool wait, struct error *err);

/** control_client_ask() - send, and wait for the reply. */
int control_client_ask(struct control_client *client, const char *request, control_client_fn line,
		       void *context, struct error *err);

/** control_client_wait_end() - wait until the daemon hangs up. */
void control_client_wait_end(struct control_client *client);

#endif
