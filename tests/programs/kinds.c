// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose code is in an image of the requested kind. Each kind spends its time in one
 * procedure, or in two at 70 to 30.
 *
 * - kinds text MS: in its own text: kinds_spin
 * - kinds unlinked MS: the same, its file unlinked
 * - kinds renamed MS FILE: the same, FILE renamed to its name
 * - kinds memfd MS: the same, executed from a memfd
 * - kinds dlopen MS LIBRARY: in kinds_library of a library
 * - kinds huge MS: in its text, copied to anonymous memory in place
 * - kinds map MS [FILE]: generated, listed in FILE (/tmp/perf-PID.map):
 *   hot_seventy and hot_thirty
 * - kinds fork MS [FILE]: the same, executed by a child
 * - kinds recycle MS [FILE]: hot_old, then at the same address hot_new
 * - kinds dump MS DIRECTORY: hot_seventy and hot_thirty, listed in a jitdump
 *
 * With KINDS_LIBRARY defined it is the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t (*spin_fn)(uint64_t n);

#define SPIN(name)                                                                                 \
	__attribute__((noinline, noclone, aligned(64))) uint64_t name(uint64_t n);                 \
	uint64_t name(uint64_t n)                                                                  \
	{                                                                                          \
		uint64_t x = n;                                                                    \
		for (; n > 0; n--)                                                                 \
			x = (x ^ x >> 7) * 0x9e3779b97f4a7c15ULL;                                  \
		return x;                                                                          \
	}

#ifdef KINDS_LIBRARY
SPIN(kinds_library)
#else
SPIN(kinds_spin)

static uint64_t milliseconds;

static void require(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Spin in @first for seven tenths of the time, in @second for three tenths. An iteration is much
 * shorter than a sample's period, since otherwise samples could hit one part for long.
 */
static void spin(spin_fn first, spin_fn second)
{
	uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + milliseconds * 1000000;

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) {
		first(7000);
		second(3000);
	}
}

/* Write a loop whose argument is its trip count, and return its size in bytes. */
static size_t code_write(void *at)
{
#if defined(__x86_64__)
	/* xor %eax,%eax; 1: add $1,%rax; imul %rax,%rax; dec %rdi; jnz 1b; ret */
	static const uint8_t code[] = {0x31, 0xc0, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x0f,
				       0xaf, 0xc0, 0x48, 0xff, 0xcf, 0x75, 0xf3, 0xc3};
#elif defined(__aarch64__)
	/* mov x1, #1; 1: madd x1, x1, x1, x1; subs x0, x0, #1; b.ne 1b; ret */
	static const uint32_t code[] = {0xd2800021, 0x9b010421, 0xf1000400, 0x54ffffc1, 0xd65f03c0};
#endif

	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, (char *)at + sizeof(code));
	return sizeof(code);
}

static char *code_memory(void)
{
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED, "mmap");
	return memory;
}

static spin_fn code_function(char *at)
{
	return (spin_fn)(void *)at;
}

static void told(FILE *file, const char *at, size_t bytes, const char *name)
{
	fprintf(file, "%lx %zx %s\n", (unsigned long)at, bytes, name);
	fflush(file);
}

static FILE *map_file(const char *path)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path != NULL ? path : name, "w");
	require(file != NULL, "perf map");
	return file;
}

static void run_map(const char *path, int forks)
{
	FILE *file = map_file(path);
	char *memory = code_memory();
	size_t bytes = code_write(memory);

	told(file, memory, bytes, "hot_seventy");
	told(file, memory + 4096, code_write(memory + 4096), "hot_thirty");
	if (forks && fork() != 0) {
		wait(NULL);
		return;
	}
	spin(code_function(memory), code_function(memory + 4096));
}

/* Half of the time each; the first name stays in the map. */
static void run_recycle(const char *path)
{
	FILE *file = map_file(path);
	char *memory = code_memory();
	size_t bytes = code_write(memory);

	told(file, memory, bytes, "hot_old");
	spin(code_function(memory), code_function(memory));
	told(file, memory, bytes, "hot_new");
	spin(code_function(memory), code_function(memory));
}

