// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/perf/ring_reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/epoll_set.h"
#include "loader-hook/perf/perf_ring.h"

/* Limit of the memory for the records of all rings. */
#define HELD_BYTES_MAX ((size_t)32 << 20)
/*
 * The owner is woken when this many bytes wait, a quarter of a ring of samples. Labels, files and
 * maps of short-lived processes can be read only while the processes exist.
 */
#define HELD_BYTES_WAKE ((size_t)64 << 10)
/*
 * Delay between two passes, so that each pass over the rings of many CPUs finds enough records. A
 * ring that woke the thread has room for the records of a hundred delays.
 */
#define PASS_MS 10

/*
 * @lock:     protects @rings, @count and @wakes
 * @wakes:    all rings
 * @end_fd:   an eventfd that ends the thread
 * @owner_fd: an eventfd that wakes the owner when many records are in memory
 */
struct ring_reader {
	pthread_t thread;
	pthread_mutex_t lock;
	struct perf_ring **rings;
	size_t count;
	size_t capacity;
	struct epoll_set *wakes;
	int end_fd;
	int owner_fd;
	bool runs;
};

CLEANUP_DEFINE(ring_reader, struct ring_reader *, ring_reader_close)

static void signal_fd(int fd)
{
	eventfd_write(fd, 1);
}

/* Return: bytes in memory afterwards. */
static size_t rings_collect(struct ring_reader *reader)
{
	size_t held = 0, i;

	pthread_mutex_lock(&reader->lock);
	epoll_set_clear(reader->wakes);
	for (i = 0; i < reader->count; i++)
		held += perf_ring_held(reader->rings[i]);
	for (i = 0; i < reader->count && held < HELD_BYTES_MAX; i++)
		held += perf_ring_collect(reader->rings[i]);
	pthread_mutex_unlock(&reader->lock);
	return held;
}

static void *reader_run(void *context)
{
	struct ring_reader *reader = context;
	struct pollfd waiting[] = {
		{.fd = reader->end_fd, .events = POLLIN},
		{.fd = epoll_set_fd(reader->wakes), .events = POLLIN},
	};

	/* Affects only this thread. If it is not permitted, the thread still rarely runs late. */
	setpriority(PRIO_PROCESS, 0, PRIO_MIN);
	for (;;) {
		if (poll(waiting, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (waiting[0].revents != 0)
			return NULL;
		if (rings_collect(reader) >= HELD_BYTES_WAKE)
			signal_fd(reader->owner_fd);
		poll(waiting, 1, PASS_MS);
	}
}

/* Block all signals in the thread, so that the owner receives them. */
static int thread_start(struct ring_reader *reader, struct error *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&reader->thread, NULL, reader_run, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0)
		return error_set(err, r, ERROR_THREAD);
	reader->runs = true;
	return 0;
}

int ring_reader_open(struct ring_reader **ret, struct error *err)
{
	_cleanup_(cleanup_ring_reader) struct ring_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (reader == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	pthread_mutex_init(&reader->lock, NULL);
	reader->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	reader->owner_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->end_fd < 0 || reader->owner_fd < 0)
		return error_set_errno(err, ERROR_EVENT_DESCRIPTOR);
	r = epoll_set_open(&reader->wakes, err);
	if (r == 0)
		r = thread_start(reader, err);
	if (r < 0)
		return r;
	*ret = take_ptr(reader);
	return 0;
}

void ring_reader_close(struct ring_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->runs) {
		signal_fd(reader->end_fd);
		pthread_join(reader->thread, NULL);
	}
	epoll_set_close(reader->wakes);
	if (reader->end_fd >= 0)
		close(reader->end_fd);
	if (reader->owner_fd >= 0)
		close(reader->owner_fd);
	pthread_mutex_destroy(&reader->lock);
	free(reader->rings);
	free(reader);
}

int ring_reader_add(struct ring_reader *reader, struct perf_ring *ring, struct error *err)
{
	int r;

	pthread_mutex_lock(&reader->lock);
	r = array_reserve(&reader->rings, &reader->capacity, reader->count + 1,
			  sizeof(struct perf_ring *));
	if (r < 0)
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	else
		r = epoll_set_add(reader->wakes, perf_ring_fd(ring), "a perf ring", err);
	if (r == 0)
		reader->rings[reader->count++] = ring;
	pthread_mutex_unlock(&reader->lock);
	return r;
}

void ring_reader_remove(struct ring_reader *reader, const struct perf_ring *ring)
{
	size_t i;

	pthread_mutex_lock(&reader->lock);
	for (i = 0; i < reader->count && reader->rings[i] != ring; i++)
		;
	if (i < reader->count)
		reader->rings[i] = reader->rings[--reader->count];
	pthread_mutex_unlock(&reader->lock);
}

int ring_reader_fd(const struct ring_reader *reader)
{
	return reader->owner_fd;
}
