// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ordered_pool.h"

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64

/* Default of ordered_pool.waiting. */
#define WAITING 8

/* struct slot - for jobs n, n + slots, ...; @done: the job's result or error is stored */
struct slot {
	void *result;
	int rc;
	bool done;
};

/*
 * struct crew - @next: next job to start; @delivered: number of jobs delivered, all in order
 * @stop: start no more jobs. @lock protects all fields, except the slot of a running job
 */
struct crew {
	const struct ordered_pool *work;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	size_t slot_count;
	size_t next;
	size_t delivered;
	bool stop;
};

static void *worker(void *arg)
{
	struct crew *crew = arg;
	const struct ordered_pool *work = crew->work;

	pthread_mutex_lock(&crew->lock);
	while (!crew->stop && crew->next < work->jobs) {
		size_t job = crew->next;
		struct slot *slot = &crew->slots[job % crew->slot_count];
		int r;

		if (job >= crew->delivered + crew->slot_count) {
			pthread_cond_wait(&crew->changed, &crew->lock);
			continue;
		}
		crew->next++;
		pthread_mutex_unlock(&crew->lock);
		memset(slot->result, 0, work->result_bytes);
		r = work->run(work->ctx, job, slot->result);
		pthread_mutex_lock(&crew->lock);
		slot->rc = r;
		slot->done = true;
		pthread_cond_broadcast(&crew->changed);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static int deliver_one(const struct ordered_pool *work, size_t job, const struct slot *slot)
{
	int r = slot->rc != 0 ? slot->rc : work->deliver(work->ctx, job, slot->result);

	work->discard(work->ctx, slot->result);
	return r;
}

static int deliver_all(struct crew *crew)
{
	int r = 0;

	for (size_t job = 0; r == 0 && job < crew->work->jobs; job++) {
		struct slot *slot = &crew->slots[job % crew->slot_count];

		pthread_mutex_lock(&crew->lock);
		while (!slot->done)
			pthread_cond_wait(&crew->changed, &crew->lock);
		pthread_mutex_unlock(&crew->lock);
		r = deliver_one(crew->work, job, slot);
		pthread_mutex_lock(&crew->lock);
		slot->done = false;
		crew->delivered = job + 1;
		crew->stop = r != 0;
		pthread_cond_broadcast(&crew->changed);
		pthread_mutex_unlock(&crew->lock);
	}
	return r;
}

static int run_threads(struct crew *crew, unsigned int count, struct error *err)
{
	pthread_t threads[THREADS_MAX];
	unsigned int started = 0;
	int r = 0;

	while (r == 0 && started < count) {
		r = pthread_create(&threads[started], NULL, worker, crew);
		started += r == 0;
	}
	if (r == 0) {
		r = deliver_all(crew);
	} else {
		r = error_set(err, r, ERROR_THREAD ": %s", strerror(r));
		pthread_mutex_lock(&crew->lock);
		crew->stop = true;
		pthread_cond_broadcast(&crew->changed);
		pthread_mutex_unlock(&crew->lock);
	}
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < crew->slot_count; i++)
		if (crew->slots[i].done)
			crew->work->discard(crew->work->ctx, crew->slots[i].result);
	return r;
}

static int run_crew(const struct ordered_pool *work, struct error *err)
{
	unsigned int threads = work->threads < THREADS_MAX ? work->threads : THREADS_MAX;
	size_t slots = (size_t)threads * (work->waiting > 0 ? work->waiting : WAITING);
	_cleanup_free_ struct slot *memory = calloc(slots, sizeof(*memory));
	_cleanup_free_ char *results = calloc(slots, work->result_bytes);
	struct crew crew = {.work = work, .slots = memory, .slot_count = slots};
	int r;

	if (memory == NULL || results == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < slots; i++)
		memory[i].result = results + i * work->result_bytes;
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.changed, NULL);
	r = run_threads(&crew, threads, err);
	pthread_cond_destroy(&crew.changed);
	pthread_mutex_destroy(&crew.lock);
	return r;
}

static int run_alone(const struct ordered_pool *work, struct error *err)
{
	_cleanup_free_ void *result = calloc(1, work->result_bytes);
	struct slot slot = {.result = result};
	int r = 0;

	if (result == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t job = 0; r == 0 && job < work->jobs; job++) {
		memset(result, 0, work->result_bytes);
		slot.rc = work->run(work->ctx, job, result);
		r = deliver_one(work, job, &slot);
	}
	return r;
}

int ordered_pool_run(const struct ordered_pool *work, struct error *err)
{
	return work->threads > 1 ? run_crew(work, err) : run_alone(work, err);
}
