// SPDX-License-Identifier: GPL-2.0-only
/*
 * reloaded SECONDS (of CPU time): two pieces of the code of its file are mapped at one place in
 * rotation, as libraries that are unloaded and loaded. The result of each piece decides a branch of
 * its caller, which always has the same direction: never to never_one nor never_two.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PIECE_BYTES 4096
#define TURN_CALLS 300000

extern const uint8_t piece_one[], piece_two[], __executable_start[];
void call_one(void *place, uint64_t calls);
void call_two(void *place, uint64_t calls);
__attribute__((noreturn)) void never(void);

void never(void)
{
	abort();
}

/* So long that most samples are on the path to the test. */
#define WAIT                                                                                       \
	".rept 8\n"                                                                                \
	"	imul %rdx, %rdx\n"                                                                       \
	".endr\n"

__asm__(".section .pieces, \"ax\"\n"
	".balign 4096\n"
	"piece_one:\n" WAIT "	mov $1, %eax\n"
	"	ret\n"
	".balign 4096\n"
	"piece_two:\n" WAIT "	mov $0, %eax\n"
	"	ret\n"
	".balign 4096\n"
	".text\n"
	".globl call_one, call_two, never_one, never_two\n"
	"call_one:\n"
	"	push %rbx\n"
	"	mov %rsi, %rbx\n"
	"1:	call *%rdi\n"
	"	test %eax, %eax\n"
	"	je never_one\n"
	"	dec %rbx\n"
	"	jne 1b\n"
	"	pop %rbx\n"
	"	ret\n"
	"never_one:\n"
	"	call never\n"
	"call_two:\n"
	"	push %rbx\n"
	"	mov %rsi, %rbx\n"
	"1:	call *%rdi\n"
	"	test %eax, %eax\n"
	"	jne never_two\n"
	"	dec %rbx\n"
	"	jne 1b\n"
	"	pop %rbx\n"
	"	ret\n"
	"never_two:\n"
	"	call never\n");

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Link with -static -no-pie: then an address determines the offset in the file. */
static void turn(int fd, void *place, const uint8_t *piece, void (*call)(void *, uint64_t))
{
	off_t offset = piece - __executable_start;

	if (mmap(place, PIECE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, offset) !=
	    place)
		exit(2);
	call(place, TURN_CALLS);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	int fd = open("/proc/self/exe", O_RDONLY);
	void *place = mmap(NULL, PIECE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || place == MAP_FAILED)
		return 2;
	while (now() < end) {
		turn(fd, place, piece_one, call_one);
		turn(fd, place, piece_two, call_two);
	}
	return 0;
}
