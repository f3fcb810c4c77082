/* SPDX-License-Identifier: GPL-2.0-only */
/* A real program, stopped at random moments as a sampling interrupt would. */
#ifndef DCPI_TESTS_X86_PROGRAM_H
#define DCPI_TESTS_X86_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "kmod/core/interpret.h"

/** The programs that tests and benchmarks use; the last has no @name. */
struct x86_program {
	const char *name;
	const char *argv[8];
};

extern const struct x86_program x86_programs[];

/**
 * x86_program_fn() - look at a stopped program
 * @pid:  may be stepped with x86_program_step()
 * @regs: where it stopped
 *
 * Return: false if it has ended meanwhile.
 */
typedef bool (*x86_program_fn)(void *context, pid_t pid, const struct user_regs_struct *regs);

/**
 * x86_program_run() - start it, stop it up to @stops times, kill it
 *
 * Return: how often @visit was called; -1: there is no such program.
 */
int x86_program_run(const struct x86_program *program, int stops, x86_program_fn visit,
		    void *context);

/** x86_program_step() - execute one instruction; false: it ended, or cannot */
bool x86_program_step(pid_t pid, struct user_regs_struct *regs);

/** x86_program_read() - an interpret_read_fn; its context points to the pid */
bool x86_program_read(void *pid, u64 address, void *to, size_t bytes);

#endif
