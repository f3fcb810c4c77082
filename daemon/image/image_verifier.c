// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_verifier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define JOBS_MAX 128
#define JOBS_OF_OWNER_MAX (JOBS_MAX / 4)
#define BYTES_PER_SECOND ((uint64_t)16 << 20)
#define SAVED_BYTES ((uint64_t)256 << 20)
/* Opening a file costs as much as reading this number of bytes. */
#define FILE_BYTES ((uint64_t)64 << 10)
/* Lower priority than other threads, but not so low that the thread starves on a busy machine. */
#define NICE 5
/* Shorter pauses would cost more than they save. */
#define PAUSE_MIN_NS (20 * NS_PER_MS)

struct job {
	uint32_t tag;
	int fd;
	struct stat status;
};

/*
 * @paid_ns: CLOCK_MONOTONIC: the thread has used its share up to this time; private to the thread
 * @lock:    protects all following fields
 * @users:   references of the caller and the thread: the last one frees the structure
 * @busy:    the thread has a job
 */
struct image_verifier {
	uint64_t paid_ns;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int users;
	bool stop;
	bool busy;
	struct job jobs[JOBS_MAX];
	size_t job_count;
	struct image_verifier_result results[JOBS_MAX];
	size_t result_count;
};

static void release(struct image_verifier *verifier)
{
	bool last;

	pthread_mutex_lock(&verifier->lock);
	last = --verifier->users == 0;
	pthread_mutex_unlock(&verifier->lock);
	if (!last)
		return;
	for (size_t i = 0; i < verifier->job_count; i++)
		close(verifier->jobs[i].fd);
	pthread_cond_destroy(&verifier->changed);
	pthread_mutex_destroy(&verifier->lock);
	free(verifier);
}

static struct timespec time_of(uint64_t time_ns)
{
	return (struct timespec){.tv_sec = (time_t)(time_ns / NS_PER_SECOND),
				 .tv_nsec = (long)(time_ns % NS_PER_SECOND)};
}

/* A content_digest_step_fn: waits until the thread may read @bytes more. */
static int pay(void *context, size_t bytes)
{
	struct image_verifier *verifier = context;
	uint64_t now = clock_monotonic_ns(), saved = SAVED_BYTES * NS_PER_SECOND / BYTES_PER_SECOND;
	struct timespec until;
	int r = 0;

	if (verifier->paid_ns + saved < now)
		verifier->paid_ns = now - saved;
	verifier->paid_ns += bytes * NS_PER_SECOND / BYTES_PER_SECOND;
	until = time_of(verifier->paid_ns);
	pthread_mutex_lock(&verifier->lock);
	if (verifier->paid_ns > now + PAUSE_MIN_NS)
		while (!verifier->stop && r == 0)
			r = pthread_cond_timedwait(&verifier->changed, &verifier->lock, &until);
	r = verifier->stop ? -ECANCELED : 0;
	pthread_mutex_unlock(&verifier->lock);
	return r;
}

static bool job_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int job_run(struct image_verifier *verifier, const struct job *job,
		   struct image_verifier_result *result)
{
	_cleanup_close_ int fd = -1;
	struct stat status;
	int r = pay(verifier, FILE_BYTES);

	if (r < 0)
		return r;
	fd = image_file_readable(job->fd);
	if (fd < 0)
		return fd;
	r = content_digest(result->content, fd, (uint64_t)job->status.st_size, pay, verifier);
	if (r < 0)
		return r;
	if (fstat(fd, &status) < 0 || !job_is_same(&status, &job->status))
		return -ESTALE;
	result->writers = file_writers_get(fd, &status);
	return 0;
}

static size_t smallest(const struct image_verifier *verifier)
{
	size_t found = 0;

	for (size_t i = 1; i < verifier->job_count; i++) {
		if (verifier->jobs[i].status.st_size < verifier->jobs[found].status.st_size)
			found = i;
	}
	return found;
}

