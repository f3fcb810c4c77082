/* SPDX-License-Identifier: GPL-2.0-only */
/* Unix sockets that have a name in the file system. */
#ifndef DCPI_LOCAL_SOCKET_H
#define DCPI_LOCAL_SOCKET_H

#include <sys/stat.h>

struct error;

/** LOCAL_SOCKET_PATH_BYTES - maximum length of a path, with its NUL */
#define LOCAL_SOCKET_PATH_BYTES 108

/**
 * local_socket_bind() - create a socket with a name, and the folder of the name
 * @type: SOCK_STREAM or SOCK_DGRAM; the socket is non-blocking and close-on-exec
 * @mode: permissions of the name; processes that may write it can connect or send
 *
 * A name that a dead process has left is reused.
 *
 * Return: the descriptor; -EADDRINUSE a process listens there, or the file is not a socket; -EINVAL
 * the path is too long; else the error of bind(2). The caller owns the descriptor and the name.
 */
int local_socket_bind(const char *path, int type, mode_t mode, struct error *err);

#endif
