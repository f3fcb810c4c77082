/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extracts the few kernel types that a BPF program uses from /sys/kernel/btf/vmlinux.
 *
 * libbpf copies and indexes all of the kernel's types for each object that it loads, which takes
 * some 70 ms. Finding the structures that the object names takes 8 ms.
 */
#ifndef DCPI_KERNEL_TYPES_H
#define DCPI_KERNEL_TYPES_H

#include <stddef.h>

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"
#define KERNEL_STRUCT_MEMBERS 8

/**
 * struct kernel_struct - a structure of the kernel
 * @members: names; the first NULL ends the list
 */
struct kernel_struct {
	const char *name;
	const char *members[KERNEL_STRUCT_MEMBERS];
};

/**
 * kernel_types_open() - create an in-memory file with some structures and their members
 * @path:   KERNEL_TYPES_PATH, or another file in BTF format
 * @wanted: a structure must precede those that have members of its type
 *
 * Members are integers or structures of @wanted, not bit fields.
 *
 * Return: a descriptor; -ENOENT if a structure or member does not exist; -EINVAL if the file is
 * damaged or newer than this code; otherwise errors of reading.
 */
int kernel_types_open(const char *path, const struct kernel_struct *wanted, size_t count);

#endif
