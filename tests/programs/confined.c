// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that drops rights, and then starts threads and children:
 *
 *	confined calls	most system calls are refused (EPERM)
 *	confined memory	the address space may grow only a little
 *
 * Prints the results of their computation.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define STACK_BYTES (256 << 10)
#define ROOM_BYTES (12UL << 20)

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1),                                   \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int confine_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mprotect),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(clone),
		ALLOW(clone3),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(wait4),
		ALLOW(set_robust_list),
		ALLOW(rseq),
		ALLOW(newfstatat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int confine_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;
	struct rlimit limit;

	if (file == NULL || fscanf(file, "%lu", &pages) != 1)
		return -1;
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + ROOM_BYTES;
	return setrlimit(RLIMIT_AS, &limit);
}

__attribute__((noipa)) static long step(long x)
{
	return x % 3 == 0 ? x / 3 : x + 1;
}

static void *work(void *argument)
{
	long sum = 0;

	for (long i = 0; i < 100000; i++)
		sum += step(i + (long)argument);
	return (void *)sum;
}

static long threads(void)
{
	pthread_attr_t attributes;
	pthread_t ids[THREADS];
	long sum = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (long i = 0; i < THREADS; i++) {
		if (pthread_create(&ids[i], &attributes, work, (void *)i) != 0)
			return -1;
	}
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(ids[i], &result);
		sum += (long)result;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int status = -1;
	long sum;
	pid_t child;

	if ((strcmp(what, "calls") == 0 && confine_calls() != 0) ||
	    (strcmp(what, "memory") == 0 && confine_memory() != 0))
		return 2;
	sum = threads();
	child = fork();
	if (child == 0)
		_exit((int)(threads() % 100));
	waitpid(child, &status, 0);
	printf("%ld %d %ld\n", sum, status, threads());
	return 0;
}
