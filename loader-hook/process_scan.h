/* SPDX-License-Identifier: GPL-2.0-only */
/* Image events for the processes that run already, from /proc. */
#ifndef DCPI_PROCESS_SCAN_H
#define DCPI_PROCESS_SCAN_H

#include "loader-hook/image_event.h"

struct error;

/**
 * process_scan() - report one process as it is now
 *
 * Emits FORK (parent 0), RENAME and one MAP for each executable mapping, all
 * with @scanned set.
 *
 * The paths are as in perf records: a newline is a newline, "\012" stays four
 * characters where map_files may be read to tell.
 *
 * Return: 0; -ESRCH it is gone (process_is_gone()), perhaps half way; -EACCES.
 */
int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err);

/**
 * process_scan_list() - the processes there are, in the order in which to scan them
 * @pids: out; the caller frees it
 *
 * The processes of one user come between those of all others, so that a user with very many
 * processes delays the scan of no other user's first ones.
 *
 * Return: 0, or a negative errno if /proc cannot be read at all.
 */
int process_scan_list(uint32_t **pids, size_t *count, struct error *err);

#endif
