// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/unwind_builder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/sandbox_process.h"
#include "daemon/image/image_file.h"
#include "daemon/image/quota.h"
#include "daemon/unwind/unwind_table.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define NICE 5
#define NS_PER_POINT 1000
/* Interval of checks of the CPU time while a file is read. */
#define CHECK_NS (10 * NS_PER_MS)
/* Interval of checks whether a user has points again. */
#define RETRY_NS (100 * NS_PER_MS)
/* Points that a user must have before building continues: pauses are not too short. */
#define CONTINUE_POINTS 5000
/* The process's own memory: the largest sections and table, twice. */
#define PROCESS_BYTES ((uint64_t)384 << 20)
#define PROCESS_FILES 16

/*
 * @quota, @process, @last_uid: private to the thread; @last_uid: of the last job
 * @lock:  protects all following fields
 * @users: references of the caller and the thread: the last one frees the structure
 * @child: id of the process, to kill it; 0: none
 * @busy:  the thread has a job
 */
struct unwind_builder {
	struct quota quota;
	struct sandbox_process process;
	uint32_t last_uid;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int users;
	bool stop;
	bool busy;
	pid_t child;
	struct unwind_job jobs[UNWIND_BUILDER_JOBS_MAX];
	size_t job_count;
	struct unwind_result results[UNWIND_BUILDER_JOBS_MAX];
	size_t result_count;
	size_t result_bytes;
	struct unwind_builder_counts counts;
};

static void files_close(int files[IMAGE_UNWIND_FILES])
{
	for (size_t i = 0; i < IMAGE_UNWIND_FILES; i++) {
		if (files[i] >= 0)
			close(files[i]);
		files[i] = -1;
	}
}

/* The data of a message to the process. */
struct request {
	struct image_unwind_identity identity;
	struct unwind_wanted wanted;
};

_Static_assert(sizeof(struct request) <= BROKER_DATA_MAX, "a request is one message");

/* The process. */

/* Return: 0: the table is in a file in memory, @fd; -errno. */
static int request_answer(const struct broker_packet *packet, int *fd)
{
	struct request request;
	struct unwind_table *table = NULL;
	int r = -ENOENT;

	if (packet->message.operation != BROKER_UNWIND || packet->message.bytes != sizeof(request))
		return -EPROTO;
	memcpy(&request, packet->message.data, sizeof(request));
	for (size_t i = 0; i < IMAGE_UNWIND_FILES && packet->fds[i] >= 0 && r < 0; i++)
		r = image_unwind_build(&table, &request.identity, packet->fds[i],
				       request.wanted.only ? &request.wanted : NULL);
	if (r < 0)
		return r;
	*fd = memfd_create("unwind table", MFD_CLOEXEC);
	r = *fd < 0 ? -errno : unwind_table_write(table, *fd);
	unwind_table_destroy(table);
	return r;
}

static void process_serve(int socket, const int *files, const void *context)
{
	struct broker_packet request, reply;

	(void)files;
	(void)context;
	while (broker_receive(socket, &request) == 1) {
		broker_packet_init(&reply, BROKER_UNWIND);
		reply.message.result = request_answer(&request, &reply.fds[0]);
		broker_packet_close(&request);
		if (broker_send(socket, &reply) < 0)
			return;
		broker_packet_close(&reply);
	}
}

/* The thread. */

static void process_publish(struct unwind_builder *builder, pid_t child)
{
	pthread_mutex_lock(&builder->lock);
	builder->child = child;
	builder->counts.open |= builder->process.open;
	if (builder->stop && child > 0)
		kill(child, SIGKILL);
	pthread_mutex_unlock(&builder->lock);
}

static void process_end(struct unwind_builder *builder)
{
	process_publish(builder, 0);
	sandbox_process_end(&builder->process);
}

/* Return: false: it could not be started. */
static bool process_start(struct unwind_builder *builder)
{
	static const struct sandbox_process_task task = {
		.name = "dcpid-unwind",
		.run = process_serve,
		.memory_bytes = PROCESS_BYTES,
		.descriptors = PROCESS_FILES,
		.nice = NICE,
	};

	if (sandbox_process_start(&builder->process, &task) < 0)
		return false;
	process_publish(builder, builder->process.pid);
	return true;
}

