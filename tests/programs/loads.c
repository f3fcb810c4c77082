// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that loads libraries in every way, and prints all of its own state that a library in
 * its process could change. The output is the same in each run.
 *
 * - loads state LIBRARY: descriptors, errno, signals
 * - loads loop LIBRARY N: dlopen and dlclose, repeatedly
 * - loads threads LIBRARY N: the same in eight threads
 * - loads fork LIBRARY: in children, and with vfork and exec
 * - loads seccomp LIBRARY: a system call that dlopen does not need kills the program
 * - loads swap MS LIBRARY OTHER: time in one, then in the other at the same address
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
/* Number of times that each of the two libraries is loaded. */
#define SWAPS 20

typedef uint64_t (*spin_fn)(uint64_t n);

static spin_fn library_open(const char *path, void **handle)
{
	spin_fn function;

	*handle = dlopen(path, RTLD_NOW);
	if (*handle == NULL)
		return NULL;
	*(void **)&function = dlsym(*handle, "kinds_library");
	return function;
}

static void library_cycle(const char *path)
{
	void *handle;
	spin_fn function = library_open(path, &handle);

	if (function == NULL || function(10) == 1 || dlclose(handle) != 0) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

static void descriptors_print(const char *when)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0, next;

	if (folder == NULL)
		exit(1);
	while ((entry = readdir(folder)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(folder);
	next = open("/dev/null", O_RDONLY);
	printf("%s: %d descriptors, the next one is %d\n", when, count, next);
	close(next);
}

static void signals_print(const char *when)
{
	sigset_t blocked, pending;
	int signal;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigpending(&pending);
	printf("%s: blocked and pending signals:", when);
	for (signal = 1; signal < NSIG; signal++) {
		if (sigismember(&blocked, signal) || sigismember(&pending, signal))
			printf(" %d", signal);
	}
	printf("\n");
}

static void errno_print(const char *path)
{
	void *handle;

	errno = 77;
	library_open("/nonexistent/library.so", &handle);
	printf("errno after a dlopen that fails: %d\n", errno);
	errno = 77;
	library_open(path, &handle);
	printf("errno after a dlopen: %d\n", errno);
	errno = 77;
	dlclose(handle);
	printf("errno after a dlclose: %d\n", errno);
}

static void state(const char *path)
{
	struct rlimit limit = {4, 4};
	sigset_t some;
	int output = fcntl(STDOUT_FILENO, F_DUPFD, 100);

	errno_print(path);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	sigprocmask(SIG_BLOCK, &some, NULL);
	raise(SIGUSR1);
	signals_print("before");
	descriptors_print("before");
	library_cycle(path);
	signals_print("after");
	descriptors_print("after");
	/* Start as a daemon does. */
	fflush(stdout);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	library_cycle(path);
	dup2(output, STDOUT_FILENO);
	close(output);
	descriptors_print("without standard descriptors");
	setrlimit(RLIMIT_NOFILE, &limit);
	library_cycle(path);
	descriptors_print("with room for one");
}

static void loop(const char *path, long n)
{
	long i;

	for (i = 0; i < n; i++)
		library_cycle(path);
	printf("%ld times\n", n);
	descriptors_print("then");
}

struct work {
	const char *path;
	long n;
};

static void *thread_run(void *argument)
{
	const struct work *work = argument;
	long i;

	for (i = 0; i < work->n; i++)
		library_cycle(work->path);
	return NULL;
}

static void threads(const char *path, long n)
{
	struct work work = {path, n};
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_run, &work);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%d threads, %ld times each\n", THREADS, n);
	descriptors_print("then");
}

static void status_print(const char *who, pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	printf("%s: status %d\n", who, status);
}

static void children(const char *path)
{
	pid_t pid;

	library_cycle(path);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		library_cycle(path);
		descriptors_print("child");
		fflush(stdout);
		_exit(3);
	}
	status_print("child", pid);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	status_print("vfork and exec", pid);
	pid = vfork();
	if (pid == 0) {
		execl("/nonexistent/program", "program", (char *)NULL);
		_exit(4);
	}
	status_print("vfork and an exec that fails", pid);
	library_cycle(path);
	descriptors_print("parent");
}

/* Forbid all system calls that the loader does not need. */
static void seccomp(const char *path)
{
	const int refused[] = {SYS_socket,	   SYS_sendto, SYS_connect,   SYS_clock_gettime,
			       SYS_rt_sigprocmask, SYS_fcntl,  SYS_readlinkat};
	const size_t count = sizeof(refused) / sizeof(*refused);
	struct sock_filter filter[sizeof(refused) / sizeof(*refused) + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = (unsigned short)(count + 3), .filter = filter};
	void *handle;
	size_t i;

	for (i = 0; i < count; i++)
		filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							     (unsigned int)refused[i],
							     (unsigned char)(count - i), 0);
	filter[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		exit(1);
	printf("dlopen where seccomp kills: %s\n",
	       library_open(path, &handle) != NULL ? "done" : "failed");
	printf("dlclose: %d\n", dlclose(handle));
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void swap(uint64_t milliseconds, const char *const path[2])
{
	uint64_t address[2] = {0, 0};
	void *handle;
	int i;

	for (i = 0; i < 2 * SWAPS; i++) {
		spin_fn function = library_open(path[i % 2], &handle);
		uint64_t end = cpu_ns() + milliseconds * 1000000;

		if (function == NULL)
			exit(1);
		address[i % 2] = (uintptr_t)function;
		while (cpu_ns() < end)
			function(10000);
		dlclose(handle);
	}
	printf("at %s\n", address[0] == address[1] ? "the same address" : "two addresses");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	if (strcmp(mode, "state") == 0)
		state(argv[2]);
	else if (strcmp(mode, "loop") == 0 && argc == 4)
		loop(argv[2], atol(argv[3]));
	else if (strcmp(mode, "threads") == 0 && argc == 4)
		threads(argv[2], atol(argv[3]));
	else if (strcmp(mode, "fork") == 0)
		children(argv[2]);
	else if (strcmp(mode, "seccomp") == 0)
		seccomp(argv[2]);
	else if (strcmp(mode, "swap") == 0 && argc == 5)
		swap((uint64_t)atol(argv[2]), (const char *const *)(argv + 3));
	else
		return 2;
	return 0;
}
