// SPDX-License-Identifier: GPL-2.0-only
/*
 * A debugger and its program: the parent sets a breakpoint at the branch of a loop, and counts how
 * often the child reaches it. Prints "N of M".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#error "this test is for x86-64"
#endif

#define ROUNDS 20000

extern const char branch[];

/* ROUNDS iterations of some ten microseconds each. The branch of this loop is executed once per
 * iteration. */
static void loop(void)
{
	__asm__ volatile("	mov %0, %%ecx\n"
			 "1:	mov $20000, %%edx\n"
			 "2:	dec %%edx\n"
			 "	jnz 2b\n"
			 "	dec %%ecx\n"
			 "	.globl branch\n"
			 "branch:\n"
			 "	jnz 1b\n"
			 :
			 : "i"(ROUNDS)
			 : "ecx", "edx", "cc");
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void poke(pid_t pid, long word)
{
	if (ptrace(PTRACE_POKETEXT, pid, branch, word) < 0)
		fail("ptrace");
}

/* Return: true if the child has stopped. */
static int wait_stopped(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		fail("waitpid");
	return WIFSTOPPED(status);
}

/* Step with the original instruction restored. */
static void step_over(pid_t pid, long word, long trap)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0)
		fail("ptrace");
	registers.rip = (unsigned long)branch;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &registers) < 0)
		fail("ptrace");
	poke(pid, word);
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, 0) < 0 || !wait_stopped(pid))
		fail("step");
	poke(pid, trap);
}

int main(void)
{
	int hits = 0;
	long word, trap;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		loop();
		_exit(0);
	}
	wait_stopped(pid);
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, branch, NULL);
	if (errno != 0)
		fail("ptrace");
	trap = (long)(((unsigned long)word & ~0xffUL) | 0xcc);
	poke(pid, trap);
	while (ptrace(PTRACE_CONT, pid, NULL, 0) == 0 && wait_stopped(pid)) {
		hits++;
		step_over(pid, word, trap);
	}
	printf("%d of %d\n", hits, ROUNDS);
	return 0;
}