/* Return: false if the thread is to stop. */
static bool rest(struct unwind_builder *builder, uint64_t wait_ns)
{
	const struct timespec until = clock_timespec(clock_monotonic_ns() + wait_ns);
	bool stop;
	int r = 0;

	pthread_mutex_lock(&builder->lock);
	while (!builder->stop && r == 0)
		r = pthread_cond_timedwait(&builder->changed, &builder->lock, &until);
	stop = builder->stop;
	pthread_mutex_unlock(&builder->lock);
	return !stop;
}

/*
 * The file that is being read.
 *
 * @charged_ns: CPU time of the process that has been charged
 * @elapsed_ns: while it was not stopped
 */
struct progress {
	struct quota_user *user;
	uint64_t limit_ns;
	uint64_t charged_ns;
	uint64_t used_ns;
	uint64_t elapsed_ns;
};

/* Charge CPU time. Return: false: the file exceeds a limit. */
static bool progress_charge(struct unwind_builder *builder, struct progress *progress)
{
	uint64_t points =
		(sandbox_process_cpu_ns(&builder->process) - progress->charged_ns) / NS_PER_POINT;

	quota_charge(progress->user, clock_monotonic_ns(), (int64_t)points);
	progress->charged_ns += points * NS_PER_POINT;
	progress->used_ns += points * NS_PER_POINT;
	pthread_mutex_lock(&builder->lock);
	builder->counts.cpu_ns += points * NS_PER_POINT;
	if (quota_is_limited(progress->user))
		builder->counts.user_cpu_ns += points * NS_PER_POINT;
	pthread_mutex_unlock(&builder->lock);
	return progress->used_ns <= progress->limit_ns &&
	       progress->elapsed_ns <= UNWIND_BUILDER_ELAPSED_NS;
}

static bool may_continue(const struct progress *progress, int64_t points)
{
	return !quota_is_limited(progress->user) ||
	       quota_points(progress->user, clock_monotonic_ns()) >= points;
}

/* Stop the process until the user has points. Return: false if the thread is to stop. */
static bool progress_pause(struct unwind_builder *builder, const struct progress *progress)
{
	bool go = true;

	if (may_continue(progress, 0))
		return true;
	kill(builder->process.pid, SIGSTOP);
	while (go && !may_continue(progress, CONTINUE_POINTS))
		go = rest(builder, RETRY_NS);
	kill(builder->process.pid, SIGCONT);
	return go;
}

/* Wait for the reply. Return: 1: @reply; 0: the process has ended; -ETIME: limit; -ECANCELED. */
static int reply_await(struct unwind_builder *builder, struct progress *progress,
		       struct broker_packet *reply)
{
	struct pollfd socket = {.fd = builder->process.socket, .events = POLLIN};
	uint64_t began_ns;
	int ready;

	for (;;) {
		began_ns = clock_monotonic_ns();
		ready = poll(&socket, 1, (int)(CHECK_NS / NS_PER_MS));
		progress->elapsed_ns += clock_monotonic_ns() - began_ns;
		if (!progress_charge(builder, progress))
			return -ETIME;
		if (ready > 0)
			return broker_receive(builder->process.socket, reply) == 1 ? 1 : 0;
		if (!progress_pause(builder, progress))
			return -ECANCELED;
	}
}

/* Return: number of descriptors for reading in @request. */
static size_t request_open(struct broker_packet *request, const struct unwind_job *job)
{
	size_t count = 0;

	for (size_t i = 0; i < IMAGE_UNWIND_FILES; i++) {
		int fd = job->files[i] >= 0 ? image_file_readable(job->files[i]) : -1;

		if (fd >= 0)
			request->fds[count++] = fd;
	}
	return count;
}

/* Send a request; the process may have ended since the last one. */
static bool process_ask(struct unwind_builder *builder, const struct broker_packet *request,
			struct progress *progress)
{
	for (int i = 0; i < 2; i++) {
		if (builder->process.socket < 0 && !process_start(builder))
			return false;
		/* The start of the process is not charged. */
		progress->charged_ns = sandbox_process_cpu_ns(&builder->process);
		if (broker_send(builder->process.socket, request) == 0)
			return true;
		process_end(builder);
	}
	return false;
}

static bool request_send(struct unwind_builder *builder, const struct unwind_job *job,
			 struct progress *progress)
{
	const struct request request = {job->identity, job->wanted};
	struct broker_packet packet;
	bool sent;

