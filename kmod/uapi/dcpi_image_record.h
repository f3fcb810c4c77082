/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What the BPF program that watches address spaces (loader-hook/bpf/image_watch.bpf.c)
 * writes into its ring buffer, for loader-hook/bpf_hook.c.
 *
 * Where BPF programs can only be called through kprobes, dcpi.ko makes all but FORK
 * and EXIT, as long as DCPI_IMAGES_PATH is open, and hands each to who is attached to
 * the tracepoint DCPI_IMAGES_TRACEPOINT: its arguments are the record and its length. If
 * the layout of records changes, so does the tracepoint's name.
 *
 * Records are in the order in which things happened to each process, and a
 * process' creation comes before anything it does.
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
 * @parent:     FORK: the process copied; MAP, UNMAP: 1: amid an exec, so that the process has
 *              executed nothing since that began
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

/** struct image_record_unmap - UNMAP: executable memory in this range is no more. */
struct image_record_unmap {
	struct image_record head;
	__u64 start;
	__u64 end;
};

/* PATH: a file, too, but its path is as the kernel prints it. */
enum image_record_memory {
	IMAGE_RECORD_FILE,
	IMAGE_RECORD_ANONYMOUS,
	IMAGE_RECORD_VDSO,
	IMAGE_RECORD_PATH,
};

/**
 * struct image_record_map - MAP: executable memory
 * @start, @end:   addresses
 * @offset:        in the file, of @start
 * @inode:         of the file; 0 if it has none, like all that follows
 * @bytes:         size of the file
 * @modified_s, @modified_ns: when it was last written
 * @device:        as the kernel has it: major << 20 | minor
 * @version:       the inode's i_generation: another one when the number is reused
 * @memory:        enum image_record_memory
 * @deleted:       it has no name any more
 * @user:          real user id of the process, in the initial user namespace
 * @file_user:     the id by which its access to files is checked, in the same namespace
 * @path_bytes:    used of @path
 * @path:          names that each end in NUL, the file's first, then those of
 *                 the directories up to the process' root; PATH: one string
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
