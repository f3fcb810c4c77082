// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_verifier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/image/build_id_process.h"
#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/u64_map.h"

#define JOBS_MAX 128
#define JOBS_OF_USER_MAX (JOBS_MAX / 4)
/* A file has a result for its build-id and one for its contents. */
#define RESULTS_MAX (2 * JOBS_MAX)
#define BYTES_PER_SECOND ((uint64_t)16 << 20)
#define SAVED_BYTES ((uint64_t)256 << 20)
/* Opening a file costs as much as reading this number of bytes. */
#define FILE_BYTES ((uint64_t)64 << 10)
/* Maximum that file_digest() reads. */
#define DIGEST_BYTES ((uint64_t)8 << 20)
/* Lower priority than other threads, but not so low that the thread starves on a busy machine. */
#define NICE 5
/* Shorter pauses would cost more than they save. */
#define PAUSE_MIN_NS (20 * NS_PER_MS)

struct job {
	uint32_t tag;
	enum image_verifier_kind kind;
	uint32_t uid;
	int fd;
	struct stat status;
};

/*
 * @paid_ns: CLOCK_MONOTONIC: the thread has used its share up to this time
 * @build_ids: as @paid_ns, private to the thread
 * @lock:    protects all following fields
 * @users:   references of the caller and the thread: the last one frees the structure
 * @busy:    the thread has a job
 * @served:  user -> value of @clock when a job of the user was taken last
 */
struct image_verifier {
	uint64_t paid_ns;
	struct build_id_process build_ids;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int users;
	bool stop;
	bool busy;
	struct job jobs[JOBS_MAX];
	size_t job_count;
	struct image_verifier_result results[RESULTS_MAX];
	size_t result_count;
	struct u64_map served;
	uint64_t clock;
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
	u64_map_deinit(&verifier->served);
	pthread_cond_destroy(&verifier->changed);
	pthread_mutex_destroy(&verifier->lock);
	free(verifier);
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
	until = clock_timespec(verifier->paid_ns);
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

static int content_read(struct image_verifier *verifier, const struct job *job, int fd,
			struct image_verifier_result *result)
{
	int r = content_digest(result->content, fd, (uint64_t)job->status.st_size, pay, verifier);
	struct stat status;

	if (r < 0)
		return r;
	if (fstat(fd, &status) < 0 || !job_is_same(&status, &job->status))
		return -ESTALE;
	result->writers = file_writers_get(fd, &status);
	return 0;
}

/*
 * Notes can be made to take long, and the process must be started again after a crash: pay for the
 * time as if a nanosecond read a byte.
 */
static int build_id_read(struct image_verifier *verifier, const struct job *job, int fd,
			 struct image_verifier_result *result)
{
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), cpu_ns;
	int r = build_id_process_read(&verifier->build_ids, &result->build_id, fd, &cpu_ns);
	struct stat status;

	/* A file at which the process crashes is one without a build-id. */
	if (r < 0)
		result->build_id.bytes = 0;
	r = pay(verifier, clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns + cpu_ns);
	if (r < 0)
		return r;
	if (fstat(fd, &status) < 0 || !job_is_same(&status, &job->status))
		return -ESTALE;
	return 0;
}

static int job_run(struct image_verifier *verifier, const struct job *job,
		   struct image_verifier_result *result)
{
	_cleanup_close_ int fd = -1;
	int r = pay(verifier, FILE_BYTES);

	if (r < 0)
		return r;
	fd = image_file_readable(job->fd);
	if (fd < 0)
		return fd;
	switch (job->kind) {
	case IMAGE_VERIFIER_BUILD_ID:
		return build_id_read(verifier, job, fd, result);
	case IMAGE_VERIFIER_CONTENT:
		return content_read(verifier, job, fd, result);
	case IMAGE_VERIFIER_DIGEST:
		break;
	}
	r = pay(verifier, DIGEST_BYTES);
	return r < 0 ? r : file_digest(result->digest, fd, (uint64_t)job->status.st_size);
}

static uint64_t served_last(const struct image_verifier *verifier, uint32_t uid)
{
	const uint64_t *served = u64_map_find(&verifier->served, uid);

	return served != NULL ? *served : 0;
}

