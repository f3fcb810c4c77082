// SPDX-License-Identifier: GPL-2.0-only
/*
 * still [tracepoints]: keep the kernel from rewriting its code for events.
 *
 * The first counter of a software event or tracepoint turns on the branches
 * that count it, the last one turns them off, by patching the code of all CPUs
 * while they run: first a breakpoint, later the new instruction
 * (text_poke_bp()). QEMU with a thread for each CPU (seen in 7.2) can miss the
 * second write, if another CPU is just translating that code: memory then holds
 * the new instruction, but all CPUs go on executing the translated breakpoint,
 * whose handler finds none and tries again, for ever. The kernel calls it a
 * soft lockup, in handle_mm_fault() as a rule. It takes no module of ours:
 * opening and closing page-fault counters while processes fault is enough,
 * within seconds. And writing the same byte once more, with a debugger, wakes
 * the machine up.
 *
 * So we hold a counter of every software event, and of every tracepoint if
 * asked to (that slows the machine), as long as the machine lives. They are
 * disabled and count nothing. Real machines and KVM need none of this.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Far more than a kernel has; they are numbered from 1. */
#define TRACEPOINTS_MAX 8192

/* Return: 0 or an errno. */
static int hold(unsigned int type, unsigned long long config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1 << 20,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) < 0 ? errno : 0;
}

/* Not every number is an event of this kernel, nor every event for sampling. */
static int hold_all(unsigned int type, unsigned long long end)
{
	unsigned long long config;
	unsigned int held = 0;
	int err;

	for (config = 0; config < end; config++) {
		err = hold(type, config);
		if (err && err != ENOENT && err != EINVAL && err != EPERM && err != EOPNOTSUPP &&
		    err != ENODEV) {
			fprintf(stderr, "still: event %u:%llu: %s\n", type, config, strerror(err));
			return -1;
		}
		held += !err;
	}
	if (held == 0) {
		fprintf(stderr, "still: no event of type %u\n", type);
		return -1;
	}
	return 0;
}

/* Returns to the caller when all are held; a child keeps them. */
int main(int argc, char **argv)
{
	const struct rlimit files = {TRACEPOINTS_MAX + 64, TRACEPOINTS_MAX + 64};
	int err;

	if (argc == 1)
		err = hold_all(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_MAX);
	else if (argc == 2 && strcmp(argv[1], "tracepoints") == 0)
		err = setrlimit(RLIMIT_NOFILE, &files)
			      ?: hold_all(PERF_TYPE_TRACEPOINT, TRACEPOINTS_MAX);
	else
		err = -1;
	if (err)
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
