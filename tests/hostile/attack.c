// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks of an unprivileged user on the profiler by mappings of executable memory.
 *
 * "numbers FOLDER FILES" maps files one after the other, each with different contents.
 * "held FOLDER FILES" does the same and keeps all of them mapped.
 * "names FOLDER NAMES" maps one file under many names.
 * "holes FOLDER FILES" maps files of 8 MiB that have no data.
 * "mappings FILE PROCESSES MAPPINGS" starts processes with many mappings of a file.
 * "remap FILE SECONDS" replaces one mapping by another as fast as possible.
 * "tables FOLDER SECONDS" runs code of a file whose call frame information takes long to compile,
 * which is another image each time.
 * "perfmaps PROCESSES SECONDS" starts processes that add a line to their perf map again and again.
 * Each line replaces the code of another line, which is sampled.
 * "swap FOLDER SECONDS" maps a file and runs its code, and meanwhile replaces the file by a FIFO, a
 * symbolic link, a loop of links, a folder or a sparse file.
 * "spin MILLISECONDS" uses the CPU, for the victim.
 *
 * Modes that keep their mappings print "ready" and wait for the end of standard input.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../fixtures/slow_unwind.h"

#define PAGE ((size_t)4096)
/* Four seconds of compilation on a fast machine for ten images. */
#define SLOW_INSTRUCTIONS (16U << 20)
/* CPU time in an image, so that its stack is sampled. */
#define SLOW_SPIN_NS 150000000ULL
#define SPARSE_BYTES ((off_t)8 << 20)
/* Between two lines of a perf map, and the calls of its code. */
#define MAP_PAUSE_NS 5000000
#define MAP_CALLS 20000
/* Other lines, so that checks whether the file was rewritten take long. */
#define MAP_LINES 8192

static void require(int condition, const char *action)
{
	if (condition)
		return;
	fprintf(stderr, "attack: ");
	perror(action);
	_exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *map(int fd, off_t offset)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);

	require(page != MAP_FAILED, "mmap");
	return page;
}

static int file_create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	require(fd >= 0, path);
	return fd;
}

/* The script that started the attack closes the pipe. */
static void wait_for_end(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
}

static void files_map(const char *folder, unsigned long first, unsigned long last, int keep)
{
	for (unsigned long i = first; i < last; i++) {
		char path[4096];
		void *page;
		int fd;

		snprintf(path, sizeof(path), "%s/n%lu", folder, i);
		fd = file_create(path);
		require(write(fd, path, sizeof(path)) == (ssize_t)sizeof(path), "write");
		page = map(fd, 0);
		if (!keep)
			munmap(page, PAGE);
		unlink(path);
		close(fd);
	}
}

/* The kernel limits the mappings of a process, so several processes hold them. */
static void files_hold(const char *folder, unsigned long files)
{
	int pipe_fds[2], done[2];
	unsigned long first, last, processes = 0;
	char byte;

	require(pipe(pipe_fds) == 0 && pipe(done) == 0, "pipe");
	for (first = 0; first < files; first = last, processes++) {
		last = first + 16000 < files ? first + 16000 : files;
		if (fork() != 0)
			continue;
		close(pipe_fds[1]);
		files_map(folder, first, last, 1);
		require(write(done[1], "", 1) == 1, "write");
		_exit(read(pipe_fds[0], &byte, 1) != 0);
	}
	for (; processes > 0; processes--)
		require(read(done[0], &byte, 1) == 1, "read");
	wait_for_end();
}

static void names_map(const char *folder, unsigned long names)
{
	char path[4096], next[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/m0", folder);
	close(file_create(path));
	for (unsigned long i = 1; i <= names; i++) {
		snprintf(next, sizeof(next), "%s/m%lu", folder, i);
		require(rename(path, next) == 0, next);
		strcpy(path, next);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		munmap(map(fd, 0), PAGE);
		close(fd);
	}
	unlink(path);
}

static void sparse_map(const char *folder, unsigned long files)
{
	for (unsigned long i = 0; i < files; i++) {
		char path[4096];
		int fd;

		snprintf(path, sizeof(path), "%s/s%lu", folder, i);
		fd = file_create(path);
		require(ftruncate(fd, SPARSE_BYTES) == 0, "ftruncate");
		map(fd, 0);
		unlink(path);
		close(fd);
	}
	wait_for_end();
}

/* Adjacent mappings have different offsets, so that the kernel does not merge them. */
static void many_map(const char *file, unsigned long mappings)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	require(fd >= 0, file);
	for (unsigned long i = 0; i < mappings; i++)
		map(fd, (off_t)((i & 1) * PAGE));
	close(fd);
}

static void many_processes(const char *file, unsigned long processes, unsigned long mappings)
{
	int end[2], done[2];
	char byte;

	require(pipe(end) == 0 && pipe(done) == 0, "pipe");
	for (unsigned long i = 0; i < processes; i++) {
		if (fork() != 0)
			continue;
		close(end[1]);
		many_map(file, mappings);
		require(write(done[1], "", 1) == 1, "write");
		_exit(read(end[0], &byte, 1) != 0);
	}
	for (unsigned long i = 0; i < processes; i++)
		require(read(done[0], &byte, 1) == 1, "read");
	wait_for_end();
}

