/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the kernel's code from memory, as it is executed: with all patches that the kernel applies
 * to itself. The suppliers are tried in this order, and the first one that works is used:
 *
 * - a BPF program (code_source_bpf.c): CAP_BPF and CAP_PERFMON, as for the bpf source
 * - /proc/kcore (code_source_kcore.c): CAP_SYS_RAWIO, and a kernel that has the file
 *
 * In lockdown mode "confidentiality" the kernel refuses both.
 */
#ifndef DCPI_CODE_SOURCE_H
#define DCPI_CODE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct code_source;
struct error;

/**
 * struct code_source_ops - operations of a supplier
 * @name:  for messages
 * @open:  check that code can be read
 * @read:  read memory of the kernel. Return: 0; -EFAULT or another error: nothing is there, or it
 *         is not permitted
 * @close: free everything
 */
struct code_source_ops {
	const char *name;
	int (*open)(struct code_source **ret, struct error *err);
	int (*read)(struct code_source *source, uint64_t address, void *buffer, size_t bytes);
	void (*close)(struct code_source *source);
};

/** struct code_source - common part of all suppliers, their first member */
struct code_source {
	const struct code_source_ops *ops;
};

extern const struct code_source_ops code_source_bpf_ops;
extern const struct code_source_ops code_source_kcore_ops;

/**
 * code_source_open() - open the first supplier that can read an address
 * @address: of code
 * @ret:     out; freed by code_source_close()
 *
 * Return: 0; otherwise the message gives the reason of each supplier.
 */
int code_source_open(struct code_source **ret, uint64_t address, struct error *err);

/** code_source_close() - free. NULL is fine. */
void code_source_close(struct code_source *source);

/**
 * code_source_read() - read code that the kernel may be changing
 *
 * The code is read until two reads agree.
 *
 * Return: 0; -EAGAIN: the code changes all the time; the error of the supplier; -ENOMEM.
 */
int code_source_read(struct code_source *source, uint64_t address, void *buffer, size_t bytes);

#endif
