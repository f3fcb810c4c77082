/* SPDX-License-Identifier: GPL-2.0-only */
/* Unix sockets that have a name in the file system. */
#ifndef DCPI_LOCAL_SOCKET_H
#define DCPI_LOCAL_SOCKET_H

#include <sys/stat.h>

struct error;

/** LOCAL_SOCKET_PATH_BYTES - of a path, with its NUL */
#define LOCAL_SOCKET_PATH_BYTES 108

/**
 * local_socket_bind() - a socket by that name, made together with its folder
 * @type: SOCK_STREAM or SOCK_DGRAM; it does not block, and is closed by exec
 * @mode: permissions of the name; whoever may write can connect or send
 *
 * A name that a dead process has left is taken over.
 *
 * Return: the descriptor, the caller's, as is the name; -EADDRINUSE somebody listens
 * there, or it is no socket; -EINVAL the path is too long; else the error of bind(2).
 */
int local_socket_bind(const char *path, int type, mode_t mode, struct error *err);

#endif