	broker_packet_init(&packet, BROKER_UNWIND);
	memcpy(packet.message.data, &request, sizeof(request));
	packet.message.bytes = sizeof(request);
	sent = request_open(&packet, job) > 0 && process_ask(builder, &packet, progress);
	broker_packet_close(&packet);
	return sent;
}

static void failure_count(struct unwind_builder *builder, int reason)
{
	pthread_mutex_lock(&builder->lock);
	builder->counts.stopped += reason == -ETIME;
	builder->counts.crashed += reason == 0;
	pthread_mutex_unlock(&builder->lock);
}

/* Results that wait leave less room for pages that are not wanted. */
static void table_read(struct unwind_builder *builder, struct unwind_table **ret, int fd,
		       const struct unwind_wanted *wanted)
{
	struct unwind_wanted reduced = *wanted;

	pthread_mutex_lock(&builder->lock);
	reduced.bytes_max -= builder->result_bytes < reduced.bytes_max ? builder->result_bytes
								       : reduced.bytes_max;
	pthread_mutex_unlock(&builder->lock);
	unwind_table_read(ret, fd, &reduced);
}

/* Return: NULL: the file has no table. */
static struct unwind_table *job_run(struct unwind_builder *builder, const struct unwind_job *job)
{
	struct progress progress = {.user = quota_user_of(&builder->quota, job->uid)};
	struct unwind_table *table = NULL;
	struct broker_packet reply;
	int r;

	progress.limit_ns =
		quota_is_limited(progress.user) ? UNWIND_BUILDER_USER_NS : UNWIND_BUILDER_ROOT_NS;
	if (!request_send(builder, job, &progress))
		return NULL;
	r = reply_await(builder, &progress, &reply);
	if (r != 1) {
		failure_count(builder, r);
		process_end(builder);
		return NULL;
	}
	if (reply.message.result == 0 && reply.fds[0] >= 0)
		table_read(builder, &table, reply.fds[0], &job->wanted);
	broker_packet_close(&reply);
	return table;
}

/* Return the next job of a user with points, preferably of another user; @job_count: none. */
static size_t job_choose(struct unwind_builder *builder)
{
	size_t chosen = builder->job_count;

	for (size_t i = 0; i < builder->job_count; i++) {
		struct quota_user *user = quota_user_of(&builder->quota, builder->jobs[i].uid);

		if (quota_is_limited(user) && quota_points(user, clock_monotonic_ns()) <= 0)
			continue;
		if (builder->jobs[i].uid != builder->last_uid)
			return i;
		if (chosen == builder->job_count)
			chosen = i;
	}
	return chosen;
}

static void job_await(struct unwind_builder *builder)
{
	const struct timespec until = clock_timespec(clock_monotonic_ns() + RETRY_NS);

	if (builder->job_count == 0)
		pthread_cond_wait(&builder->changed, &builder->lock);
	else
		pthread_cond_timedwait(&builder->changed, &builder->lock, &until);
}

/* Return: false if the thread is to stop. */
static bool job_take(struct unwind_builder *builder, struct unwind_job *job)
{
	size_t chosen;
	bool any;

	pthread_mutex_lock(&builder->lock);
	while ((chosen = job_choose(builder)) == builder->job_count && !builder->stop)
		job_await(builder);
	any = !builder->stop;
	if (any) {
		*job = builder->jobs[chosen];
		builder->job_count--;
		memmove(&builder->jobs[chosen], &builder->jobs[chosen + 1],
			(builder->job_count - chosen) * sizeof(*builder->jobs));
		builder->busy = true;
		builder->last_uid = job->uid;
	}
	pthread_mutex_unlock(&builder->lock);
	return any;
}

static size_t result_bytes(const struct unwind_result *result)
{
	return result->table != NULL ? unwind_table_bytes(result->table) : 0;
}

static void result_put(struct unwind_builder *builder, const struct unwind_job *job,
		       struct unwind_table *table)
{
	const struct unwind_result result = {job->image, table, job->wanted};

	pthread_mutex_lock(&builder->lock);
	builder->results[builder->result_count++] = result;
	builder->result_bytes += result_bytes(&result);
	builder->busy = false;
	pthread_cond_broadcast(&builder->changed);
	pthread_mutex_unlock(&builder->lock);
}

