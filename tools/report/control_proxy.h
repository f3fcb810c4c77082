/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon's control socket for a report in a sandbox. The daemon judges requests by the user of
 * the connected process. A separate process therefore passes on only the two requests of reports,
 * "status" and "flush".
 */
#ifndef DCPI_CONTROL_PROXY_H
#define DCPI_CONTROL_PROXY_H

/**
 * control_proxy_start() - connect to the daemon
 * @socket: its path; NULL: not allowed
 *
 * Return: the report's end of the connection, or -errno.
 */
int control_proxy_start(const char *socket);

#endif
