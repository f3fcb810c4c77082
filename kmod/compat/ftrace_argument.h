/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the arguments of a traced function in an ftrace callback on arm64. */
#ifndef DCPI_COMPAT_FTRACE_ARGUMENT_H
#define DCPI_COMPAT_FTRACE_ARGUMENT_H

#include <linux/ftrace.h>

static inline unsigned long compat_ftrace_argument(struct ftrace_regs *registers, unsigned int n)
{
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
	return ftrace_regs_get_argument(registers, n);
#else
	return regs_get_kernel_argument(ftrace_get_regs(registers), n);
#endif
}

#endif
