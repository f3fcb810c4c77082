// SPDX-License-Identifier: GPL-2.0-only
/*
 * still: keep the kernel from rewriting its code for software events.
 *
 * The first counter of a software event turns on the branches that count it,
 * the last one turns them off, by patching the code of all CPUs while they
 * run: first a breakpoint, later the new instruction (text_poke_bp()). QEMU
 * with a thread for each CPU (seen in 7.2) can go on executing the translated
 * breakpoint when memory holds the new instruction already, on all CPUs, for
 * ever: the handler finds no breakpoint there and tries again. The kernel
 * calls it a soft lockup, in handle_mm_fault() as a rule. It takes no module
 * of ours: opening and closing page-fault counters while processes fault is
 * enough, within seconds; and writing the same byte once more, with a
 * debugger, frees the machine.
 *
 * The same goes for the first and the last counter of a task's, which turn on and off a branch
 * of the scheduler's, __schedule(): dcpid has one each time that it begins.
 *
 * So we hold a counter of every software event, and one of a task's, as long as the machine
 * lives. They are disabled and count nothing. Real machines and KVM need none of this.
 * Tracepoints have the same trouble: tests in here leave them alone.
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

/* Not every event can be sampled: those that cannot need no holding. */
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

/* Returns to the caller when a child holds them all. */
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
