/* SPDX-License-Identifier: GPL-2.0-only */
/* Notification of the service manager: sd_notify(3), without its library. */
#ifndef DCPI_NOTIFY_H
#define DCPI_NOTIFY_H

/**
 * notify_state() - send "READY=1", "WATCHDOG=1", "STOPPING=1", "STATUS=..."
 *
 * Sends to the socket in $NOTIFY_SOCKET; without one, does nothing. Never blocks. Errors are
 * ignored, because there is no way to handle them.
 */
void notify_state(const char *state);

#endif
