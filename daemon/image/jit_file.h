/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in which a process lists its JIT code.
 *
 * The process chooses their paths. So only regular files are opened that the process may read, and
 * that belong to the process's user or to root. They are found within the root directory of the
 * process, not through a symbolic link as last component. Files of file systems that contain only
 * the kernel's data are not opened.
 */
#ifndef DCPI_JIT_FILE_H
#define DCPI_JIT_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct image_event;

/**
 * struct jit_file - a file
 * @fd:             -1: there is none, or it is not open
 * @device, @inode: 0: there is none
 * @user:           effective user of the process
 */
struct jit_file {
	int fd;
	uint32_t user;
	uint64_t device;
	uint64_t inode;
};

void jit_file_close(struct jit_file *file);

/**
 * jit_file_open_map() - open a process's perf map, /tmp/perf-PID.map
 * @since_ns: when the program began, CLOCK_MONOTONIC; 0: with the process
 *
 * Uses the root directory and the process id that the process itself sees. A map last written
 * before @since_ns belongs to an earlier program with that id.
 *
 * Return: 0; -ENOENT if there is none, or it cannot be trusted; -ESRCH if the process is gone;
 * -EACCES.
 */
int jit_file_open_map(struct jit_file *file, uint32_t pid, uint64_t since_ns);

/**
 * jit_file_open_ended() - open the perf map of a process that has ended
 *
 * The owner of an ended process is unknown. The file must belong to the effective user of this
 * process, or to root. Uses the root directory of this process.
 *
 * Return: as of jit_file_open_map().
 */
int jit_file_open_ended(struct jit_file *file, uint32_t pid);

/**
 * jit_file_is_older() - return true if an open file was certainly last written before a time
 * @time_ns: CLOCK_MONOTONIC
 */
bool jit_file_is_older(const struct jit_file *file, uint64_t time_ns);

/** jit_file_is_unlinked() - return true if an open file no longer has a name. */
bool jit_file_is_unlinked(const struct jit_file *file);

/** jit_file_is_dump() - return true if an event maps a jitdump, according to its name. */
bool jit_file_is_dump(const struct image_event *event);

/** jit_file_open_dump() - open the jitdump that an event maps; as jit_file_open_map(). */
int jit_file_open_dump(struct jit_file *file, const struct image_event *event);

/** jit_file_same() - return true if both are the same file; neither need be open. */
bool jit_file_same(const struct jit_file *a, const struct jit_file *b);

#endif
