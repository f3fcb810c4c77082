/* SPDX-License-Identifier: GPL-2.0-only */
/* The socket that a server listens on. */
#ifndef DCPI_WEB_LISTENER_H
#define DCPI_WEB_LISTENER_H

#include <stdbool.h>

struct error;

#define WEB_LISTENER_BYTES 160

/**
 * struct web_listener - a listening socket
 * @path:     of a Unix socket; NULL: TCP
 * @loopback: only processes of this machine can connect
 * @host:     the address in the form of a header Host: "127.0.0.1", "[::1]"; "" for a Unix socket
 * @url:      for a message
 */
struct web_listener {
	int fd;
	const char *path;
	bool loopback;
	char host[WEB_LISTENER_BYTES];
	char url[WEB_LISTENER_BYTES];
};

/**
 * web_listener_open_tcp() - listen on an address
 * @address: ADDRESS:PORT, numeric; an IPv6 address in brackets. PORT 0: any that is free
 *
 * Return: 0; -EINVAL: not an address; or the error of bind(2).
 */
int web_listener_open_tcp(struct web_listener *listener, const char *address, struct error *err);

/**
 * web_listener_open_unix() - listen on a Unix socket
 * @path:  owned by the caller
 * @group: its members may connect, besides the user of this process; NULL: no other user
 *
 * Return: 0; as of local_socket_bind(); -EINVAL: no such group; or the error of chown(2).
 */
int web_listener_open_unix(struct web_listener *listener, const char *path, const char *group,
			   struct error *err);

/** web_listener_close() - close the socket, and remove the name of a Unix socket */
void web_listener_close(struct web_listener *listener);

#endif
