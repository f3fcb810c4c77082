// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs whose samples show if they were credited to the right image.
 *
 * Compiled once for each number (-DIMAGE=N), all at the same addresses. Each has the same
 * sequence of loops, and runs only loop number IMAGE. A sample in another loop, in its
 * image's profile, belongs to another program. With -DIMAGE=-1 it runs none of them; "life"
 * then calls a library that it is linked with (compiled with -DLIBRARY, too). With -DTINY,
 * for -nostdlib, it has two pages and no C library, and knows layout and life only. Where a
 * page fault takes long, as on virtual machines, only such processes can start and end at a
 * thousand a second.
 *
 * - storm layout: print the distance of the loops, their
 *   offset in the file, and in its library's
 * - storm life N: N rounds of the own loop
 * - storm thread N: the same in a thread, whose leader has ended
 * - storm pong COUNT N OTHER: the same, then exec OTHER, COUNT times in all
 * - storm pong-thread COUNT N OTHER: the same, but a thread calls exec
 * - storm load COUNT N LIB LIB: alternate: dlopen, life of the library, dlclose
 * - storm run SECONDS JOBS N PROGRAM...:
 *   start processes that live one life each, JOBS at
 *   a time, each by a separate parent; print their number
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOPS 64
#define LOOP_BYTES 64

extern const char __ehdr_start[];
extern const char storm_loops[];

#if defined(__x86_64__)
#define ROUNDS "1: dec %%rdi\n jnz 1b\n ret\n"
#define START "xor %ebp, %ebp\n mov %rsp, %rdi\n call storm_tiny\n"
#elif defined(__aarch64__)
#define ROUNDS "1: subs x0, x0, #1\n b.ne 1b\n ret\n"
#define START "mov x0, sp\n bl storm_tiny\n"
#else
#error "no loop for this architecture"
#endif
__attribute__((used)) static void loops(void)
{
	__asm__ volatile(".pushsection .text.storm, \"ax\"\n"
			 ".balign 4096\n"
			 ".globl storm_loops\n.hidden storm_loops\n"
			 "storm_loops:\n"
			 ".rept %c0\n.balign %c1\n" ROUNDS ".endr\n"
			 ".popsection\n"
			 :
			 : "i"(LOOPS), "i"(LOOP_BYTES));
}

void storm_life(unsigned long rounds);
long storm_library_loops(void) __attribute__((weak));

#if IMAGE >= 0
void storm_life(unsigned long rounds)
{
	/* Computed from numbers, so that the optimizer cannot replace the call. */
	void (*volatile own)(unsigned long) =
		(void (*)(unsigned long))(storm_loops + IMAGE * LOOP_BYTES);

	own(rounds);
}
#endif

#ifdef LIBRARY

long storm_library_loops(void)
{
	return storm_loops - __ehdr_start;
}

#elif defined(TINY)

static long system_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return number;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}

static void print(unsigned long number, char end)
{
	char text[24];
	char *at = text + sizeof(text);

	*--at = end;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	system_call(SYS_write, 1, (long)at, text + sizeof(text) - at);
}

