// SPDX-License-Identifier: GPL-2.0-only
/* Instructions that trap, with signal handlers that let the program continue after them. */
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

/* Other paths also lead to the instruction after the trap. */
__attribute__((noinline)) static int joined(int n)
{
	if (n < 0)
		__asm__ volatile("int3");
	return n + 1;
}

__attribute__((noinline)) static int chosen(int n, int m)
{
	switch (n) {
	case 0:
		m += 5;
		break;
	case 1:
		__asm__ volatile("int3");
		break;
	case 2:
		m *= 7;
		break;
	case 3:
		m -= 4;
		break;
	case 4:
		__asm__ volatile("int3");
		m ^= 3;
		break;
	default:
		return m * 9;
	}
	return m * 3 + n;
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

	int sum = 0;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	for (int i = 0; i < 12; i++)
		sum += joined(i - 6) + chosen(i % 6, i);
	printf("%d %d %d %d\n", checked(-5), checked(3), probed(10), sum);
	printf("%d\n", hits);
	return 0;
}
