/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in which a process tells of its JIT code.
 *
 * They are where the process says: so only regular files are opened, which
 * belong to the process' user or to root, without following a symbolic link
 * to them, and within the root directory of the process.
 */
#ifndef DCPI_JIT_FILE_H
#define DCPI_JIT_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct image_event;

/** struct jit_file - an open file; @fd is -1: none */
struct jit_file {
	int fd;
	uint64_t device;
	uint64_t inode;
};

void jit_file_close(struct jit_file *file);

/**
 * jit_file_open_map() - open a process' perf map, /tmp/perf-PID.map
 *
 * With the root directory and the process id that the process itself sees.
 *
 * Return: 0; -ENOENT there is none, or one that is not to be believed; -ESRCH
 * the process is gone; -EACCES.
 */
int jit_file_open_map(struct jit_file *file, uint32_t pid);

/** jit_file_is_dump() - whether an event maps a jitdump, by its name. */
bool jit_file_is_dump(const struct image_event *event);

/** jit_file_open_dump() - open the jitdump that an event maps; as jit_file_open_map(). */
int jit_file_open_dump(struct jit_file *file, const struct image_event *event);

/** jit_file_same() - whether two are the same file. */
bool jit_file_same(const struct jit_file *a, const struct jit_file *b);

#endif