/* Return true if @a is to be run before @b. */
static bool job_precedes(const struct image_verifier *verifier, const struct job *a,
			 const struct job *b)
{
	uint64_t served_a = served_last(verifier, a->uid), served_b = served_last(verifier, b->uid);

	if (served_a != served_b)
		return served_a < served_b;
	if ((a->kind == IMAGE_VERIFIER_BUILD_ID) != (b->kind == IMAGE_VERIFIER_BUILD_ID))
		return a->kind == IMAGE_VERIFIER_BUILD_ID;
	return a->status.st_size < b->status.st_size;
}

static size_t job_next(struct image_verifier *verifier)
{
	size_t found = 0;
	uint64_t *served;

	for (size_t i = 1; i < verifier->job_count; i++) {
		if (job_precedes(verifier, &verifier->jobs[i], &verifier->jobs[found]))
			found = i;
	}
	/* Users without a job need not be remembered. */
	if (u64_map_count(&verifier->served) > 2 * (size_t)JOBS_MAX)
		u64_map_deinit(&verifier->served);
	served = u64_map_insert(&verifier->served, verifier->jobs[found].uid);
	if (served != NULL)
		*served = ++verifier->clock;
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
		taken = job_next(verifier);
		*job = verifier->jobs[taken];
		verifier->jobs[taken] = verifier->jobs[--verifier->job_count];
		verifier->busy = true;
	}
	pthread_mutex_unlock(&verifier->lock);
	return any;
}

/* Return true if the thread continues with the same file: its slot is still in use. */
static bool job_continues(const struct image_verifier_result *result)
{
	return result->kind == IMAGE_VERIFIER_BUILD_ID && result->result == 0;
}

static void result_put(struct image_verifier *verifier, struct job *job,
		       const struct image_verifier_result *result)
{
	pthread_mutex_lock(&verifier->lock);
	verifier->results[verifier->result_count++] = *result;
	if (job_continues(result)) {
		job->kind = IMAGE_VERIFIER_CONTENT;
		verifier->jobs[verifier->job_count++] = *job;
	} else {
		close(job->fd);
	}
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
		result = (struct image_verifier_result){
			.tag = job.tag, .kind = job.kind, .status = job.status};
		result.result = job_run(verifier, &job, &result);
		result_put(verifier, &job, &result);
	}
	build_id_process_end(&verifier->build_ids);
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
	verifier->build_ids = BUILD_ID_PROCESS_NONE;
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
static bool verifier_has_room(const struct image_verifier *verifier, uint32_t uid)
{
	size_t count = 0;

	/* Each job has room for its results. */
	if (2 * (verifier->job_count + verifier->busy + 1) + verifier->result_count > RESULTS_MAX)
		return false;
	for (size_t i = 0; i < verifier->job_count; i++)
		count += verifier->jobs[i].uid == uid;
	return count < JOBS_OF_USER_MAX;
}

int image_verifier_add(struct image_verifier *verifier, uint32_t tag, enum image_verifier_kind kind,
		       uint32_t uid, int fd, const struct stat *status)
{
	struct job job = {.tag = tag, .kind = kind, .uid = uid, .status = *status};
	int r = -EAGAIN;

	pthread_mutex_lock(&verifier->lock);
	if (verifier_has_room(verifier, uid)) {
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
	if (any) {
		*ret = verifier->results[0];
		verifier->result_count--;
		memmove(verifier->results, verifier->results + 1,
			verifier->result_count * sizeof(*verifier->results));
	}
	pthread_mutex_unlock(&verifier->lock);
	return any;
}

bool image_verifier_wait(struct image_verifier *verifier, uint64_t until_ns)
{
	const struct timespec until = clock_timespec(until_ns);
	bool any;
	int r = 0;

	pthread_mutex_lock(&verifier->lock);
	while (verifier->result_count == 0 && (verifier->job_count > 0 || verifier->busy) && r == 0)
		r = pthread_cond_timedwait(&verifier->changed, &verifier->lock, &until);
	any = verifier->result_count > 0;
	pthread_mutex_unlock(&verifier->lock);
	return any;
}
