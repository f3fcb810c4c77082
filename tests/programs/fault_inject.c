// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault injection, as LD_PRELOAD: calls of the allocator and of the C library's wrappers of system
 * calls fail at a chosen site.
 *
 * A site is a function and the innermost frames of its callers, as offsets in their modules, so
 * that it has the same number in each run. tests/faults.py lists the sites of a run and then
 * repeats the run with a fault at each of them.
 *
 *	FAULT_PROGRAM	name of the program to inject faults into; its children run unchanged.
 *	FAULT_LIST	append "SITE KIND FUNCTION" to this file for each site that is reached.
 *	FAULT_SITE	the site that fails, as numbered in the list.
 *	FAULT_ERROR	errno, or 0: transfer half of the bytes.
 *	FAULT_ALWAYS	1: after the site has failed, all calls of its kind fail.
 *	FAULT_HIT	create this file when the fault happens.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define EXPORT __attribute__((visibility("default")))
#define FRAMES 8
#define SITES_MAX 65536
#define MODULES_MAX 64
#define BOOTSTRAP_BYTES 65536

enum kind {
	KIND_ALLOC,
	KIND_OPEN,
	KIND_READ,
	KIND_WRITE,
	KIND_FILE,
	KIND_MAP,
	KIND_EVENT,
	KIND_CONTROL,
	KIND_NR,
};

static const char *const kind_names[KIND_NR] = {
	"alloc", "open", "read", "write", "file", "map", "event", "control",
};

enum verdict {
	VERDICT_CALL,
	VERDICT_FAIL,
	VERDICT_SHORT,
};

static struct {
	int state; /* 0 not read yet, 1 off, 2 list, 3 inject */
	const char *list;
	const char *hit;
	uint64_t site;
	int error;
	bool always;
	atomic_int fired;
	atomic_int fired_kind;
} config;

static _Atomic uint64_t seen[SITES_MAX];
static __thread bool busy;

/* Address ranges of modules; re-read for an address in none, as modules may be loaded. */
static struct module {
	uintptr_t start;
	uintptr_t end;
	uint64_t name;
} modules[MODULES_MAX];
static size_t module_count;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
	return hash * 0xff51afd7ed558ccdULL;
}

static uint64_t hash_of(const char *text)
{
	const char *base = strrchr(text, '/');
	uint64_t hash = 1;

	for (text = base != NULL ? base + 1 : text; *text != '\0'; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

static int module_add(struct dl_phdr_info *info, size_t size, void *context)
{
	struct module *module = &modules[module_count];

	(void)size, (void)context;
	if (module_count == MODULES_MAX)
		return 1;
	*module = (struct module){.start = UINTPTR_MAX, .name = hash_of(info->dlpi_name)};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (start < module->start)
			module->start = start;
		if (start + header->p_memsz > module->end)
			module->end = start + header->p_memsz;
	}
	module_count++;
	return 0;
}

static uint64_t place_of(uintptr_t address, bool again)
{
	for (size_t i = 0; i < module_count; i++) {
		if (address >= modules[i].start && address < modules[i].end)
			return mix(modules[i].name, address - modules[i].start);
	}
	if (!again)
		return 0;
	module_count = 0;
	dl_iterate_phdr(module_add, NULL);
	return place_of(address, false);
}

struct walk {
	uint64_t hash;
	int skip;
	int frames;
};

static _Unwind_Reason_Code frame_take(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;

	if (walk->skip-- > 0)
		return _URC_NO_REASON;
	walk->hash = mix(walk->hash, place_of(_Unwind_GetIP(context), true));
	return ++walk->frames < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void file_append(const char *path, const char *text)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0644);

	if (fd < 0)
		return;
	syscall(SYS_write, fd, text, strlen(text));
	syscall(SYS_close, fd);
}

