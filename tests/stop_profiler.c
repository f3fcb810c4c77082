// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that stops its profiler while the profiler has breakpoints in the program's code:
 *
 * stop_profiler HOW ATTEMPTS [PID]
 *
 * HOW: stop (SIGSTOP), trace (a debugger's stop), freeze (a control group of version 2), kill
 * (SIGKILL; at most one attempt). The program stops process PID (default: its parent) and all
 * descendants of PID; "kill" ends only PID. One thread executes loops; another compares the code of
 * the loops with a copy. For each attempt the program prints:
 *
 * gone GONE_US stalled STALLED_US iterations N
 *
 * GONE_US: time from the stop until the code was restored; STALLED_US: the longest time in this
 * interval that the comparing thread itself did not run; N: iterations of the loop in this
 * interval. "absent": no breakpoint appeared within 10 s; "stuck": the breakpoint stayed for more
 * than 5 s. Exit status 2: HOW is not possible here.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"

#define TASKS_MAX 256
#define ABSENT_NS (10 * NS_PER_SECOND)
#define STUCK_NS (5 * NS_PER_SECOND)
#define POLL_NS (NS_PER_MS / 5)
/* The profiler places no probe for some time after a stop. */
#define PAUSE_NS (1300 * NS_PER_MS)

static volatile uint64_t iterations;
static volatile int loop_current;
static char group[300];

struct tasks {
	pid_t id[TASKS_MAX];
	int count;
};

/*
 * Branches that depend on flags, in a separate section. A branch whose frequency the profiler knows
 * well gets few further probes, so each attempt uses another loop.
 */
#define LOOP_DEFINE(number)                                                                        \
	__attribute__((noinline, section("watched"))) static void loop_##number(void)              \
	{                                                                                          \
		uint64_t x = 1;                                                                    \
                                                                                                   \
		while (loop_current == (number)) {                                                 \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
			if ((x & 7) == 0)                                                          \
				__asm__ volatile("nop");                                           \
			if ((x & 24) == 0)                                                         \
				__asm__ volatile("nop; nop");                                      \
			iterations++;                                                              \
		}                                                                                  \
	}

LOOP_DEFINE(0)
LOOP_DEFINE(1)
LOOP_DEFINE(2)

#define LOOPS 3
static void (*const loops[LOOPS])(void) = {loop_0, loop_1, loop_2};

extern const uint8_t __start_watched[], __stop_watched[];
static uint8_t copy[4096];

static size_t watched_bytes(void)
{
	return (uintptr_t)__stop_watched - (uintptr_t)__start_watched;
}

static bool is_changed(void)
{
	return memcmp(copy, __start_watched, watched_bytes()) != 0;
}

static void *loop_thread(void *context)
{
	for (;;)
		loops[loop_current]();
	return context;
}

static void pause_for(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
				      .tv_nsec = (long)(ns % NS_PER_SECOND)};

	nanosleep(&time, NULL);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *end;
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(line, sizeof(line), file) != NULL && (end = strrchr(line, ')')) != NULL)
		sscanf(end, ") %*c %d", &parent);
	fclose(file);
	return parent;
}

static bool tasks_has(const struct tasks *tasks, pid_t id)
{
	int i = 0;

	while (i < tasks->count && tasks->id[i] != id)
		i++;
	return i < tasks->count;
}

static void tasks_add(struct tasks *tasks, pid_t id)
{
	if (id > 0 && id != getpid() && tasks->count < TASKS_MAX && !tasks_has(tasks, id))
		tasks->id[tasks->count++] = id;
}

/* @descend: add only descendants of processes in @tasks */
static void numbers_add(struct tasks *tasks, const char *path, bool descend)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		pid_t id = atoi(entry->d_name);

		if (!descend || tasks_has(tasks, parent_of(id)))
			tasks_add(tasks, id);
	}
	if (directory != NULL)
		closedir(directory);
}

/* @threads: also the profiler's threads, which a debugger stops one by one */
static void tasks_find(struct tasks *tasks, pid_t profiler, bool threads)
{
	char path[64];

	tasks->count = 0;
	tasks_add(tasks, profiler);
	if (threads) {
		snprintf(path, sizeof(path), "/proc/%d/task", profiler);
		numbers_add(tasks, path, false);
	}
	/*
	 * The second pass finds children with smaller numbers than their parents, which are rare.
	 */
	numbers_add(tasks, "/proc", true);
	numbers_add(tasks, "/proc", true);
}

static bool file_write(const char *folder, const char *name, int value)
{
	char path[640];
	FILE *file;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (file == NULL)
		return false;
	done = fprintf(file, "%d", value) > 0;
	return fclose(file) == 0 && done;
}

