/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detect programs that an unprivileged parent process cannot profile.
 *
 * When an exec changes the credentials (set-user-ID, set-group-ID, file capabilities), or the file
 * may be executed but not read, the kernel removes all perf events of the task. See
 * begin_new_exec() in fs/exec.c.
 */
#ifndef DCPI_SECURE_EXEC_H
#define DCPI_SECURE_EXEC_H

/**
 * secure_exec_reason() - return why the kernel will not sample a command
 * @command: as for execvp(3)
 *
 * Return: a static string, such as "it is set-user-ID"; NULL if no such reason is known.
 */
const char *secure_exec_reason(const char *command);

#endif
