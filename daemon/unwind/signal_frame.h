/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of the signal frames that the kernel puts on the stack: offsets from the stack pointer
 * when the handler has returned. They are part of the kernel's ABI
 * (arch/x86/include/asm/sigframe.h, arch/arm64/kernel/signal.c, asm/sigcontext.h).
 */
#ifndef DCPI_SIGNAL_FRAME_H
#define DCPI_SIGNAL_FRAME_H

#include <stdint.h>

/* struct ucontext: flags, link, stack_t; then struct sigcontext */
#define SIGNAL_FRAME_X86_64_REGISTERS 40
#define SIGNAL_FRAME_X86_64_SP (SIGNAL_FRAME_X86_64_REGISTERS + 15 * 8)
#define SIGNAL_FRAME_X86_64_PC (SIGNAL_FRAME_X86_64_REGISTERS + 16 * 8)

/* DWARF numbers of the registers, in the order of struct sigcontext */
#define SIGNAL_FRAME_X86_64_ORDER                                                                  \
	{                                                                                          \
		8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7                               \
	}

/* struct siginfo (128 bytes), then struct ucontext (176) up to struct sigcontext; fault address */
#define SIGNAL_FRAME_ARM64_REGISTERS (128 + 176 + 8)
#define SIGNAL_FRAME_ARM64_PC (SIGNAL_FRAME_ARM64_REGISTERS + 32 * 8)

#endif
