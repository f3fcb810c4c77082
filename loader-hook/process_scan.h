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

/** process_scan_pause_fn - called after each process of a scan of all */
typedef void (*process_scan_pause_fn)(void *context);

/**
 * process_scan_all() - report every process
 * @pause:   whoever records events reads them here: on a busy machine a scan may take longer
 *           than its rings have room for. NULL: nobody
 * @context: of both
 *
 * Processes that vanish meanwhile or may not be read are passed over.
 *
 * Return: number of processes reported, or a negative errno if /proc cannot
 * be read at all.
 */
int process_scan_all(image_event_fn handle, process_scan_pause_fn pause, void *context,
		     struct error *err);

#endif
