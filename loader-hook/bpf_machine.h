/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether BPF programs can be loaded here, and why not, in one line. */
#ifndef DCPI_BPF_MACHINE_H
#define DCPI_BPF_MACHINE_H

struct error;

/**
 * bpf_machine_check() - reasons that the kernel would give in many lines, or not at all
 *
 * Return: 0; -EOPNOTSUPP a kernel without BTF, or of another PID namespace than ours.
 */
int bpf_machine_check(struct error *err);

/**
 * bpf_machine_load_error() - tell that a program was not taken
 *
 * What privilege is wanting is said where it is, and else what the kernel says.
 *
 * Return: -@errnum; -EPERM.
 */
int bpf_machine_load_error(int errnum, struct error *err);

#endif
