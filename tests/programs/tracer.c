// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take a backtrace at every single instruction: the processor traps after each. The backtrace must
 * reach the caller of main().
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100
#define ENOUGH 5000
#define FRAMES 100
#define CALLER 2 /* main()'s caller: the second frame from the end, before _start() */
#define LOST 1000

void tracer_begin(void);
void tracer_end(bool where);

static volatile sig_atomic_t on;
static volatile long taken;
static volatile long lost;
static void *caller;
static long lost_at[LOST];

static void *caller_of_main(void)
{
	void *all[FRAMES];
	int frames = backtrace(all, FRAMES);

	return frames >= CALLER ? all[frames - CALLER] : NULL;
}

static void handler(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	if (on)
		registers[REG_EFL] |= TRAP_FLAG;
	else
		registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	taken++;
	if (caller_of_main() == caller)
		return;
	if (lost < LOST)
		lost_at[lost] = registers[REG_RIP];
	lost++;
}

/* Trace until tracer_end() is called, by main() as well. */
void tracer_begin(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	caller = caller_of_main();
	sigaction(SIGTRAP, &action, NULL);
	on = 1;
	raise(SIGTRAP);
}

void tracer_end(bool where)
{
	on = 0;
	raise(SIGTRAP);
	for (long i = 0; i < lost && i < LOST && where; i++)
		printf("%lx\n", lost_at[i]);
	printf("%s, %ld lost\n", taken > ENOUGH ? "enough" : "too few", lost);
}