/* Return: false if the thread is to stop. */
static bool job_take(struct image_verifier *verifier, struct job *job)
{
	bool any = false;
	size_t taken;

	pthread_mutex_lock(&verifier->lock);
	while (!verifier->stop && verifier->job_count == 0)
		pthread_cond_wait(&verifier->changed, &verifier->lock);
	if (!verifier->stop) {
		any = true;
		taken = smallest(verifier);
		*job = verifier->jobs[taken];
		verifier->jobs[taken] = verifier->jobs[--verifier->job_count];
		verifier->busy = true;
	}
	pthread_mutex_unlock(&verifier->lock);
	return any;
}

static void result_put(struct image_verifier *verifier, const struct image_verifier_result *result)
{
	pthread_mutex_lock(&verifier->lock);
	verifier->results[verifier->result_count++] = *result;
	verifier->busy = false;
	pthread_cond_broadcast(&verifier->changed);
	pthread_mutex_unlock(&verifier->lock);
}

static void *verifier_run(void *context)
{
	struct image_verifier *verifier = context;
	struct image_verifier_result result;
	struct job job = {.fd = -1};

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
	while (job_take(verifier, &job)) {
		result = (struct image_verifier_result){.tag = job.tag, .status = job.status};
		result.result = job_run(verifier, &job, &result);
		close(job.fd);
		result_put(verifier, &result);
	}
	release(verifier);
	return NULL;
}

/* Signals are handled by the other threads. */
static int thread_start(struct image_verifier *verifier)
{
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, verifier_run, verifier);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		pthread_detach(thread);
	return -r;
}

struct image_verifier *image_verifier_create(void)
{
	struct image_verifier *verifier = calloc(1, sizeof(*verifier));
	pthread_condattr_t attributes;

	if (verifier == NULL)
		return NULL;
	pthread_mutex_init(&verifier->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&verifier->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	verifier->users = 2;
	if (thread_start(verifier) < 0) {
		verifier->users = 1;
		release(verifier);
		return NULL;
	}
	return verifier;
}

void image_verifier_destroy(struct image_verifier *verifier)
{
	if (verifier == NULL)
		return;
	pthread_mutex_lock(&verifier->lock);
	verifier->stop = true;
	pthread_cond_broadcast(&verifier->changed);
	pthread_mutex_unlock(&verifier->lock);
	release(verifier);
}

/* One user's files must leave room for those of others. */
static bool verifier_has_room(const struct image_verifier *verifier, uid_t owner)
{
	size_t count = 0;

	/* Each job has room for its result. */
	if (verifier->job_count + verifier->busy + verifier->result_count >= JOBS_MAX)
		return false;
	for (size_t i = 0; i < verifier->job_count; i++)
		count += verifier->jobs[i].status.st_uid == owner;
	return count < JOBS_OF_OWNER_MAX;
}

int image_verifier_add(struct image_verifier *verifier, uint32_t tag, int fd,
		       const struct stat *status)
{
	struct job job = {.tag = tag, .status = *status};
	int r = -EAGAIN;

	pthread_mutex_lock(&verifier->lock);
	if (verifier_has_room(verifier, status->st_uid)) {
		job.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		r = job.fd < 0 ? -errno : 0;
	}
	if (r == 0) {
		verifier->jobs[verifier->job_count++] = job;
		pthread_cond_broadcast(&verifier->changed);
	}
	pthread_mutex_unlock(&verifier->lock);
	return r;
}

bool image_verifier_result(struct image_verifier *verifier, struct image_verifier_result *ret)
{
	bool any;

	pthread_mutex_lock(&verifier->lock);
	any = verifier->result_count > 0;
	if (any)
		*ret = verifier->results[--verifier->result_count];
	pthread_mutex_unlock(&verifier->lock);
	return any;
}

bool image_verifier_wait(struct image_verifier *verifier, uint64_t until_ns)
{
	const struct timespec until = time_of(until_ns);
	bool any;
	int r = 0;

	pthread_mutex_lock(&verifier->lock);
	while (verifier->result_count == 0 && (verifier->job_count > 0 || verifier->busy) && r == 0)
		r = pthread_cond_timedwait(&verifier->changed, &verifier->lock, &until);
	any = verifier->result_count > 0;
	pthread_mutex_unlock(&verifier->lock);
	return any;
}
