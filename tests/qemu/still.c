// SPDX-License-Identifier: GPL-2.0-only
/*
 * still: keep the kernel from rewriting its code for software events.
 *
 * The first counter of a software event enables the branches that count it, and the last one
 * disables them. To do so, text_poke_bp() patches the code while all CPUs run it: first a
 * breakpoint, later the new instruction. QEMU with a thread for each CPU (seen in 7.2) can continue
 * to execute the translated breakpoint on all CPUs, forever, although memory holds the new
 * instruction already. The handler finds no breakpoint there and returns to the same address. The
 * kernel usually reports that as a soft lockup in handle_mm_fault() after a while. No module is
 * needed to cause it: opening and closing page-fault counters while processes fault is enough,
 * within seconds. Writing the same byte again with a debugger lets the machine continue.
 *
 * The same holds for the first and the last counter of a task, which enable and disable a branch of
 * the scheduler, __schedule(): dcpid opens one each time that it starts.
 *
 * So this program holds a counter of every software event, and one of a task, for the lifetime of
 * the machine. They are disabled and count nothing. Real machines and KVM do not need this.
 * Tracepoints have the same problem: tests in here do not use them.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool hold(unsigned int event, pid_t task, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = event,
		.size = sizeof(attr),
		.sample_period = 1 << 20,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, task, cpu, -1, 0) >= 0;
}

/* Not every event can be sampled; those that cannot need no counter here. */
static int hold_all(void)
{
	unsigned int event, held = 0;

	for (event = 0; event < PERF_COUNT_SW_MAX; event++)
		held += hold(event, -1, 0);
	if (held == 0 || !hold(PERF_COUNT_SW_CPU_CLOCK, 0, -1)) {
		perror("still: perf_event_open");
		return -1;
	}
	return 0;
}

/* A task's counter ends with the task. */
static _Noreturn void live(int done)
{
	if (hold_all() < 0)
		_exit(1);
	setsid();
	if (write(done, "", 1) != 1)
		_exit(1);
	close(done);
	for (;;)
		pause();
}

/* Return to the caller when a child holds all counters. */
int main(void)
{
	int done[2];
	char byte;

	if (pipe(done) < 0) {
		perror("still: pipe");
		return 1;
	}
	switch (fork()) {
	case -1:
		perror("still: fork");
		return 1;
	case 0:
		close(done[0]);
		live(done[1]);
	}
	close(done[1]);
	return read(done[0], &byte, 1) == 1 ? 0 : 1;
}
