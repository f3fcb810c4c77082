// SPDX-License-Identifier: GPL-2.0-only
/* known_edges N THREADS: call known_edges(N) in each of THREADS threads. */
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 16

void known_edges(unsigned long n);

static unsigned long n;

static void *run(void *unused)
{
	(void)unused;
	known_edges(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int i, threads;

	if (argc != 3)
		return 2;
	n = strtoul(argv[1], NULL, 10);
	threads = atoi(argv[2]);
	if (threads > THREADS_MAX)
		return 2;
	if (threads == 1) {
		known_edges(n);
		return 0;
	}
	for (i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, run, NULL) != 0)
			return 2;
	}
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