/* Make a control group and set @group. Return: false if version 2 is missing or not permitted. */
static bool group_make(void)
{
	char line[1024], root[256];
	FILE *file = fopen("/proc/mounts", "re");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%*s %255s cgroup2", root) == 1 &&
		    strstr(line, " cgroup2 ") != NULL)
			snprintf(group, sizeof(group), "%s/dcpi-test-%d", root, getpid());
	}
	if (file != NULL)
		fclose(file);
	return group[0] != '\0' && mkdir(group, 0755) == 0;
}

static void group_empty(void)
{
	char path[sizeof(group) + 16];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	file = fopen(path, "re");
	snprintf(path, sizeof(path), "%s/..", group);
	while (file != NULL && fscanf(file, "%d", &pid) == 1)
		file_write(path, "cgroup.procs", pid);
	if (file != NULL)
		fclose(file);
}

/* Processes of the profiler may still enter the group, and others end in it. */
static void group_remove(void)
{
	int tries = 0;

	do {
		group_empty();
		pause_for(10 * NS_PER_MS);
	} while (rmdir(group) < 0 && ++tries < 100);
}

/* Stop the processes in @tasks, and stop and add those created since @tasks was filled. */
static void stop(const char *how, pid_t profiler, struct tasks *tasks)
{
	if (how[0] == 'f')
		file_write(group, "cgroup.freeze", 1);
	if (how[0] == 'k')
		kill(profiler, SIGKILL);
	if (how[0] == 's')
		kill(profiler, SIGSTOP);
	tasks_find(tasks, profiler, how[0] == 't');
	for (int i = 0; i < tasks->count; i++) {
		if (how[0] == 's') {
			kill(tasks->id[i], SIGSTOP);
		} else if (how[0] == 't') {
			ptrace(PTRACE_SEIZE, tasks->id[i], 0, 0);
			ptrace(PTRACE_INTERRUPT, tasks->id[i], 0, 0);
		}
	}
}

static void go_on(const char *how, const struct tasks *tasks)
{
	int status;

	for (int i = 0; i < tasks->count; i++) {
		if (how[0] == 's')
			kill(tasks->id[i], SIGCONT);
		else if (how[0] == 't' && waitpid(tasks->id[i], &status, __WALL) == tasks->id[i])
			ptrace(PTRACE_DETACH, tasks->id[i], 0, 0);
	}
	if (how[0] == 'f')
		file_write(group, "cgroup.freeze", 0);
}

/* Wait for a breakpoint. Return: false if none appeared. */
static bool breakpoint_await(void)
{
	uint64_t begin_ns = clock_monotonic_ns();

	while (!is_changed()) {
		if (clock_monotonic_ns() - begin_ns > ABSENT_NS)
			return false;
		pause_for(POLL_NS);
	}
	return true;
}

static void removal_watch(uint64_t stopped_ns)
{
	uint64_t last_ns = stopped_ns, stalled_ns = 0, now_ns = stopped_ns, first = iterations;

	while (is_changed() && now_ns - stopped_ns < STUCK_NS) {
		pause_for(POLL_NS);
		now_ns = clock_monotonic_ns();
		if (now_ns - last_ns > stalled_ns)
			stalled_ns = now_ns - last_ns;
		last_ns = now_ns;
	}
	if (now_ns - stopped_ns >= STUCK_NS)
		printf("stuck\n");
	else
		printf("gone %llu stalled %llu iterations %llu\n",
		       (unsigned long long)(now_ns - stopped_ns) / 1000,
		       (unsigned long long)stalled_ns / 1000,
		       (unsigned long long)(iterations - first));
	fflush(stdout);
}

static void attempt(const char *how, pid_t profiler)
{
	struct tasks tasks;
	uint64_t stopped_ns;

	/* Enter the group before the stop, so that children of the processes are in it, too. */
	if (how[0] == 'f') {
		tasks_find(&tasks, profiler, false);
		for (int i = 0; i < tasks.count; i++)
			file_write(group, "cgroup.procs", tasks.id[i]);
	}
	if (!breakpoint_await()) {
		printf("absent\n");
		return;
	}
	stopped_ns = clock_monotonic_ns();
	stop(how, profiler, &tasks);
	removal_watch(stopped_ns);
	go_on(how, &tasks);
}

int main(int argc, char **argv)
{
	const struct sched_param param = {.sched_priority = 2};
	const char *how = argc > 2 ? argv[1] : "";
	pid_t profiler = argc > 3 ? atoi(argv[3]) : getppid();
	int attempts = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;

	if (attempts == 0 || profiler <= 1)
		return 1;
	memcpy(copy, __start_watched, watched_bytes());
	if (pthread_create(&thread, NULL, loop_thread, NULL) != 0)
		return 1;
	sched_setscheduler(0, SCHED_FIFO, &param);
	for (int i = 0; i < attempts; i++) {
		loop_current = i % LOOPS;
		if (how[0] == 'f' && !group_make())
			return 2;
		attempt(how, profiler);
		if (how[0] == 'f')
			group_remove();
		pause_for(PAUSE_NS);
	}
	return 0;
}