/* @stack: the initial stack of a new program: argc, argv */
__attribute__((used, noreturn)) void storm_tiny(unsigned long *stack)
{
	unsigned long rounds = 0;

	if (stack[0] == 3) {
		for (const char *digit = (const char *)stack[3]; *digit != '\0'; digit++)
			rounds = 10 * rounds + (unsigned long)(*digit - '0');
		storm_life(rounds);
	} else {
		print(LOOP_BYTES, ' ');
		print((unsigned long)(storm_loops - __ehdr_start), '\n');
	}
	for (;;)
		system_call(SYS_exit_group, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n" START);

#else

static int usage(void)
{
	fprintf(stderr, "see the comment at the top of tests/programs/storm.c\n");
	return 2;
}

static int failed(const char *what)
{
	fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
	return 1;
}

/* State for the next one of two programs that exec each other. */
struct pong {
	char self[PATH_MAX];
	char count[24];
	char *rounds;
	char *other;
	const char *mode;
};

static void *pong_exec(void *context)
{
	struct pong *pong = context;

	execl(pong->other, pong->other, pong->mode, pong->count, pong->rounds, pong->self, NULL);
	exit(failed(pong->other));
}

static int pong(const char *mode, unsigned long count, char *rounds, char *other)
{
	struct pong pong = {.rounds = rounds, .other = other, .mode = mode};
	ssize_t n = readlink("/proc/self/exe", pong.self, sizeof(pong.self) - 1);
	pthread_t thread;

	storm_life(strtoul(rounds, NULL, 0));
	if (count == 0 || n <= 0)
		return n <= 0;
	snprintf(pong.count, sizeof(pong.count), "%lu", count - 1);
	if (strcmp(mode, "pong") == 0)
		pong_exec(&pong);
	if (pthread_create(&thread, NULL, pong_exec, &pong) == 0)
		pthread_join(thread, NULL);
	return 1;
}

static void *life_of_thread(void *context)
{
	/* Long enough for the leader to end. */
	usleep(1000);
	storm_life(*(unsigned long *)context);
	exit(0);
}

static int thread(unsigned long rounds)
{
	static unsigned long life;
	pthread_t thread;

	life = rounds;
	if (pthread_create(&thread, NULL, life_of_thread, &life) != 0)
		return failed("pthread_create");
	syscall(SYS_exit, 0); /* ends only the leader */
	return 1;
}

static int load(unsigned long count, unsigned long rounds, char **libraries)
{
	for (; count > 0; count--) {
		void *library = dlopen(libraries[count % 2], RTLD_NOW | RTLD_LOCAL);
		void (*life)(unsigned long);

		if (library == NULL) {
			fprintf(stderr, "storm: %s\n", dlerror());
			return 1;
		}
		*(void **)&life = dlsym(library, "storm_life");
		life(rounds);
		dlclose(library);
	}
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static pid_t start(unsigned long number, char *program, char *rounds)
{
	/* Mostly vfork(), as in posix_spawn(): the child shares the memory until it calls exec. */
	pid_t pid = number % 32 == 1 ? fork() : vfork();

	if (pid == 0) {
		execl(program, program, number % 16 == 7 ? "thread" : "life", rounds, NULL);
		_exit(127);
	}
	return pid;
}

/* Run one life after the other until time END, counted in *LIVES; the first is program FIRST. */
static int parent(double end, unsigned long first, char *rounds, char **programs, int count,
		  unsigned long *lives)
{
	for (; now() < end; ++*lives) {
		int status;

		if (start(*lives, programs[(first + *lives) % (unsigned long)count], rounds) < 0)
			return failed("fork");
		if (wait(&status) < 0)
			return failed("wait");
		if (status != 0) {
			fprintf(stderr, "storm: a child ended with status %#x\n", status);
			return 1;
		}
	}
	return 0;
}

static int run(double seconds, unsigned long jobs, char *rounds, char **programs, int count)
{
	double begin = now();
	unsigned long started = 0;
	unsigned long *lives = mmap(NULL, jobs * sizeof(*lives), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, result = 0;

	if (lives == MAP_FAILED)
		return failed("mmap");
	for (unsigned long job = 0; job < jobs; job++) {
		pid_t pid = fork();

		if (pid < 0)
			return failed("fork");
		if (pid == 0)
			_exit(parent(begin + seconds, job * (unsigned long)count / jobs, rounds,
				     programs, count, lives + job));
	}
	while (wait(&status) > 0)
		result |= status != 0;
	for (unsigned long job = 0; job < jobs; job++)
		started += lives[job];
	printf("%lu processes in %.2f s\n", started, now() - begin);
	return result;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "layout") == 0 && argc == 2) {
		printf("%d %td", LOOP_BYTES, storm_loops - __ehdr_start);
		if (storm_library_loops != NULL)
			printf(" %ld", storm_library_loops());
		printf("\n");
		return 0;
	}
	if (strcmp(mode, "life") == 0 && argc == 3) {
		storm_life(strtoul(argv[2], NULL, 0));
		return 0;
	}
	if (strcmp(mode, "thread") == 0 && argc == 3)
		return thread(strtoul(argv[2], NULL, 0));
	if (strncmp(mode, "pong", 4) == 0 && argc == 5)
		return pong(mode, strtoul(argv[2], NULL, 0), argv[3], argv[4]);
	if (strcmp(mode, "load") == 0 && argc == 6)
		return load(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0), argv + 4);
	if (strcmp(mode, "run") == 0 && argc > 5)
		return run(strtod(argv[2], NULL), strtoul(argv[3], NULL, 0), argv[4], argv + 5,
			   argc - 5);
	return usage();
}

#endif
