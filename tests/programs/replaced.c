// SPDX-License-Identifier: GPL-2.0-only
/*
 * replaced SECONDS PROGRAM [ARGUMENT]...: many branches at PLACE, then exec of PROGRAM. The seconds
 * are CPU time, so that the number of samples is the same on a busy machine. With CONSTANTS,
 * replaced SECONDS (elapsed): at PLACE are constants that look like branches, whose sum is 0 while
 * no breakpoint is in one. Exit status 1: the sum was not 0.
 *
 * Link with --section-start=.place=ADDRESS, the same for both, static and not as PIE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

unsigned long place(unsigned long n);

#ifdef CONSTANTS
__asm__(".section .place, \"ax\"\n"
	".globl place\n"
	"place:\n"
	"	xor %eax, %eax\n"
	".rept 400\n"
	"	movabs $0x7575757575757575, %rcx\n"
	"	xor %rcx, %rax\n"
	".endr\n"
	"	ret\n"
	".text\n");
#else
__asm__(".section .place, \"ax\"\n"
	".globl place\n"
	"place:\n"
	"	xor %eax, %eax\n"
	"1:\n"
	".rept 64\n"
	"	test $1, %dil\n"
	"	jne 2f\n"
	"	inc %rax\n"
	"2:	imul $1103515245, %rdi, %rsi\n"
	"	test $64, %sil\n"
	"	jne 3f\n"
	"	inc %rax\n"
	"3:\n"
	".endr\n"
	"	dec %rdi\n"
	"	jne 1b\n"
	"	ret\n"
	".text\n");
#endif

#ifdef CONSTANTS
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_PROCESS_CPUTIME_ID
#endif

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	volatile unsigned long sum = 0;

	while (now() < end) {
		for (int i = 0; i < 100; i++)
			sum += place(200);
	}
#ifdef CONSTANTS
	return sum != 0;
#else
	if (argc > 2)
		execv(argv[2], argv + 2);
	return 2;
#endif
}
