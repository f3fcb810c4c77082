// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load guest.c in ways that affect the counters in it: host WAY LIBRARY... The output does not
 * depend on how the program is run. Each WAY calls called() a number of times that the test knows.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instrument/runtime/process_area.h"

#define THREADS 8

struct guest {
	void *handle;
	int (*call)(int times);
	int (*back)(int (*back)(int), int n);
	int (*last)(void);
	int (*fork)(void);
};

static const char *library;

static struct guest guest_open(const char *path)
{
	struct guest guest = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};

	if (guest.handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	*(void **)&guest.call = dlsym(guest.handle, "guest_call");
	*(void **)&guest.back = dlsym(guest.handle, "guest_back");
	*(void **)&guest.last = dlsym(guest.handle, "guest_last");
	*(void **)&guest.fork = dlsym(guest.handle, "guest_fork");
	return guest;
}

static void *worker(void *argument)
{
	struct guest *guest = argument;
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += guest->call(100);
	return (void *)(sum + guest->last());
}

static void *opener(void *argument)
{
	long sum = 0;

	for (int i = 0; i < 50; i++) {
		struct guest guest = guest_open(argument);

		sum += guest.call(10);
		dlclose(guest.handle);
	}
	return (void *)sum;
}

static long run_threads(void *(*run)(void *), void *argument, int count)
{
	pthread_t threads[THREADS];
	long sum = 0;
	void *result;

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run, argument);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	return sum;
}

static void *churn(void *argument)
{
	for (int i = 0; i < 100; i++)
		run_threads(worker, argument, 2);
	return NULL;
}

static int back(int n)
{
	struct guest guest = guest_open(library);

	return n > 0 ? guest.back(back, n - 1) : guest.call(1);
}

static int wait_all(void)
{
	int status, sum = 0;

	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	return sum;
}

/* Occupy all ranges but the last ones, as another image would. */
static void crowd(void)
{
	struct process_area *area =
		mmap((void *)PROCESS_AREA_ADDRESS, sizeof(*area), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (area == MAP_FAILED) /* this program is instrumented, too */
		area = (struct process_area *)PROCESS_AREA_ADDRESS;
	if (area->magic == 0) {
		area->magic = PROCESS_AREA_MAGIC;
		area->ready = PROFILE_LAYOUT_READY;
		area->process = (uint32_t)getpid();
		snprintf(area->prefix, sizeof(area->prefix), "%s", getenv("DCPIX_OUT"));
	}
	area->image[area->images++] = (struct profile_layout_state){
		.image = 1,
		.range = PROFILE_LAYOUT_SHARED_RANGES,
		.block_bytes =
			PROFILE_LAYOUT_WINDOW_BYTES - PROFILE_LAYOUT_SHARED_RANGES - (1 << 20),
	};
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";
	struct guest guest;
	long sum = 0;

	library = argv[argc - 1];
	if (strcmp(way, "crowd") == 0)
		crowd();
	if (strcmp(way, "loop") == 0 || strcmp(way, "storm") == 0) {
		struct guest kept = {.handle = NULL};
		pthread_t other;

		sum = (long)opener(argv[2]);
		if (strcmp(way, "storm") == 0) {
			kept = guest_open(argv[2]);
			pthread_create(&other, NULL, churn, &kept);
			sum += run_threads(opener, argv[2], 4);
			pthread_join(other, NULL);
		}
		printf("%s %ld\n", way, sum);
		return 0;
	}
	guest = guest_open(argv[2]);
	if (strcmp(way, "call") == 0 || strcmp(way, "crowd") == 0) {
		for (int i = 2; i < argc; i++)
			sum += guest_open(argv[i]).call(10);
		sum += run_threads(worker, &guest, THREADS);
	} else if (strcmp(way, "fork") == 0) {
		sum = guest.call(10);
		for (int i = 0; i < 5; i++) {
			if (fork() == 0) {
				guest.call(100);
				run_threads(worker, &guest, 1);
				_exit(guest.last() % 50 + 1);
			}
		}
		sum += wait_all();
	} else if (strcmp(way, "inside") == 0) {
		/* The fork happens in the guest, and is visible only there. */
		if (guest.fork() == 0)
			_exit(guest.call(100) % 50);
		sum = guest.call(10) + wait_all();
	} else if (strcmp(way, "vfork") == 0) {
		for (int i = 0; i < 20; i++) {
			pid_t child = vfork();

			if (child == 0)
				_exit(guest.call(10) & 1);
		}
		sum = wait_all();
	} else if (strcmp(way, "back") == 0) {
		sum = back(20);
	} else if (strcmp(way, "forever") == 0) {
		for (;;)
			guest.call(1000);
	} else if (strcmp(way, "many") == 0) {
		/* More threads than there are blocks, in sequence. */
		for (int i = 0; i < 100; i++)
			sum += run_threads(worker, &guest, THREADS);
	}
	printf("%s %ld\n", way, sum);
	return 0;
}