static void configure(void)
{
	const char *program = getenv("FAULT_PROGRAM"), *text;

	config.state = 1;
	if (program == NULL || strcmp(program, program_invocation_short_name) != 0)
		return;
	config.list = getenv("FAULT_LIST");
	config.hit = getenv("FAULT_HIT");
	if (config.list != NULL) {
		config.state = 2;
		return;
	}
	text = getenv("FAULT_SITE");
	if (text == NULL)
		return;
	config.site = strtoull(text, NULL, 16);
	text = getenv("FAULT_ERROR");
	config.error = text != NULL ? atoi(text) : ENOMEM;
	config.always = getenv("FAULT_ALWAYS") != NULL;
	config.state = 3;
}

static bool is_new(uint64_t site)
{
	for (size_t i = site % SITES_MAX, n = 0; n < SITES_MAX; i = (i + 1) % SITES_MAX, n++) {
		uint64_t none = 0;

		if (seen[i] == site)
			return false;
		if (atomic_compare_exchange_strong(&seen[i], &none, site))
			return true;
		if (none == site)
			return false;
	}
	return false;
}

static void site_list(uint64_t site, enum kind kind, const char *function)
{
	char line[128];

	if (!is_new(site))
		return;
	snprintf(line, sizeof(line), "%016llx %s %s\n", (unsigned long long)site, kind_names[kind],
		 function);
	file_append(config.list, line);
}

static bool site_fails(uint64_t site, enum kind kind)
{
	if (config.fired > 0)
		return config.always && config.fired_kind == (int)kind;
	if (site != config.site || atomic_fetch_add(&config.fired, 1) > 0)
		return false;
	config.fired_kind = kind;
	if (config.hit != NULL)
		file_append(config.hit, "hit\n");
	return true;
}

static enum verdict fault(enum kind kind, const char *function)
{
	struct walk walk = {.hash = hash_of(function), .skip = 2};
	enum verdict verdict = VERDICT_CALL;
	int saved = errno;

	if (busy || config.state == 1)
		return VERDICT_CALL;
	busy = true;
	if (config.state == 0)
		configure();
	/* After the only failure, the call stack no longer matters. */
	if (config.state == 2 || (config.state == 3 && (config.fired == 0 || config.always))) {
		if (config.fired == 0)
			_Unwind_Backtrace(frame_take, &walk);
		if (config.state == 2)
			site_list(walk.hash, kind, function);
		else if (site_fails(walk.hash, kind))
			verdict = config.error == 0 ? VERDICT_SHORT : VERDICT_FAIL;
	}
	busy = false;
	errno = verdict == VERDICT_FAIL ? config.error : saved;
	return verdict;
}

/* dlsym() itself allocates; such memory is never freed. */
static char bootstrap[BOOTSTRAP_BYTES] __attribute__((aligned(16)));
static size_t bootstrap_used;

static void *bootstrap_take(size_t bytes)
{
	char *memory = bootstrap + bootstrap_used;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof(bootstrap) - bootstrap_used)
		abort();
	bootstrap_used += bytes;
	return memory;
}

static bool is_bootstrap(const void *memory)
{
	return (const char *)memory >= bootstrap &&
	       (const char *)memory < bootstrap + sizeof(bootstrap);
}

static __thread bool looking_up;

static void *next_of(const char *function)
{
	void *next;

	looking_up = true;
	next = dlsym(RTLD_NEXT, function);
	looking_up = false;
	return next;
}

