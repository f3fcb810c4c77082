/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the build-ids of files that other users can write, in a process in a sandbox
 * (daemon/base/sandbox_process.h), "dcpid-elf".
 *
 * The process is started for the first file, and again after it has crashed or has not answered.
 * It gets a descriptor of a file and returns at most IMAGE_BUILD_ID_BYTES_MAX bytes, which need no
 * parsing.
 */
#ifndef DCPI_BUILD_ID_PROCESS_H
#define DCPI_BUILD_ID_PROCESS_H

#include <stdint.h>

#include "daemon/base/sandbox_process.h"
#include "loader-hook/build_id.h"

/* Maximum elapsed time for a file: reading it may block. */
#define BUILD_ID_PROCESS_SECONDS 10

/**
 * struct build_id_process - of one thread
 * @process: private; initialised by BUILD_ID_PROCESS_NONE
 */
struct build_id_process {
	struct sandbox_process process;
};

#define BUILD_ID_PROCESS_NONE ((struct build_id_process){.process.socket = -1})

/**
 * build_id_process_read() - read the build-id of a file
 * @fd:     open for reading
 * @cpu_ns: out: CPU time of the process for it
 *
 * Return: as build_id_from_file(); -EIO: the process crashed or did not answer; -errno: it could
 * not be started.
 */
int build_id_process_read(struct build_id_process *process, struct build_id *ret, int fd,
			  uint64_t *cpu_ns);

/** build_id_process_end() - end the process, if there is one */
void build_id_process_end(struct build_id_process *process);

#endif
