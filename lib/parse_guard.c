// SPDX-License-Identifier: GPL-2.0-only
#include "lib/parse_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "lib/broker.h"
#include "lib/u64_map.h"

#define STACK_BYTES 65536
/* A thread reads its signal only between system calls that the kernel restarts. */
#define TICK_SIGNAL SIGPROF

static struct {
	pthread_mutex_t lock;
	struct u64_map names; /* by hash; a collision only attributes a failure to another file */
	const char *_Atomic memory;
	int seconds; /* 0: nothing is watched */
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
	const char *volatile subject;
	const char *volatile counted; /* the file of @ticks */
	volatile int ticks;	      /* seconds of CPU time */
	bool started;
} thread;

const char *parse_guard_name(const char *path)
{
	uint64_t *name, hash = XXH64(path, strlen(path), 0);
	const char *ret = NULL;

	if (guard.seconds == 0)
		return NULL;
	pthread_mutex_lock(&guard.lock);
	name = u64_map_insert(&guard.names, hash);
	if (name != NULL && *name == 0)
		*name = (uintptr_t)strdup(path);
	if (name != NULL)
		ret = (const char *)(uintptr_t)*name;
	pthread_mutex_unlock(&guard.lock);
	return ret;
}

/* Async-signal-safe. */
static void report(enum parse_failure failure, int detail)
{
	static struct broker_packet packet;

	if (thread.subject == NULL)
		return;
	broker_packet_init(&packet, BROKER_FAILED);
	packet.message.kind = failure;
	packet.message.flags = detail;
	if (broker_packet_set_text(&packet, thread.subject) == 0)
		broker_send(broker_socket(), &packet);
}

/* The default action takes effect on return, because SA_RESETHAND was set. */
static void crashed(int number)
{
	report(PARSE_FAILURE_SIGNAL, number);
	raise(number);
}

static void tick(int number)
{
	(void)number;
	if (thread.subject == NULL)
		return;
	if (thread.subject != thread.counted) {
		thread.counted = thread.subject;
		thread.ticks = 0;
	}
	if (++thread.ticks <= guard.seconds)
		return;
	report(PARSE_FAILURE_TIME, guard.seconds);
	_exit(2);
}

/* A timer of the thread's CPU time. Without it, the time for parsing is not limited. */
static void start_ticks(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL};
	struct itimerspec second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
	timer_t timer;

	thread.started = true;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
		timer_settime(timer, 0, &second, NULL);
}

const char *parse_guard_begin(const char *subject)
{
	const char *previous = thread.subject;

	if (guard.seconds > 0 && !thread.started)
		start_ticks();
	thread.subject = subject;
	return previous;
}

void parse_guard_end(const char *previous, int r)
{
	if (r == -ENOMEM && thread.subject != NULL)
		guard.memory = thread.subject;
	thread.subject = previous;
}

const char *parse_guard_memory(void)
{
	return guard.memory;
}

void parse_guard_start(int seconds)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGXCPU};
	static char stack[STACK_BYTES];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};

	guard.seconds = seconds;
	sigaction(TICK_SIGNAL, &action, NULL);
	sigaltstack(&alternate, NULL);
	action.sa_handler = crashed;
	action.sa_flags = (int)(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
		if (crashes[i] != SIGXCPU)
			continue;
#endif
		sigaction(crashes[i], &action, NULL);
	}
}
