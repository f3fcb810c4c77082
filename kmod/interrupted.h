/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context that a sampling interrupt struck: its registers and its memory, for the interpreter.
 *
 * Reading memory must not take an unhandled fault, sleep or lock, not even in NMIs. It must not
 * have side effects either: a load that the interrupted code has yet to execute may be from a
 * device, whose registers change when read. So memory is read only where ordinary memory is known
 * to be.
 */
#ifndef DCPI_INTERRUPTED_H
#define DCPI_INTERRUPTED_H

#include <linux/types.h>

struct interpret_state;
struct pt_regs;

/**
 * struct interrupted - context of interrupted_read()
 * @user: the interrupted code was in user mode
 * @pc, @sp: its program counter and stack pointer
 */
struct interrupted {
	bool user;
	unsigned long pc;
	unsigned long sp;
};

/**
 * interrupted_init() - record where the interrupt struck
 *
 * Return: false if the context is not 64-bit code, or if the registers do not belong to its PC.
 */
bool interrupted_init(struct interrupted *interrupted, struct pt_regs *regs);

/** interrupted_registers() - fill in @state. Return: false on other architectures. */
bool interrupted_registers(struct pt_regs *regs, struct interpret_state *state);

/** interrupted_read() - an interpret_read_fn(); @context: struct interrupted. */
bool interrupted_read(void *context, u64 address, void *to, size_t bytes);

#endif
