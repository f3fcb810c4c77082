// SPDX-License-Identifier: GPL-2.0-only
/*
 * moved MILLISECONDS [compat]: replace the program's own text by copies with mremap(), as programs
 * do that want their text on huge pages, and spin there. The executed code is the same as before.
 * With "compat" (x86-64), use the system call of 32-bit programs.
 *
 * Static, and not position-independent, so that 32 bits hold its addresses.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100000
#define ALIGNMENT 65536 /* no architecture has larger pages */

static volatile uint64_t total;

__attribute__((noinline, aligned(ALIGNMENT))) static void moved_spin(void)
{
	for (int i = 0; i < ROUNDS; i++)
		total += (uint64_t)i;
}

__attribute__((noinline, aligned(ALIGNMENT))) static void moved_compat_spin(void)
{
	for (int i = 0; i < ROUNDS; i++)
		total += (uint64_t)i;
}

static uintptr_t compat_mremap(uintptr_t from, size_t bytes, uintptr_t to)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(163L), "b"(from), "c"(bytes), "d"(bytes),
			   "S"((long)(MREMAP_MAYMOVE | MREMAP_FIXED)), "D"(to)
			 : "r8", "r9", "r10", "r11", "memory");
	return (uintptr_t)result;
#else
	(void)from;
	(void)bytes;
	(void)to;
	return 0;
#endif
}

static int move(uintptr_t text, int compat)
{
#if defined(__x86_64__)
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT;
#else
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (copy == MAP_FAILED)
		return -1;
	memcpy(copy, (const void *)text, bytes);
	__builtin___clear_cache(copy, copy + bytes);
	if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) < 0)
		return -1;
	if (compat)
		return compat_mremap((uintptr_t)copy, bytes, text) == text ? 0 : -1;
	return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)text) ==
			       (void *)text
		       ? 0
		       : -1;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	int compat = argc > 2 && strcmp(argv[2], "compat") == 0;
	void (*spin)(void) = compat ? moved_compat_spin : moved_spin;
	uint64_t end;

	if (argc < 2 || move((uintptr_t)spin, compat) < 0) {
		perror("moved");
		return 1;
	}
	for (end = now_ms() + strtoull(argv[1], NULL, 10); now_ms() < end;)
		spin();
	return 0;
}
