/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that the kernel does not let be profiled by the process that starts them.
 *
 * When an exec changes the credentials (set-user-ID, set-group-ID, file capabilities), or the
 * file may be executed but not read, the kernel removes all perf events of the task. See
 * begin_new_exec() in fs/exec.c.
 */
#ifndef DCPI_SECURE_EXEC_H
#define DCPI_SECURE_EXEC_H

/**
 * secure_exec_reason() - why the kernel will take no samples of a command
 * @command: as for execvp(3)
 *
 * Return: static, such as "it is set-user-ID"; NULL if there is no such reason, or none is known.
 */
const char *secure_exec_reason(const char *command);

#endif
