// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive/image_copier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/archive/archive_dir.h"
#include "daemon/base/log.h"
#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_digest.h"
#include "lib/file_identity.h"
#include "loader-hook/build_id.h"

#define QUEUE_MAX 64
#define STEP_BYTES (256U << 10)
/* Added to the size of files that still have a name, so that the others come first. */
#define SIZE_NAMED (1ULL << 63)
/* Maximum time that image_copier_close() waits for a thread blocked by a file system. */
#define CLOSE_WAIT_S 2

/* A ring buffer: entries head .. head + count - 1. */
struct queue {
	struct image_copier_job jobs[QUEUE_MAX];
	size_t head;
	size_t count;
};

/*
 * @backlog:   jobs taken by the thread; private to it, as are @sizes (by which it selects them) and
 *             @archive
 * @lock:      protects all following fields
 * @held:      number of jobs that the thread has. @waiting, @done and @held together are at most
 *             QUEUE_MAX, so that results always fit
 * @ended:     the thread has finished
 * @abandoned: image_copier_close() has returned without the thread, which frees everything
 */
struct image_copier {
	uint64_t bytes_per_second;
	uint64_t copy_max;
	struct archive_dir *archive;
	uint8_t *buffer;
	pthread_t thread;
	struct image_copier_job backlog[QUEUE_MAX];
	uint64_t sizes[QUEUE_MAX];
	size_t backlog_count;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue waiting;
	struct queue done;
	size_t held;
	bool stop;
	bool ended;
	bool abandoned;
	struct image_copier_status status;
};

static void queue_put(struct queue *queue, const struct image_copier_job *job)
{
	queue->jobs[(queue->head + queue->count++) % QUEUE_MAX] = *job;
}

static struct image_copier_job queue_take(struct queue *queue)
{
	struct image_copier_job job = queue->jobs[queue->head];

	queue->head = (queue->head + 1) % QUEUE_MAX;
	queue->count--;
	return job;
}

/* Wait until a time. Return: -ECANCELED if the thread is to stop. */
static int pause_until(struct image_copier *copier, uint64_t time_ns)
{
	const struct timespec until = clock_timespec(time_ns);
	int rc = 0;

	pthread_mutex_lock(&copier->lock);
	while (!copier->stop && rc == 0)
		rc = pthread_cond_timedwait(&copier->changed, &copier->lock, &until);
	rc = copier->stop ? -ECANCELED : 0;
	pthread_mutex_unlock(&copier->lock);
	return rc;
}

/* Copy one step, sharing blocks or within the kernel if possible. */
static ssize_t step_copy(struct image_copier *copier, int from, int to, off_t offset, size_t bytes)
{
	off_t in = offset, out = offset;
	ssize_t done = copy_file_range(from, &in, to, &out, bytes, 0), written;

	if (done > 0 || (done < 0 && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP &&
			 errno != ENOSYS))
		return done < 0 ? -errno : done;
	done = pread(from, copier->buffer, bytes, offset);
	if (done <= 0)
		return done < 0 ? -errno : -EIO; /* the file was truncated */
	written = pwrite(to, copier->buffer, (size_t)done, offset);
	return written < 0 ? -errno : written;
}

