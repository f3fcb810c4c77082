/* SPDX-License-Identifier: GPL-2.0-only */
/* A real program, stopped at random like by a sampling interrupt. */
#ifndef DCPI_TESTS_X86_PROGRAM_H
#define DCPI_TESTS_X86_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "kmod/core/interpret.h"

/** The programs used by tests and benchmarks; the last entry has no @name. */
struct x86_program {
	const char *name;
	const char *argv[8];
};

extern const struct x86_program x86_programs[];

/**
 * x86_program_fn() - visit a stopped program
 * @pid:  may be stepped with x86_program_step()
 * @regs: registers at the stop
 *
 * Return: false if the program has ended meanwhile.
 */
typedef bool (*x86_program_fn)(void *context, pid_t pid, const struct user_regs_struct *regs);

/**
 * x86_program_run() - start a program, stop it up to @stops times, then kill it
 *
 * Return: the number of calls of @visit; -1 if the program does not exist.
 */
int x86_program_run(const struct x86_program *program, int stops, x86_program_fn visit,
		    void *context);

/** x86_program_step() - execute one instruction; false if the program ended or cannot be stepped */
bool x86_program_step(pid_t pid, struct user_regs_struct *regs);

/** x86_program_read() - an interpret_read_fn; its context points to the pid */
bool x86_program_read(void *pid, u64 address, void *to, size_t bytes);

#endif
