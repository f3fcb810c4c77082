/* SPDX-License-Identifier: GPL-2.0-only */
/* All processes there are, from /proc. */
#ifndef DCPI_PROCESS_LIST_H
#define DCPI_PROCESS_LIST_H

#include <stdint.h>

struct error;

typedef void (*process_list_fn)(void *context, uint32_t pid);

/**
 * process_list_walk() - visit each
 *
 * Return: 0, or a negative errno if /proc cannot be read at all.
 */
int process_list_walk(process_list_fn visit, void *context, struct error *err);

#endif
