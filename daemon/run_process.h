/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that dcpirun profiles without having started it. */
#ifndef DCPI_RUN_PROCESS_H
#define DCPI_RUN_PROCESS_H

struct error;

/**
 * run_process_open() - open a process
 * @ret: out: a descriptor that is readable when the process has ended; the caller's
 *
 * Return: 0; the error of pidfd_open(2).
 */
int run_process_open(int *ret, unsigned int pid, struct error *err);

/** run_process_label() - return a text for its epoch, the caller's; NULL: no memory */
char *run_process_label(unsigned int pid);

#endif
