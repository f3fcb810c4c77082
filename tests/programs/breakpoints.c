// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that stop a program, with handlers that let it go on behind them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile sig_atomic_t hits;

static void go_on(int signal, siginfo_t *info, void *context)
{
	ucontext_t *machine = context;

	(void)info;
	hits++;
	if (signal == SIGILL)
		machine->uc_mcontext.gregs[REG_RIP] += 2;
}

__attribute__((noinline)) static int checked(int n)
{
	if (n < 0) {
		__asm__ volatile("int3");
		n = -n;
	}
	return n + 1;
}

__attribute__((noinline)) static int probed(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		__asm__ volatile("ud2");
		sum += i;
	}
	return sum * 3;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = go_on, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	printf("%d %d %d\n", checked(-5), checked(3), probed(10));
	printf("%d\n", hits);
	return 0;
}
