/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Image events: changes of a process's address space.
 *
 * All producers (the BPF program, perf side-band records, scans of /proc, the LD_AUDIT library)
 * emit this one structure; the image map is its only consumer.
 */
#ifndef DCPI_IMAGE_EVENT_H
#define DCPI_IMAGE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_BYTES_MAX 20

/* A generation may be 0, a known version is not 0. */
#define IMAGE_EVENT_VERSION(generation) (1ULL << 32 | (uint32_t)(generation))

enum image_event_type {
	IMAGE_EVENT_FORK,   /* @pid is a new process, a copy of @parent */
	IMAGE_EVENT_EXEC,   /* @pid's address space is a new, empty one; @path: command name */
	IMAGE_EVENT_MAP,    /* executable memory appeared */
	IMAGE_EVENT_EXIT,   /* the whole process @pid ended */
	IMAGE_EVENT_RENAME, /* @path: new command name of @pid */
	/* @path: name of code that the kernel generated at run time; @start, @bytes: its range */
	IMAGE_EVENT_KERNEL_CODE,
	IMAGE_EVENT_UNMAP, /* the executable memory in a range was unmapped */
	/* Events of @pid (0: of any process) may be missing, from @time_ns to @until_ns. */
	IMAGE_EVENT_LOST,
};

/**
 * struct image_event - one event
 * @type:           kind of event
 * @pid:            process (thread group) id, in the initial PID namespace; 0: kernel's
 * @parent:         FORK: the process that was copied
 * @time_ns:        CLOCK_MONOTONIC; if @scanned: when the scan read the process
 * @until_ns:       LOST: end of the interval; FORK, if @scanned: when its mappings had been read
 * @has_generation: @generation is known
 * @generation:     the kernel's exec count of @pid; EXEC: the new one
 * @start:          MAP, UNMAP: first address
 * @bytes:          MAP, UNMAP: length
 * @file_offset:    MAP: offset in the file of @start
 * @device, @inode: MAP: the file, 0 if only its build-id is known. Encoded as in stat(2).
 * @version:        MAP: IMAGE_EVENT_VERSION() of the inode's generation, which differs between
 *                  files that successively had this inode number; 0: not known
 * @has_state:      MAP: @file_bytes and @modified_ns are known
 * @file_bytes:     MAP: size of the file
 * @modified_ns:    MAP: time of its last modification, CLOCK_REALTIME
 * @build_id:       MAP: NT_GNU_BUILD_ID
 * @build_id_bytes: length of @build_id; 0: not known
 * @path:           MAP: as the kernel reports it: a path in the process's mount namespace,
 *                  "[vdso]", "//anon", "... (deleted)"
 * @has_user:       MAP: @user and @file_user are known
 * @user:           MAP: real user id of the process, in the initial user namespace, at the time of
 *                  the mapping
 * @file_user:      MAP: the id by which the kernel checked access to files (fsuid), in the same
 *                  namespace
 * @in_exec:        MAP, UNMAP: within the exec that began @generation; no code of that generation
 *                  has run yet
 * @scanned:        found by a scan: the mapping may be older than @time_ns
 *
 * Pointers are valid only while the event is being handled.
 */
struct image_event {
	enum image_event_type type;
	uint32_t pid;
	uint32_t parent;
	uint64_t time_ns;
	uint64_t until_ns;
	bool has_generation;
	uint32_t generation;
	uint64_t start;
	uint64_t bytes;
	uint64_t file_offset;
	uint64_t device;
	uint64_t inode;
	uint64_t version;
	bool has_state;
	uint64_t file_bytes;
	uint64_t modified_ns;
	uint8_t build_id[IMAGE_BUILD_ID_BYTES_MAX];
	size_t build_id_bytes;
	const char *path;
	bool has_user;
	uint32_t user;
	uint32_t file_user;
	bool in_exec;
	bool scanned;
};

/** image_event_fn - consumer of events, which each producer delivers in order of time */
typedef void (*image_event_fn)(void *context, const struct image_event *event);

/**
 * image_event_refuse_fn() - decide whether a change of the mappings of a process is dropped before
 * its record is parsed
 *
 * Return: true if it is dropped.
 */
typedef bool (*image_event_refuse_fn)(void *context, uint32_t pid, uint64_t time_ns);

#endif
