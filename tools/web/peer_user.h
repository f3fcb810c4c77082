/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user of the process at the other end of a connection over the loopback interface.
 *
 * Every user of a machine can connect to a port, but the database may be readable to few. The
 * kernel's tables of connections (/proc/net/tcp, /proc/net/tcp6) have the owner of each socket.
 */
#ifndef DCPI_PEER_USER_H
#define DCPI_PEER_USER_H

#include <sys/types.h>

struct error;

/**
 * peer_user() - find the owner of the other socket
 * @fd:  a connected TCP socket; both ends are on this machine
 * @ret: out
 *
 * Return: 0; -ENOENT: the tables do not have it, because the peer is on another machine or has
 * closed its socket; or the error of reading the tables.
 */
int peer_user(int fd, uid_t *ret, struct error *err);

#endif
