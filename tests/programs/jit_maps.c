// SPDX-License-Identifier: GPL-2.0-only
/*
 * A JIT compiler with unusual perf maps. Its code counts down; each MS is CPU time.
 *
 * jit_maps big MS N: N procedures are listed, then hot, which runs. jit_maps first
 * MS N: hot is listed, then N others, then hot runs. jit_maps many MS N: N processes
 * run hot at a time, each with a separate map. jit_maps exec MS: gen_1 runs for MS,
 * gen_2 for 2 MS, gen_3 for 3 MS, in one process by exec. jit_maps rewrite MS N: the
 * same in one program, which rewrites its map with N other lines. jit_maps append MS
 * N: the same, but the new lines are appended. jit_maps rename MS N: the same, but
 * the new map replaces the file. jit_maps stale MS: a map lists wrong, then a
 * program without a map runs. jit_maps fork MS: hot runs in a child, while the
 * parent lists other at its address. jit_maps child MS: hot runs in a child that has
 * no map.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GENERATIONS 3
#define FILL_BYTES 16

typedef void (*count_fn)(uint64_t n);

#if defined(__x86_64__)
/* dec %rdi; jne; ret */
static const uint8_t count_down[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#else
/* subs x0, x0, 1; b.ne; ret */
static const uint32_t count_down[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#endif

static char *memory;
static char map_path[64], new_path[80];

static void require(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static void memory_make(void)
{
	memory = mmap((void *)0x7e0000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	require(memory != MAP_FAILED, "mmap");
	memcpy(memory, count_down, sizeof(count_down));
	__builtin___clear_cache(memory, memory + sizeof(count_down));
}

static void paths_make(void)
{
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(new_path, sizeof(new_path), "%s.new", map_path);
}

static uint64_t cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void run(uint64_t ms)
{
	count_fn count = (count_fn)(uintptr_t)memory;
	uint64_t end = cpu_ms() + ms;

	while (cpu_ms() < end)
		count(1000000);
}

static FILE *file_open(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	require(file != NULL, path);
	return file;
}

static void list(FILE *file, const char *name)
{
	fprintf(file, "%llx %zx %s\n", (unsigned long long)(uintptr_t)memory, sizeof(count_down),
		name);
}

static void fill(FILE *file, long first, long last)
{
	for (long i = first; i < last; i++)
		fprintf(file, "%lx %x other_%ld\n", 0x7d0000000000 + i * FILL_BYTES, FILL_BYTES, i);
}

static void run_big(uint64_t ms, long n, int hot_first)
{
	FILE *file = file_open(map_path, "w");

	if (hot_first)
		list(file, "hot");
	fill(file, 0, n);
	if (!hot_first)
		list(file, "hot");
	fclose(file);
	run(ms);
}

static void run_many(uint64_t ms, long n)
{
	int ready[2];
	char c;

	require(pipe(ready) == 0, "pipe");
	for (long i = 0; i < n; i++) {
		if (fork() != 0)
			continue;
		close(ready[1]);
		paths_make();
		memory_make();
		run_big(0, 0, 1);
		while (read(ready[0], &c, 1) > 0)
			;
		run(ms);
		unlink(map_path);
		_exit(0);
	}
	close(ready[1]);
	while (wait(NULL) > 0)
		;
}

static void run_exec(char **argv, uint64_t ms, int generation)
{
	char next[16], name[16];
	FILE *file = file_open(map_path, "w");

	snprintf(name, sizeof(name), "gen_%d", generation);
	list(file, name);
	fclose(file);
	run(ms * (uint64_t)generation);
	if (generation == GENERATIONS)
		return;
	snprintf(next, sizeof(next), "%d", generation + 1);
	execl(argv[0], argv[0], argv[1], argv[2], next, NULL);
}

static void run_rewrite(const char *mode, uint64_t ms, long n)
{
	int renamed = strcmp(mode, "rename") == 0, append = strcmp(mode, "append") == 0;

	for (int generation = 1; generation <= GENERATIONS; generation++) {
		FILE *file = file_open(renamed ? new_path : map_path, append ? "a" : "w");
		char name[16];

		snprintf(name, sizeof(name), "gen_%d", generation);
		fill(file, 0, n / 2);
		list(file, name);
		fill(file, n / 2, n);
		fclose(file);
		require(!renamed || rename(new_path, map_path) == 0, map_path);
		run(ms * (uint64_t)generation);
	}
}

static void run_stale(char **argv, uint64_t ms)
{
	FILE *file = file_open(map_path, "w");

	list(file, "wrong");
	fclose(file);
	/* Longer than the kernel's tick, which is the resolution of file times. */
	usleep(100000);
	execl(argv[0], argv[0], "quiet", argv[2], NULL);
	(void)ms;
}

static void run_fork(uint64_t ms)
{
	FILE *file = file_open(map_path, "w");

	list(file, "hot");
	fclose(file);
	run(ms / 2);
	if (fork() == 0) {
		run(ms);
		_exit(0);
	}
	usleep(100000);
	file = file_open(map_path, "w");
	list(file, "other");
	fclose(file);
	wait(NULL);
}

static void run_child(uint64_t ms)
{
	FILE *file = file_open(map_path, "w");

	list(file, "hot");
	fclose(file);
	usleep(100000);
	if (fork() == 0) {
		run(ms);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	long n = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	paths_make();
	memory_make();
	if (strcmp(mode, "big") == 0 || strcmp(mode, "first") == 0)
		run_big(ms, n, *mode == 'f');
	else if (strcmp(mode, "many") == 0)
		run_many(ms, n);
	else if (strcmp(mode, "exec") == 0)
		run_exec(argv, ms, n > 0 ? (int)n : 1);
	else if (strcmp(mode, "stale") == 0)
		run_stale(argv, ms);
	else if (strcmp(mode, "quiet") == 0)
		run(ms);
	else if (strcmp(mode, "fork") == 0)
		run_fork(ms);
	else if (strcmp(mode, "child") == 0)
		run_child(ms);
	else
		run_rewrite(mode, ms, n);
	return 0;
}
