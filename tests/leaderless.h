/* SPDX-License-Identifier: GPL-2.0-only */
/* A process with an ended first thread and another thread that still runs. */
#ifndef DCPI_TESTS_LEADERLESS_H
#define DCPI_TESTS_LEADERLESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

static void *leaderless_live_on(void *context)
{
	(void)context;
	for (;;)
		pause();
	return NULL;
}

static inline bool leaderless_is_zombie(pid_t pid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state == 'Z';
}

/**
 * leaderless_start() - fork the test process, and wait until the child's first thread has ended
 * @used: a byte that the child reads
 *
 * Return: the child's pid; the caller kills it and waits for it.
 */
static inline pid_t leaderless_start(const void *used)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	pthread_t thread;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)*(const volatile char *)used;
		pthread_create(&thread, NULL, leaderless_live_on, NULL);
		pthread_exit(NULL);
	}
	while (!leaderless_is_zombie(pid))
		nanosleep(&nap, NULL);
	return pid;
}

#endif