static void release(struct unwind_builder *builder)
{
	bool last;

	pthread_mutex_lock(&builder->lock);
	last = --builder->users == 0;
	pthread_mutex_unlock(&builder->lock);
	if (!last)
		return;
	for (size_t i = 0; i < builder->job_count; i++)
		files_close(builder->jobs[i].files);
	for (size_t i = 0; i < builder->result_count; i++)
		unwind_table_destroy(builder->results[i].table);
	quota_deinit(&builder->quota);
	pthread_cond_destroy(&builder->changed);
	pthread_mutex_destroy(&builder->lock);
	free(builder);
}

static void *builder_run(void *context)
{
	struct unwind_builder *builder = context;
	struct unwind_job job;

	while (job_take(builder, &job)) {
		struct unwind_table *table = job_run(builder, &job);

		files_close(job.files);
		result_put(builder, &job, table);
	}
	process_end(builder);
	release(builder);
	return NULL;
}

/* Signals are handled by the other threads. */
static int builder_thread_start(struct unwind_builder *builder)
{
	sigset_t all, before;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, NULL, builder_run, builder);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		pthread_detach(thread);
	return -r;
}

/* The caller. */

struct unwind_builder *unwind_builder_create(void)
{
	struct unwind_builder *builder = calloc(1, sizeof(*builder));
	pthread_condattr_t attributes;

	if (builder == NULL)
		return NULL;
	pthread_mutex_init(&builder->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&builder->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	builder->process.socket = -1;
	builder->last_uid = QUOTA_UID_NONE;
	builder->users = 2;
	if (builder_thread_start(builder) < 0) {
		builder->users = 1;
		release(builder);
		return NULL;
	}
	return builder;
}

void unwind_builder_destroy(struct unwind_builder *builder)
{
	if (builder == NULL)
		return;
	pthread_mutex_lock(&builder->lock);
	builder->stop = true;
	if (builder->child > 0)
		kill(builder->child, SIGKILL);
	pthread_cond_broadcast(&builder->changed);
	pthread_mutex_unlock(&builder->lock);
	release(builder);
}

/* One user's files must leave room for those of others, and each job has room for its result. */
static bool builder_has_room(const struct unwind_builder *builder, uint32_t uid)
{
	size_t count = 0;

	if (builder->job_count + builder->busy + builder->result_count >= UNWIND_BUILDER_JOBS_MAX)
		return false;
	for (size_t i = 0; i < builder->job_count; i++)
		count += builder->jobs[i].uid == uid;
	return uid == 0 || count < UNWIND_BUILDER_USER_JOBS_MAX;
}

int unwind_builder_add(struct unwind_builder *builder, const struct unwind_job *job)
{
	int r = -EAGAIN;

	pthread_mutex_lock(&builder->lock);
	if (builder_has_room(builder, job->uid)) {
		builder->jobs[builder->job_count++] = *job;
		pthread_cond_broadcast(&builder->changed);
		r = 0;
	}
	pthread_mutex_unlock(&builder->lock);
	return r;
}

bool unwind_builder_result(struct unwind_builder *builder, struct unwind_result *ret)
{
	bool any;

	pthread_mutex_lock(&builder->lock);
	any = builder->result_count > 0;
	if (any) {
		*ret = builder->results[--builder->result_count];
		builder->result_bytes -= result_bytes(ret);
	}
	pthread_mutex_unlock(&builder->lock);
	return any;
}

bool unwind_builder_wait(struct unwind_builder *builder, uint64_t until_ns)
{
	const struct timespec until = clock_timespec(until_ns);
	bool any;
	int r = 0;

	pthread_mutex_lock(&builder->lock);
	while (builder->result_count == 0 && (builder->job_count > 0 || builder->busy) && r == 0)
		r = pthread_cond_timedwait(&builder->changed, &builder->lock, &until);
	any = builder->result_count > 0;
	pthread_mutex_unlock(&builder->lock);
	return any;
}

struct unwind_builder_counts unwind_builder_counts(struct unwind_builder *builder)
{
	struct unwind_builder_counts counts;

	pthread_mutex_lock(&builder->lock);
	counts = builder->counts;
	pthread_mutex_unlock(&builder->lock);
	return counts;
}
