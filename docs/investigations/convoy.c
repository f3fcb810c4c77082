/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests are handled by threads. One log, with a lock, serves all of them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;

NOINLINE void log_write(const char *text)
{
	pthread_mutex_lock(&log_lock);
	fputs(text, log_file);
	fflush(log_file);
	fsync(fileno(log_file));
	pthread_mutex_unlock(&log_lock);
}

NOINLINE unsigned long parse(unsigned long n)
{
	for (int i = 0; i < 200000; i++)
		n = n * 6364136223846793005UL + 1442695040888963407UL;
	return n;
}

NOINLINE void request_handle(unsigned long n)
{
	char text[64];

	snprintf(text, sizeof(text), "request %lu\n", parse(n));
	log_write(text);
}

static void *worker(void *argument)
{
	for (unsigned long i = 0; i < 300; i++)
		request_handle(i + (unsigned long)argument);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];

	log_file = fopen(argc > 1 ? argv[1] : "/tmp/requests.log", "w");
	if (log_file == NULL)
		return 1;
	for (unsigned long i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
