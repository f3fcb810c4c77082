/* SPDX-License-Identifier: GPL-2.0-only */
/* Telling the service manager how we are: sd_notify(3), without its library. */
#ifndef DCPI_NOTIFY_H
#define DCPI_NOTIFY_H

/**
 * notify_state() - send "READY=1", "WATCHDOG=1", "STOPPING=1", "STATUS=..."
 *
 * To the socket in $NOTIFY_SOCKET; without one, nothing. Never blocks, never
 * fails: nobody could do anything about it.
 */
void notify_state(const char *state);

#endif
