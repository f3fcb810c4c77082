/* SPDX-License-Identifier: GPL-2.0-only */
/* Check if BPF programs can be loaded on this machine; if not, give the reason in one line. */
#ifndef DCPI_BPF_MACHINE_H
#define DCPI_BPF_MACHINE_H

struct error;

/**
 * bpf_machine_check() - find obstacles that the kernel reports at length or not at all
 *
 * Return: 0; -EOPNOTSUPP: the kernel has no BTF, or this is not the initial PID namespace.
 */
int bpf_machine_check(struct error *err);

/**
 * bpf_machine_load_error() - report that the kernel refused a program
 *
 * The message names the missing privilege if there is one, and else the kernel's error.
 *
 * Return: -@errnum; -EPERM.
 */
int bpf_machine_load_error(int errnum, struct error *err);

#endif
