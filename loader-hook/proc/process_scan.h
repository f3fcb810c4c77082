/* SPDX-License-Identifier: GPL-2.0-only */
/* Image events for processes that already run, from /proc. */
#ifndef DCPI_PROCESS_SCAN_H
#define DCPI_PROCESS_SCAN_H

#include "loader-hook/image_event.h"

struct error;

/**
 * process_scan() - report the current state of a process
 *
 * Emits FORK (parent 0), RENAME and one MAP for each executable mapping, all with @scanned set.
 *
 * Paths are as in perf records: a newline is a newline. "\012" remains four characters if map_files
 * can be read to distinguish the two.
 *
 * Return: 0; -ESRCH: the process is gone (process_is_gone()), or ended during the scan; -EACCES.
 */
int process_scan(uint32_t pid, image_event_fn handle, void *context, struct error *err);

/**
 * process_scan_list() - list all processes, in the order in which to scan them
 * @pids: out; the caller frees it
 *
 * Processes of different users alternate, so that a user with very many processes does not delay
 * the scan of other users' first processes.
 *
 * Return: 0, or a negative errno if /proc cannot be read.
 */
int process_scan_list(uint32_t **pids, size_t *count, struct error *err);

#endif