static void remap(const char *file, unsigned long seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	unsigned long i = 0;
	void *page;

	require(fd >= 0, file);
	page = map(fd, 0);
	for (; now_ns() < end; i++)
		require(mmap(page, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			     (off_t)((i & 1) * PAGE)) == page,
			"mmap");
	printf("%lu\n", i);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Run code of a file for some time. */
static void file_run(int fd)
{
	uint8_t *file = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	uint64_t end = cpu_ns() + SLOW_SPIN_NS;
	void (*countdown)(unsigned long);
	void *code = file + SLOW_UNWIND_CODE_AT;

	require(file != MAP_FAILED, "mmap");
	memcpy(&countdown, &code, sizeof(countdown));
	while (cpu_ns() < end)
		countdown(1000000);
	munmap(file, PAGE);
}

/* Another modification time makes another image, until its contents have been read. */
static void tables_run(const char *folder, unsigned long seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL;
	struct timespec times[2] = {{0, UTIME_OMIT}, {0, 0}};
	unsigned long i = 0;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/slow", folder);
	fd = file_create(path);
	require(slow_unwind_write(fd, SLOW_INSTRUCTIONS, 7) == 0, "write");
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0, path);
	for (; now_ns() < end; i++) {
		times[1].tv_sec = (time_t)i;
		require(futimens(fd, times) == 0, "futimens");
		file_run(fd);
	}
	unlink(path);
	printf("%lu\n", i);
}

/* x86-64 and arm64: return */
static void code_make(uint8_t *code)
{
#if defined(__x86_64__)
	static const uint8_t insn[] = {0xc3};
#else
	static const uint8_t insn[] = {0xc0, 0x03, 0x5f, 0xd6};
#endif

	memcpy(code, insn, sizeof(insn));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(insn));
}

static void perfmap_write(uint64_t end)
{
	const struct timespec pause = {.tv_nsec = MAP_PAUSE_NS};
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void);
	char path[64];
	FILE *file;

	require(code != MAP_FAILED, "mmap");
	code_make(code);
	memcpy(&call, &code, sizeof(call));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "we");
	require(file != NULL, path);
	for (unsigned long i = 1; i <= MAP_LINES; i++)
		fprintf(file, "%lx %x other_name_%lu\n", i << 12, 16, i);
	for (unsigned long i = 0; now_ns() < end; i++) {
		fprintf(file, "%lx %zx name_%lu\n", (unsigned long)(uintptr_t)code, PAGE, i);
		fflush(file);
		for (int calls = 0; calls < MAP_CALLS; calls++)
			call();
		nanosleep(&pause, NULL);
	}
	fclose(file);
	unlink(path);
}

static void perfmaps_write(unsigned long processes, unsigned long seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL;
	const struct timespec rest = {.tv_sec = (time_t)seconds};

	for (unsigned long i = 0; i < processes; i++) {
		if (fork() != 0)
			continue;
		perfmap_write(end);
		_exit(0);
	}
	nanosleep(&rest, NULL);
}

/* Replace the file at a path by something else. */
static void path_replace(const char *path, unsigned long i)
{
	int fd;

	unlink(path);
	switch (i % 5) {
	case 0:
		require(mkfifo(path, 0600) == 0, path);
		break;
	case 1:
		require(symlink("/etc/shadow", path) == 0, path);
		break;
	case 2:
		require(symlink(path, path) == 0, path);
		break;
	case 3:
		require(mkdir(path, 0700) == 0, path);
		break;
	default:
		fd = file_create(path);
		require(ftruncate(fd, (off_t)1 << 40) == 0, "ftruncate");
		close(fd);
	}
}

/* The process that has the mapping may have ended before the profiler opens the file. */
static void swap_run(const char *folder, unsigned long i)
{
	uint8_t code[PAGE] = {0};
	void (*call)(void);
	char path[4096];
	uint64_t end;
	void *page;
	int fd;

	snprintf(path, sizeof(path), "%s/swap", folder);
	fd = file_create(path);
	code_make(code);
	code[PAGE - 1] = (uint8_t)i;
	require(write(fd, code, sizeof(code)) == (ssize_t)sizeof(code), "write");
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0, path);
	page = map(fd, 0);
	close(fd);
	path_replace(path, i);
	memcpy(&call, &page, sizeof(call));
	for (end = cpu_ns() + (i % 3) * 5000000; cpu_ns() < end;)
		for (int calls = 0; calls < MAP_CALLS; calls++)
			call();
	remove(path);
}

static void swap(const char *folder, unsigned long seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL;

	for (unsigned long i = 0; now_ns() < end; i++) {
		pid_t child = fork();

		if (child == 0) {
			swap_run(folder, i);
			_exit(0);
		}
		/* The exit status is of no use, and SIGCHLD is ignored. */
		while (child > 0 && kill(child, 0) == 0)
			waitpid(child, NULL, 0);
	}
}

static void spin(unsigned long milliseconds)
{
	struct timespec used;
	volatile unsigned int work = 0;

	do {
		for (int i = 0; i < 100000; i++)
			work = work * 3 + 1;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while ((unsigned long)(used.tv_sec * 1000 + used.tv_nsec / 1000000) < milliseconds);
}

static unsigned long number(int argc, char **argv, int i)
{
	if (i < argc)
		return strtoul(argv[i], NULL, 10);
	fprintf(stderr, "attack: an argument is missing\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	signal(SIGCHLD, SIG_IGN);
	if (strcmp(mode, "numbers") == 0)
		files_map(argv[2], 0, number(argc, argv, 3), 0);
	else if (strcmp(mode, "held") == 0)
		files_hold(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "names") == 0)
		names_map(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "holes") == 0)
		sparse_map(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "mappings") == 0)
		many_processes(argv[2], number(argc, argv, 3), number(argc, argv, 4));
	else if (strcmp(mode, "remap") == 0)
		remap(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "tables") == 0)
		tables_run(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "perfmaps") == 0)
		perfmaps_write(number(argc, argv, 2), number(argc, argv, 3));
	else if (strcmp(mode, "swap") == 0)
		swap(argv[2], number(argc, argv, 3));
	else if (strcmp(mode, "spin") == 0)
		spin(number(argc, argv, 2));
	else
		return 2;
	return 0;
}