static int range_copy(struct image_copier *copier, int from, int to, off_t start, off_t end)
{
	while (start < end) {
		size_t bytes = (size_t)(end - start);
		uint64_t begun = clock_monotonic_ns();
		ssize_t done;
		int rc;

		if (bytes > STEP_BYTES)
			bytes = STEP_BYTES;
		done = step_copy(copier, from, to, start, bytes);
		if (done < 0)
			return (int)done;
		start += done;
		rc = pause_until(copier,
				 begun + (uint64_t)done * NS_PER_SECOND / copier->bytes_per_second);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Copy only data, preserving holes. */
static int file_copy(struct image_copier *copier, int from, int to, off_t bytes)
{
	off_t start = 0, end;
	int rc = ftruncate(to, bytes) < 0 ? -errno : 0;

	while (rc == 0 && start < bytes) {
		start = lseek(from, start, SEEK_DATA);
		if (start < 0)
			return errno == ENXIO ? 0 : -errno;
		end = lseek(from, start, SEEK_HOLE);
		if (end < 0 || end > bytes)
			end = bytes;
		rc = range_copy(copier, from, to, start, end);
		start = end;
	}
	return rc;
}

static int data_copy(int to, const uint8_t *data, size_t bytes)
{
	ssize_t written;

	for (; bytes > 0; data += written, bytes -= (size_t)written) {
		written = write(to, data, bytes);
		if (written < 0)
			return -errno;
	}
	return 0;
}

/* Return: 0 if the copy's contents, and the users that may write its source, match the identity. */
static int check_content(const struct image_copier_job *job, int fd, int from,
			 const struct stat *status, uint64_t bytes)
{
	uint8_t content[CONTENT_DIGEST_BYTES], identity[FILE_IDENTITY_BYTES];
	struct file_writers writers;
	int rc = from >= 0 ? content_digest(content, fd, bytes, NULL, NULL) : -EBADMSG;

	if (rc < 0)
		return rc;
	writers = file_writers_get(from, status);
	file_identity_content(identity, content, &writers);
	return job->identity_bytes >= sizeof(identity) &&
			       memcmp(identity, job->identity, sizeof(identity)) == 0
		       ? 0
		       : -EBADMSG;
}

/* Return: 0 if the copy has the identity in the job. */
static int copy_check(const struct image_copier_job *job, int fd, int from,
		      const struct stat *status, uint64_t bytes)
{
	uint8_t digest[FILE_DIGEST_BYTES];
	struct build_id build_id;
	int rc;

	if (job->kind == IMAGE_STORE_BUILD_ID) {
		rc = build_id_from_file(&build_id, fd);
		if (rc == 0 && build_id.bytes == job->identity_bytes &&
		    memcmp(build_id.data, job->identity, build_id.bytes) == 0)
			return 0;
		return rc == -EIO ? rc : -EBADMSG;
	}
	if (job->kind == IMAGE_STORE_DIGEST) {
		rc = file_digest(digest, fd, bytes);
		if (rc == 0 && (job->identity_bytes != sizeof(digest) ||
				memcmp(digest, job->identity, sizeof(digest)) != 0))
			rc = -EBADMSG;
		return rc;
	}
	return job->kind == IMAGE_STORE_CONTENT ? check_content(job, fd, from, status, bytes) : 0;
}

/* Find the file of a job that has a path, before it disappears. */
static void job_locate(struct image_copier_job *job)
{
	struct stat status;

	if (job->fd >= 0 || job->path == NULL)
		return;
	job->fd = image_file_open_claimed(&job->claim, job->path, &status);
	job->result = job->fd < 0 ? job->fd : 0;
}

/* The file, in particular its mode, may have changed since it was found: check it again. */
static int job_open(const struct image_copier_job *job, struct stat *status)
{
	int rc = job->fd < 0 ? job->result : image_file_check(&job->claim, job->fd, status);

	return rc < 0 ? rc : image_file_readable(job->fd);
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Return true if the file was not written or truncated, and its permissions were not changed, since
 * @before.
 */
static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat after;

	return fstat(fd, &after) == 0 && after.st_size == before->st_size &&
	       is_same_time(&after.st_mtim, &before->st_mtim) &&
	       is_same_time(&after.st_ctim, &before->st_ctim);
}

static int verified_copy(struct image_copier *copier, const struct image_copier_job *job, int from,
			 const struct stat *status, int to)
{
	uint64_t bytes = from >= 0 ? (uint64_t)status->st_size : job->data_bytes;
	int rc = from >= 0 ? file_copy(copier, from, to, status->st_size)
			   : data_copy(to, job->data, job->data_bytes);

	if (rc == 0 && from >= 0 && !is_unchanged(from, status))
		rc = -EAGAIN;
	if (rc == 0)
		rc = copy_check(job, to, from, status, bytes);
	if (rc == 0 && fdatasync(to) < 0)
		rc = -errno;
	if (rc == 0)
		posix_fadvise(to, 0, 0, POSIX_FADV_DONTNEED);
	return rc;
}

static int copy_make(struct image_copier *copier, const struct image_copier_job *job, int from,
		     const struct stat *status, const char *name)
{
	uint64_t bytes = from >= 0 ? (uint64_t)status->st_size : job->data_bytes;
	_cleanup_close_ int to = -1;
	int rc;

	if (bytes > copier->copy_max)
		return -EFBIG;
	rc = pause_until(copier, 0); /* opening may have blocked until after the stop */
	if (rc < 0)
		return rc;
	to = archive_dir_incoming(copier->archive, bytes, &rc);
	if (to < 0)
		return rc;
	rc = verified_copy(copier, job, from, status, to);
	if (rc == 0)
		rc = pause_until(copier, 0); /* another copier may own the archive by now */
	if (rc == 0)
		rc = archive_dir_put(copier->archive, to, name, job->expires_ns);
	if (rc < 0)
		archive_dir_discard(copier->archive);
	return rc;
}

static int job_copy(struct image_copier *copier, struct image_copier_job *job)
{
	struct file_writers writers = {.others = true};
	enum image_store_owner owner = IMAGE_STORE_USER;
	char name[IMAGE_STORE_NAME_BYTES];
	_cleanup_close_ int from = -1;
	struct stat status;
	int rc;

	if (job->data == NULL) {
		from = job_open(job, &status);
		if (from < 0)
			return from;
		writers = file_writers_get(from, &status);
		owner = file_writers_only(&writers, geteuid()) ? IMAGE_STORE_ROOT
							       : IMAGE_STORE_USER;
	}
	rc = image_store_name(name, job->kind, owner, job->identity, job->identity_bytes);
	if (rc < 0)
		return rc;
	if (archive_dir_touch(copier->archive, name, job->expires_ns) == 0)
		return 0;
	rc = copy_make(copier, job, from, &status, name);
	job->copied = rc == 0;
	return rc == -EBADMSG && job->path != NULL ? -ESTALE : rc;
}

static int job_touch(struct image_copier *copier, const struct image_copier_job *job)
{
	char name[IMAGE_STORE_NAME_BYTES];
	int rc = -ENOENT;

	for (int owner = IMAGE_STORE_ROOT; owner <= IMAGE_STORE_USER; owner++) {
		if (image_store_name(name, job->kind, (enum image_store_owner)owner, job->identity,
				     job->identity_bytes) == 0 &&
		    archive_dir_touch(copier->archive, name, job->expires_ns) == 0)
			rc = 0;
	}
	return rc;
}

static void job_release(struct image_copier_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	free(job->path);
	free(job->data);
	job->fd = -1;
	job->path = NULL;
	job->data = NULL;
}

static void job_run(struct image_copier *copier, struct image_copier_job *job)
{
	bool touch = job->fd < 0 && job->path == NULL && job->data == NULL;

	job->result = touch ? job_touch(copier, job) : job_copy(copier, job);
	job_release(job);
	pthread_mutex_lock(&copier->lock);
	copier->status.copied += job->copied;
	copier->status.failed += !touch && job->result < 0 && job->result != -ECANCELED;
	archive_dir_count(copier->archive, &copier->status.files, &copier->status.bytes,
			  &copier->status.evicted);
	queue_put(&copier->done, job);
	copier->held--;
	pthread_mutex_unlock(&copier->lock);
}

/* Data in memory and files without a name come first: they may disappear soon. */
static uint64_t job_size(const struct image_copier_job *job)
{
	struct stat status;

	if (job->fd < 0 || fstat(job->fd, &status) < 0)
		return 0;
	return (uint64_t)status.st_size + (status.st_nlink > 0 ? SIZE_NAMED : 0);
}

/* Take the smallest: most are small, and all of them may disappear. */
static struct image_copier_job backlog_take(struct image_copier *copier)
{
	struct image_copier_job job;
	size_t i, least = 0;

	for (i = 1; i < copier->backlog_count; i++) {
		if (copier->sizes[i] < copier->sizes[least])
			least = i;
	}
	job = copier->backlog[least];
	copier->backlog_count--;
	copier->backlog[least] = copier->backlog[copier->backlog_count];
	copier->sizes[least] = copier->sizes[copier->backlog_count];
	return job;
}

/* Wait for jobs and take all of them. Return: false: stop. */
static bool backlog_fill(struct image_copier *copier)
{
	size_t known = copier->backlog_count, i;
	bool stop;

	pthread_mutex_lock(&copier->lock);
	while (!copier->stop && copier->waiting.count == 0 && known == 0)
		pthread_cond_wait(&copier->changed, &copier->lock);
	while (copier->waiting.count > 0)
		copier->backlog[copier->backlog_count++] = queue_take(&copier->waiting);
	copier->held = copier->backlog_count;
	stop = copier->stop;
	pthread_mutex_unlock(&copier->lock);
	for (i = known; !stop && i < copier->backlog_count; i++) {
		job_locate(&copier->backlog[i]);
		copier->sizes[i] = job_size(&copier->backlog[i]);
	}
	return !stop;
}

static void copier_free(struct image_copier *copier)
{
	while (copier->waiting.count > 0)
		copier->backlog[copier->backlog_count++] = queue_take(&copier->waiting);
	while (copier->backlog_count > 0)
		job_release(&copier->backlog[--copier->backlog_count]);
	archive_dir_close(copier->archive);
	free(copier->buffer);
	free(copier);
}

static void copier_destroy(struct image_copier *copier)
{
	pthread_cond_destroy(&copier->changed);
	pthread_mutex_destroy(&copier->lock);
	copier_free(copier);
}

/* Runs with the lowest CPU and I/O priority. */
static void *copier_run(void *context)
{
	struct image_copier *copier = context;
	struct image_copier_job job;
	bool abandoned;

	setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
	while (backlog_fill(copier)) {
		job = backlog_take(copier);
		job_run(copier, &job);
	}
	pthread_mutex_lock(&copier->lock);
	copier->ended = true;
	abandoned = copier->abandoned;
	pthread_mutex_unlock(&copier->lock);
	if (abandoned)
		copier_destroy(copier);
	return NULL;
}

static int thread_start(struct image_copier *copier, struct error *err)
{
	pthread_condattr_t attributes;
	int rc;

	pthread_mutex_init(&copier->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&copier->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = pthread_create(&copier->thread, NULL, copier_run, copier);
	return rc == 0 ? 0 : error_set(err, rc, ERROR_THREAD ": %s", strerror(rc));
}

int image_copier_open(struct image_copier **ret, const struct image_copier_config *config,
		      struct error *err)
{
	struct image_copier *copier = calloc(1, sizeof(*copier));
	int rc;

	if (copier == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	copier->bytes_per_second = config->bytes_per_second > 0 ? config->bytes_per_second : 1;
	copier->copy_max = config->bytes_max / 2;
	copier->buffer = malloc(STEP_BYTES);
	rc = copier->buffer != NULL ? archive_dir_open(&copier->archive, config->directory,
						       config->bytes_max, config->group, err)
				    : error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (rc == 0) {
		archive_dir_count(copier->archive, &copier->status.files, &copier->status.bytes,
				  &copier->status.evicted);
		rc = thread_start(copier, err);
	}
	if (rc < 0) {
		copier_free(copier);
		return rc;
	}
	*ret = copier;
	return 0;
}

void image_copier_close(struct image_copier *copier)
{
	struct timespec until;
	pthread_t thread;
	bool abandoned;

	if (copier == NULL)
		return;
	thread = copier->thread;
	pthread_mutex_lock(&copier->lock);
	copier->stop = true;
	pthread_cond_broadcast(&copier->changed);
	pthread_mutex_unlock(&copier->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_WAIT_S;
	if (pthread_timedjoin_np(thread, NULL, &until) != 0) {
		pthread_mutex_lock(&copier->lock);
		abandoned = copier->abandoned = !copier->ended;
		pthread_mutex_unlock(&copier->lock);
		if (abandoned) {
			log_warning("a file system does not respond: copying an image was aborted");
			pthread_detach(thread);
			return; /* the thread frees the copier, and removes its copy */
		}
		pthread_join(thread, NULL);
	}
	copier_destroy(copier);
}

bool image_copier_has(const struct image_copier *copier, enum image_store_kind kind,
		      const uint8_t *identity, size_t identity_bytes)
{
	char name[IMAGE_STORE_NAME_BYTES];
	int last = kind == IMAGE_STORE_CONTENT ? IMAGE_STORE_USER : IMAGE_STORE_ROOT;

	for (int owner = IMAGE_STORE_ROOT; owner <= last; owner++) {
		if (image_store_name(name, kind, (enum image_store_owner)owner, identity,
				     identity_bytes) == 0 &&
		    archive_dir_has(copier->archive, name))
			return true;
	}
	return false;
}

int image_copier_add(struct image_copier *copier, const struct image_copier_job *job)
{
	int rc = -EAGAIN;

	pthread_mutex_lock(&copier->lock);
	if (copier->waiting.count + copier->done.count + copier->held < QUEUE_MAX) {
		queue_put(&copier->waiting, job);
		pthread_cond_signal(&copier->changed);
		rc = 0;
	}
	pthread_mutex_unlock(&copier->lock);
	return rc;
}

int image_copier_touch(struct image_copier *copier, const struct image_copier_job *job)
{
	struct image_copier_job touch = *job;

	touch.fd = -1;
	touch.path = NULL;
	touch.data = NULL;
	return image_copier_add(copier, &touch);
}

bool image_copier_result(struct image_copier *copier, struct image_copier_job *ret)
{
	bool any;

	pthread_mutex_lock(&copier->lock);
	any = copier->done.count > 0;
	if (any)
		*ret = queue_take(&copier->done);
	pthread_mutex_unlock(&copier->lock);
	return any;
}

void image_copier_status(struct image_copier *copier, struct image_copier_status *status)
{
	pthread_mutex_lock(&copier->lock);
	*status = copier->status;
	status->waiting = copier->waiting.count + copier->held;
	pthread_mutex_unlock(&copier->lock);
}