static void dump_u32(FILE *file, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void dump_u64(FILE *file, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void dump_load(FILE *file, const char *at, size_t bytes, const char *name)
{
	dump_u32(file, 0);
	dump_u32(file, (uint32_t)(56 + strlen(name) + 1 + bytes));
	dump_u64(file, now_ns(CLOCK_MONOTONIC));
	dump_u32(file, (uint32_t)getpid());
	dump_u32(file, (uint32_t)getpid());
	dump_u64(file, (uint64_t)at);
	dump_u64(file, (uint64_t)at);
	dump_u64(file, bytes);
	dump_u64(file, 1);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(at, bytes, 1, file);
	fflush(file);
}

static void run_dump(const char *directory)
{
	char *memory = code_memory();
	size_t bytes = code_write(memory);
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s/jit-%d.dump", directory, (int)getpid());
	file = fopen(name, "w+");
	require(file != NULL, name);
	dump_u32(file, 0x4a695444);
	dump_u32(file, 1);
	dump_u32(file, 40);
#if defined(__x86_64__)
	dump_u32(file, EM_X86_64);
#else
	dump_u32(file, EM_AARCH64);
#endif
	dump_u32(file, 0);
	dump_u32(file, (uint32_t)getpid());
	dump_u64(file, now_ns(CLOCK_MONOTONIC));
	dump_u64(file, 0);
	fflush(file);
	/* The profiler notices the jitdump by this mapping. */
	require(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) != MAP_FAILED,
		"mmap");
	dump_load(file, memory, bytes, "hot_seventy");
	dump_load(file, memory + 4096, code_write(memory + 4096), "hot_thirty");
	spin(code_function(memory), code_function(memory + 4096));
}

static void run_memfd(char *const *argv)
{
	char *const arguments[] = {argv[0], "text", argv[2], NULL};
	int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("kinds", MFD_CLOEXEC);
	struct stat status;

	require(from >= 0 && to >= 0 && fstat(from, &status) == 0, "memfd");
	require(sendfile(to, from, NULL, (size_t)status.st_size) == status.st_size, "sendfile");
	fexecve(to, arguments, environ);
	require(0, "fexecve");
}

static void run_dlopen(const char *path)
{
#ifdef KINDS_STATIC
	(void)path;
	exit(1);
#else
	void *library = dlopen(path, RTLD_NOW);
	spin_fn function = library != NULL ? (spin_fn)dlsym(library, "kinds_library") : NULL;

	if (function == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	spin(function, function);
#endif
}

/* As programs do that want their text on huge pages: an anonymous copy replaces the file. */
static void run_huge(void)
{
	uintptr_t page = (uintptr_t)kinds_spin & ~(uintptr_t)4095;
	void *copy = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(copy != MAP_FAILED, "mmap");
	memcpy(copy, (void *)page, 8192);
	require(mprotect(copy, 8192, PROT_READ | PROT_EXEC) == 0, "mprotect");
	require(mremap(copy, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page) != MAP_FAILED,
		"mremap");
	spin(kinds_spin, kinds_spin);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "", *path = argc > 3 ? argv[3] : NULL;

	milliseconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	if (strcmp(kind, "text") == 0) {
		spin(kinds_spin, kinds_spin);
	} else if (strcmp(kind, "unlinked") == 0) {
		require(unlink(argv[0]) == 0, argv[0]);
		spin(kinds_spin, kinds_spin);
	} else if (strcmp(kind, "renamed") == 0 && path != NULL) {
		require(rename(path, argv[0]) == 0, path);
		spin(kinds_spin, kinds_spin);
	} else if (strcmp(kind, "memfd") == 0) {
		run_memfd(argv);
	} else if (strcmp(kind, "dlopen") == 0 && path != NULL) {
		run_dlopen(path);
	} else if (strcmp(kind, "huge") == 0) {
		run_huge();
	} else if (strcmp(kind, "map") == 0) {
		run_map(path, 0);
	} else if (strcmp(kind, "fork") == 0) {
		run_map(path, 1);
	} else if (strcmp(kind, "recycle") == 0) {
		run_recycle(path);
	} else if (strcmp(kind, "dump") == 0 && path != NULL) {
		run_dump(path);
	} else {
		fprintf(stderr, "usage: see the comment in tests/programs/kinds.c\n");
		return 2;
	}
	return 0;
}
#endif
