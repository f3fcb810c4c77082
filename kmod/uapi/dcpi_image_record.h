/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Records that the BPF program loader-hook/bpf/image_watch.bpf.c, which watches address spaces,
 * writes into its ring buffer for loader-hook/bpf/bpf_hook.c.
 *
 * Where BPF programs can be attached only through kprobes, dcpi.ko makes all records except FORK
 * and EXIT while DCPI_IMAGES_PATH is open. It passes each record to the programs attached to the
 * tracepoint DCPI_IMAGES_TRACEPOINT, whose arguments are the record and its length. If the layout
 * of records changes, so does the tracepoint's name.
 *
 * The records of a process are in the order of its actions, and the record of its creation comes
 * first.
 */
#ifndef DCPI_IMAGE_RECORD_H
#define DCPI_IMAGE_RECORD_H

#include <linux/types.h>

#define DCPI_IMAGES_NAME "dcpi-images"
#define DCPI_IMAGES_PATH "/dev/dcpi-images"
#define DCPI_IMAGES_TRACEPOINT "dcpi_image_2"

/* Longer paths lose their first directories. */
#define IMAGE_RECORD_PATH_BYTES 4096
#define IMAGE_RECORD_NAME_BYTES 16

enum image_record_type {
	IMAGE_RECORD_FORK,
	IMAGE_RECORD_EXEC,
	IMAGE_RECORD_RENAME,
	IMAGE_RECORD_EXIT,
	IMAGE_RECORD_MAP,
	IMAGE_RECORD_UNMAP,
	IMAGE_RECORD_TYPES,
};

/**
 * struct image_record - the beginning of every record
 * @time_ns:    CLOCK_MONOTONIC
 * @type:       enum image_record_type
 * @pid:        process, in the initial PID namespace
 * @parent:     FORK: the process that forked; MAP, UNMAP: 1 during an exec, so that the process has
 *              executed nothing since the exec began
 * @generation: the process' exec count (task_struct.self_exec_id); EXEC: the
 *              new one
 */
struct image_record {
	__u64 time_ns;
	__u32 type;
	__u32 pid;
	__u32 parent;
	__u32 generation;
};

/** struct image_record_name - EXEC, RENAME; @name: command name, ends in NUL. */
struct image_record_name {
	struct image_record head;
	char name[IMAGE_RECORD_NAME_BYTES];
};

/** struct image_record_unmap - UNMAP: executable memory in this range no longer exists */
struct image_record_unmap {
	struct image_record head;
	__u64 start;
	__u64 end;
};

/* PATH: also a file, but its path is formatted by the kernel. */
enum image_record_memory {
	IMAGE_RECORD_FILE,
	IMAGE_RECORD_ANONYMOUS,
	IMAGE_RECORD_VDSO,
	IMAGE_RECORD_PATH,
};

/**
 * struct image_record_map - MAP: executable memory
 * @start, @end:   addresses
 * @offset:        file offset of @start
 * @inode:         inode number of the file; 0 if there is no file, as are @bytes to @version
 * @bytes:         size of the file
 * @modified_s, @modified_ns: time of the file's last modification
 * @device:        in the kernel's encoding: major << 20 | minor
 * @version:       the inode's i_generation: differs when the inode number is reused
 * @memory:        enum image_record_memory
 * @deleted:       the file has been unlinked
 * @user:          real user id of the process, in the initial user namespace
 * @file_user:     its file system user id, by which file access is checked, in the same namespace
 * @path_bytes:    bytes used in @path
 * @path:          names that each end in NUL, the file's name first, then the names of the
 *                 directories up to the root of the process; PATH: one string
 */
struct image_record_map {
	struct image_record head;
	__u64 start;
	__u64 end;
	__u64 offset;
	__u64 inode;
	__u64 bytes;
	__s64 modified_s;
	__u32 modified_ns;
	__u32 device;
	__u32 version;
	__u16 memory;
	__u16 deleted;
	__u32 user;
	__u32 file_user;
	__u32 path_bytes;
	char path[IMAGE_RECORD_PATH_BYTES + 256];
};

#endif
