/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that executes single x86-64 instructions on this CPU, as a reference for the
 * interpreter.
 */
#ifndef DCPI_TESTS_X86_TRACEE_H
#define DCPI_TESTS_X86_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "kmod/core/interpret.h"

#define TRACEE_CODE 0x10000000UL
#define TRACEE_CODE_BYTES 0x2000UL
#define TRACEE_DATA 0x20000000UL
#define TRACEE_DATA_BYTES 0x10000UL

/** struct x86_tracee - @code, @data: memory of the process, shared with the test */
struct x86_tracee {
	pid_t pid;
	uint8_t *code;
	uint8_t *data;
	struct user_regs_struct first;
};

/** x86_tracee_open() - start a tracee; false if ptrace is not available */
bool x86_tracee_open(struct x86_tracee *tracee);
void x86_tracee_close(struct x86_tracee *tracee);

/**
 * x86_tracee_step() - execute one instruction, a repeated one to its end
 * @regs: in, out
 *
 * Return: 0; the signal that it raised; SIGXCPU if no end was detected, because there is none or a
 * hypervisor missed it.
 */
int x86_tracee_step(struct x86_tracee *tracee, struct user_regs_struct *regs);

/** x86_state_set(), x86_state_get() - convert from and to registers of ptrace, all known */
void x86_state_set(struct interpret_state *state, const struct user_regs_struct *regs);
void x86_state_get(const struct interpret_state *state, struct user_regs_struct *regs);

/**
 * x86_state_differs() - find a known value in @state that differs from @regs
 *
 * Return: the number of the register, 32 for the flags, 33 for the pc, -1 if nothing differs.
 */
int x86_state_differs(const struct interpret_state *state, const struct user_regs_struct *regs);

#endif