#define NEXT(type, name, parameters)                                                               \
	static type(*next) parameters;                                                             \
	if (next == NULL)                                                                          \
	next = (type(*) parameters)next_of(#name)

EXPORT void *malloc(size_t size)
{
	if (looking_up)
		return bootstrap_take(size);
	NEXT(void *, malloc, (size_t));
	return fault(KIND_ALLOC, "malloc") != VERDICT_CALL ? NULL : next(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	if (looking_up)
		return bootstrap_take(count * size);
	NEXT(void *, calloc, (size_t, size_t));
	return fault(KIND_ALLOC, "calloc") != VERDICT_CALL ? NULL : next(count, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
	NEXT(void *, realloc, (void *, size_t));
	return fault(KIND_ALLOC, "realloc") != VERDICT_CALL ? NULL : next(memory, size);
}

EXPORT void free(void *memory)
{
	if (is_bootstrap(memory))
		return;
	NEXT(void, free, (void *));
	next(memory);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size)
{
	NEXT(int, posix_memalign, (void **, size_t, size_t));
	return fault(KIND_ALLOC, "posix_memalign") != VERDICT_CALL ? ENOMEM
								   : next(memory, alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	NEXT(void *, aligned_alloc, (size_t, size_t));
	return fault(KIND_ALLOC, "aligned_alloc") != VERDICT_CALL ? NULL : next(alignment, size);
}

/* Wrap functions with two to six parameters of plain types. */
#define P(...) (__VA_ARGS__)
#define WRAP(kind, type, failed, name, parameters, arguments)                                      \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		NEXT(type, name, parameters);                                                      \
		return fault(kind, #name) != VERDICT_CALL ? (failed) : next arguments;             \
	}
/*
 * Timers, signals and other special files of the kernel are transferred as a whole: half of such a
 * transfer is an invalid call. They have no file type.
 */
static bool is_divisible(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) != 0;
}

/* @count is the parameter that a short transfer halves. */
#define WRAP_COUNT(kind, type, name, parameters, arguments, count)                                 \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		enum verdict verdict;                                                              \
		NEXT(type, name, parameters);                                                      \
		verdict = fault(kind, #name);                                                      \
		if (verdict == VERDICT_FAIL)                                                       \
			return -1;                                                                 \
		if (verdict == VERDICT_SHORT && (count) > 1 && is_divisible(fd))                   \
			(count) /= 2;                                                              \
		return next arguments;                                                             \
	}
#define WRAP_OPEN(name, parameters, arguments, last)                                               \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		NEXT(int, name, parameters);                                                       \
		if (flags & (O_CREAT | __O_TMPFILE)) {                                             \
			va_list args;                                                              \
			va_start(args, last);                                                      \
			mode = va_arg(args, mode_t);                                               \
			va_end(args);                                                              \
		}                                                                                  \
		return fault(KIND_OPEN, #name) != VERDICT_CALL ? -1 : next arguments;              \
	}

/* NOLINTBEGIN: the C library's own declarations */
WRAP_OPEN(open, P(const char *path, int flags, ...), P(path, flags, mode), flags)
WRAP_OPEN(open64, P(const char *path, int flags, ...), P(path, flags, mode), flags)
WRAP_OPEN(openat, P(int at, const char *path, int flags, ...), P(at, path, flags, mode), flags)
WRAP_OPEN(openat64, P(int at, const char *path, int flags, ...), P(at, path, flags, mode), flags)
WRAP(KIND_OPEN, FILE *, NULL, fopen, P(const char *path, const char *mode), P(path, mode))
WRAP(KIND_OPEN, FILE *, NULL, fopen64, P(const char *path, const char *mode), P(path, mode))
WRAP(KIND_OPEN, FILE *, NULL, fdopen, P(int fd, const char *mode), P(fd, mode))
WRAP(KIND_OPEN, DIR *, NULL, opendir, P(const char *path), P(path))
WRAP(KIND_OPEN, DIR *, NULL, fdopendir, P(int fd), P(fd))
WRAP(KIND_OPEN, int, -1, dup, P(int fd), P(fd))
WRAP(KIND_OPEN, int, -1, dup3, P(int fd, int to, int flags), P(fd, to, flags))
WRAP(KIND_OPEN, int, -1, pipe2, P(int *fds, int flags), P(fds, flags))
WRAP(KIND_OPEN, int, -1, socket, P(int domain, int type, int protocol), P(domain, type, protocol))
WRAP(KIND_OPEN, int, -1, accept4, P(int fd, struct sockaddr *a, socklen_t *n, int flags),
     P(fd, a, n, flags))
WRAP(KIND_OPEN, int, -1, epoll_create1, P(int flags), P(flags))
WRAP(KIND_OPEN, int, -1, timerfd_create, P(int clock, int flags), P(clock, flags))
WRAP(KIND_OPEN, int, -1, signalfd, P(int fd, const void *mask, int flags), P(fd, mask, flags))
WRAP(KIND_OPEN, int, -1, eventfd, P(unsigned int value, int flags), P(value, flags))
WRAP(KIND_OPEN, int, -1, memfd_create, P(const char *name, unsigned int flags), P(name, flags))
WRAP_COUNT(KIND_READ, ssize_t, read, P(int fd, void *to, size_t n), P(fd, to, n), n)
WRAP_COUNT(KIND_READ, ssize_t, pread, P(int fd, void *to, size_t n, off_t at), P(fd, to, n, at), n)
WRAP_COUNT(KIND_READ, ssize_t, pread64, P(int fd, void *to, size_t n, off64_t at), P(fd, to, n, at),
	   n)
WRAP_COUNT(KIND_READ, ssize_t, __read_chk, P(int fd, void *to, size_t n, size_t room),
	   P(fd, to, n, room), n)
WRAP_COUNT(KIND_READ, ssize_t, __pread_chk, P(int fd, void *to, size_t n, off_t at, size_t room),
	   P(fd, to, n, at, room), n)
WRAP_COUNT(KIND_READ, ssize_t, __pread64_chk,
	   P(int fd, void *to, size_t n, off64_t at, size_t room), P(fd, to, n, at, room), n)
WRAP_COUNT(KIND_READ, ssize_t, recv, P(int fd, void *to, size_t n, int flags), P(fd, to, n, flags),
	   n)
WRAP(KIND_READ, ssize_t, -1, recvmsg, P(int fd, struct msghdr *m, int flags), P(fd, m, flags))
WRAP(KIND_READ, ssize_t, -1, getline, P(char **line, size_t *n, FILE *f), P(line, n, f))
WRAP(KIND_READ, ssize_t, -1, getdelim, P(char **line, size_t *n, int end, FILE *f),
     P(line, n, end, f))
WRAP(KIND_READ, char *, NULL, fgets, P(char *to, int n, FILE *f), P(to, n, f))
WRAP(KIND_READ, char *, NULL, __fgets_chk, P(char *to, size_t room, int n, FILE *f),
     P(to, room, n, f))
WRAP(KIND_READ, struct dirent *, NULL, readdir, P(DIR *d), P(d))
WRAP(KIND_READ, struct dirent64 *, NULL, readdir64, P(DIR *d), P(d))
WRAP(KIND_READ, ssize_t, -1, readlink, P(const char *path, char *to, size_t n), P(path, to, n))
WRAP(KIND_READ, ssize_t, -1, readlinkat, P(int at, const char *path, char *to, size_t n),
     P(at, path, to, n))
WRAP(KIND_READ, char *, NULL, realpath, P(const char *path, char *to), P(path, to))
WRAP_COUNT(KIND_WRITE, ssize_t, write, P(int fd, const void *from, size_t n), P(fd, from, n), n)
WRAP_COUNT(KIND_WRITE, ssize_t, pwrite, P(int fd, const void *from, size_t n, off_t at),
	   P(fd, from, n, at), n)
WRAP_COUNT(KIND_WRITE, ssize_t, pwrite64, P(int fd, const void *from, size_t n, off64_t at),
	   P(fd, from, n, at), n)
WRAP_COUNT(KIND_WRITE, ssize_t, send, P(int fd, const void *from, size_t n, int flags),
	   P(fd, from, n, flags), n)
WRAP(KIND_WRITE, ssize_t, -1, sendmsg, P(int fd, const struct msghdr *m, int flags),
     P(fd, m, flags))
WRAP(KIND_WRITE, int, EOF, fflush, P(FILE *f), P(f))
WRAP(KIND_FILE, int, -1, stat, P(const char *path, struct stat *to), P(path, to))
WRAP(KIND_FILE, int, -1, stat64, P(const char *path, struct stat64 *to), P(path, to))
WRAP(KIND_FILE, int, -1, lstat, P(const char *path, struct stat *to), P(path, to))
WRAP(KIND_FILE, int, -1, lstat64, P(const char *path, struct stat64 *to), P(path, to))
WRAP(KIND_FILE, int, -1, fstat, P(int fd, struct stat *to), P(fd, to))
WRAP(KIND_FILE, int, -1, fstat64, P(int fd, struct stat64 *to), P(fd, to))
WRAP(KIND_FILE, int, -1, access, P(const char *path, int mode), P(path, mode))
WRAP(KIND_FILE, int, -1, rename, P(const char *from, const char *to), P(from, to))
WRAP(KIND_FILE, int, -1, unlink, P(const char *path), P(path))
WRAP(KIND_FILE, int, -1, mkdir, P(const char *path, mode_t mode), P(path, mode))
WRAP(KIND_FILE, int, -1, linkat, P(int at, const char *from, int to_at, const char *to, int flags),
     P(at, from, to_at, to, flags))
WRAP(KIND_FILE, int, -1, ftruncate, P(int fd, off_t size), P(fd, size))
WRAP(KIND_FILE, int, -1, ftruncate64, P(int fd, off64_t size), P(fd, size))
WRAP(KIND_FILE, int, -1, fsync, P(int fd), P(fd))
WRAP(KIND_FILE, int, -1, fdatasync, P(int fd), P(fd))
WRAP(KIND_FILE, int, -1, flock, P(int fd, int operation), P(fd, operation))
WRAP(KIND_FILE, int, -1, fchmod, P(int fd, mode_t mode), P(fd, mode))
WRAP(KIND_FILE, int, -1, fchown, P(int fd, uid_t user, gid_t group), P(fd, user, group))
WRAP(KIND_MAP, void *, MAP_FAILED, mmap,
     P(void *at, size_t n, int protection, int flags, int fd, off_t offset),
     P(at, n, protection, flags, fd, offset))
WRAP(KIND_MAP, void *, MAP_FAILED, mmap64,
     P(void *at, size_t n, int protection, int flags, int fd, off64_t offset),
     P(at, n, protection, flags, fd, offset))
WRAP(KIND_EVENT, int, -1, epoll_wait, P(int fd, struct epoll_event *to, int n, int timeout),
     P(fd, to, n, timeout))
WRAP(KIND_EVENT, int, -1, epoll_ctl, P(int fd, int operation, int on, struct epoll_event *event),
     P(fd, operation, on, event))
WRAP(KIND_EVENT, int, -1, poll, P(struct pollfd *fds, nfds_t n, int timeout), P(fds, n, timeout))
WRAP(KIND_EVENT, int, -1, timerfd_settime, P(int fd, int flags, const void *new, void *old),
     P(fd, flags, new, old))
WRAP(KIND_CONTROL, int, -1, bind, P(int fd, const struct sockaddr *a, socklen_t n), P(fd, a, n))
WRAP(KIND_CONTROL, int, -1, listen, P(int fd, int n), P(fd, n))
WRAP(KIND_CONTROL, int, -1, connect, P(int fd, const struct sockaddr *a, socklen_t n), P(fd, a, n))
WRAP(KIND_CONTROL, int, EAGAIN, pthread_create,
     P(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     P(thread, attributes, start, argument))
WRAP(KIND_CONTROL, pid_t, -1, fork, P(void), P())
WRAP(KIND_CONTROL, pid_t, -1, waitpid, P(pid_t pid, int *status, int options),
     P(pid, status, options))

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	NEXT(int, ioctl, (int, unsigned long, ...));
	return fault(KIND_CONTROL, "ioctl") != VERDICT_CALL ? -1 : next(fd, request, argument);
}

EXPORT long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (next == NULL)
		next = (long (*)(long, ...))next_of("syscall");
	if (!busy && fault(KIND_CONTROL, "syscall") != VERDICT_CALL)
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
/* NOLINTEND */
