/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists all processes, and all threads of a process, from /proc. */
#ifndef DCPI_PROCESS_LIST_H
#define DCPI_PROCESS_LIST_H

#include <stdint.h>

struct error;

/** process_list_fn - visitor; @id: of a process or a thread */
typedef void (*process_list_fn)(void *context, uint32_t id);

/**
 * process_list_walk() - visit each process
 *
 * Return: 0, or a negative errno if /proc cannot be read.
 */
int process_list_walk(process_list_fn visit, void *context, struct error *err);

/**
 * process_list_threads() - visit each thread of a process, including its leader
 *
 * Return: 0, or a negative errno if there is no such process.
 */
int process_list_threads(uint32_t pid, process_list_fn visit, void *context);

#endif
