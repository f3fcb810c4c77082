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
 * So we hold a counter of every software event as long as the machine lives.
 * They are disabled and count nothing. Real machines and KVM need none of
 * this. Tracepoints have the same trouble: tests in here leave them alone.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not every event can be sampled: those that cannot need no holding. */
static int hold_all(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_period = 1 << 20,
		.disabled = 1,
	};
	unsigned int held = 0;

	for (attr.config = 0; attr.config < PERF_COUNT_SW_MAX; attr.config++)
		held += syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) >= 0;
	if (held == 0)
		perror("still: perf_event_open");
	return held > 0 ? 0 : -1;
}

/* Returns to the caller when all are held; a child keeps them. */
int main(void)
{
	if (hold_all() < 0)
		return 1;
	switch (fork()) {
	case -1:
		perror("still: fork");
		return 1;
	case 0:
		setsid();
		for (;;)
			pause();
	default:
		return 0;
	}
}
