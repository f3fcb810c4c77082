/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process has mapped, line by line. */
#ifndef DCPI_PROCESS_MAPS_H
#define DCPI_PROCESS_MAPS_H

#include <stdint.h>
#include <stdio.h>

/**
 * process_maps_open() - /proc/PID/maps, from its beginning
 *
 * It is empty where a process's first thread has ended before the others: then one of theirs
 * is opened, which have the same memory. Kernel threads and processes that have ended have an
 * empty one.
 *
 * Return: to be closed by the caller; NULL: none can be opened, errno says why.
 */
FILE *process_maps_open(uint32_t pid);

#endif
