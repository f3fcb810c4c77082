// SPDX-License-Identifier: GPL-2.0-only
/* Workloads to sample. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/qemu/device.h"

/* Many PCs in libc and the kernel, page faults, and occasionally a new process. */
static void wander(void)
{
	static int numbers[512];
	char text[64];
	unsigned int round, i;
	int zero = open("/dev/zero", O_RDONLY);

	for (round = 0;; round++) {
		char *page = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		if (page == MAP_FAILED)
			_exit(1);
		if (read(zero, page, 16384) < 0)
			_exit(1);
		for (i = 0; i < 512; i++)
			numbers[i] = (int)(i * 2654435761U ^ round);
		for (i = 0; i < 64; i++)
			snprintf(text, sizeof(text), "%d %s %f", numbers[i], "text", i / 3.0);
		numbers[0] += (int)strlen(text) + (int)strtol(text, NULL, 0);
		munmap(page, 16384);
		if (round % 16 == 0) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
		}
	}
}

void load_start(unsigned int processes)
{
	fflush(stdout);
	while (processes-- > 0) {
		if (fork() == 0)
			wander();
	}
}

void load_fault(void)
{
	const size_t bytes = 1 << 20;
	size_t i;

	fflush(stdout);
	if (fork() != 0)
		return;
	for (;;) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			_exit(1);
		for (i = 0; i < bytes; i += 4096)
			memory[i] = 1;
		munmap(memory, bytes);
	}
}

/* In assembly, so that the bounds of the function are known and contain nothing else. */
__asm__(".text\n"
	".globl spin_begin, spin_end\n"
	"spin_begin:\n"
	"1:\n"
#if defined(__x86_64__)
	"	incq %rax\n"
	"	jmp 1b\n"
#elif defined(__aarch64__)
	"	add x0, x0, #1\n"
	"	b 1b\n"
#else
#error "spin for this architecture is missing"
#endif
	"spin_end:\n");

extern const char spin_begin[], spin_end[];

bool load_spin_contains(uint64_t pc)
{
	return pc >= (uintptr_t)spin_begin && pc < (uintptr_t)spin_end;
}

void load_spin_here(void)
{
	((void (*)(void))(uintptr_t)spin_begin)();
}

pid_t load_spin(int cpu)
{
	cpu_set_t set;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		load_spin_here();
	}
	return pid;
}
