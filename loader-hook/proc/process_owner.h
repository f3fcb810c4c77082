/* SPDX-License-Identifier: GPL-2.0-only */
/* The user that is accountable for a process. */
#ifndef DCPI_PROCESS_OWNER_H
#define DCPI_PROCESS_OWNER_H

#include <stdint.h>

/**
 * process_owner() - find the user whose quota a process uses
 * @uid: out: the real uid of the process. In a user namespace below that of this process: the uid
 * of the creator of the outermost such namespace, because the creator chooses the uids inside. If
 * the creator is root, which gives containers separate ranges, the uid of the process.
 *
 * Programs that run setuid count for the user that started them.
 *
 * Return: 0; -ESRCH: the process is gone, or may not be inspected.
 */
int process_owner(uint32_t pid, uint32_t *uid);

#endif
