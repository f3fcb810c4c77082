/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of processes and threads in /proc. */
#ifndef DCPI_PROCESS_COMMAND_H
#define DCPI_PROCESS_COMMAND_H

#include <stdint.h>

#define PROCESS_COMMAND_BYTES 64

/**
 * process_command_read() - read the name of a thread; "" if it cannot be read
 * @tid: equals @pid for the first thread, whose name is that of the process
 */
void process_command_read(uint32_t pid, uint32_t tid, char command[PROCESS_COMMAND_BYTES]);

#endif
