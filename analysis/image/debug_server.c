// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/debug_server.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/debug_cache.h"
#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define SERVERS_MAX 16
#define TRANSFERS_MAX 16
#define TOTAL_SECONDS 10
#define STALL_SECONDS 5
#define CONNECT_SECONDS 3
/* A server that sends more slowly than this, on average, counts as stalled. */
#define BYTES_PER_SECOND_MIN 1000
#define FILE_BYTES_MAX ((curl_off_t)2 << 30)
#define POLL_MS 100
#define PROVEN_BYTES 65536
#define SECONDS_MAX 86400

#undef curl_easy_setopt
#undef curl_easy_getinfo

/* libcurl is loaded on demand: few reports ask servers. */
struct curl_api {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_setopt) *setopt;
	__typeof__(curl_easy_getinfo) *getinfo;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_add_handle) *add_handle;
	__typeof__(curl_multi_remove_handle) *remove_handle;
	__typeof__(curl_multi_perform) *perform;
	__typeof__(curl_multi_poll) *poll;
	__typeof__(curl_multi_info_read) *info_read;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
};

/*
 * struct server - a server
 * @proven: it has answered. Until then it gets one request at a time, so that a server that does
 *          not work sees only one attempt.
 */
struct server {
	char *url;
	bool failed;
	bool proven;
	size_t active; /* transfers */
};

/* struct answer - an answer. @path: NULL: there is no such file */
struct answer {
	struct debug_server_request request;
	char *path;
};

/*
 * struct job - a request in progress
 * @server: the server that is asked now or next. @easy: NULL: no transfer is in progress
 */
struct job {
	const struct debug_server_request *request;
	size_t server;
	CURL *easy;
	int fd;
	curl_off_t bytes;
	int write_errno;
	bool done;
	char *path;
};

/* All state about servers; @lock is held while they are asked. */
static struct {
	pthread_mutex_t lock;
	bool opened;
	bool usable;
	bool file_refused;
	struct curl_api curl;
	struct server servers[SERVERS_MAX];
	size_t server_count;
	uint64_t left_ns; /* remaining waiting time */
	long stall_seconds;
	struct answer *answers;
	size_t answer_count;
	size_t answer_capacity;
	const struct debug_server_listener *listener;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct fetch {
	struct job *jobs;
	size_t count;
	size_t done;
	size_t active;
	CURLM *multi;
};

void debug_server_id(char ret[2 * DEBUG_SERVER_ID_BYTES_MAX + 1],
		     const struct debug_server_request *request)
{
	ret[0] = '\0';
	for (size_t i = 0; i < request->bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", request->id[i]);
}

const char *debug_server_kind_name(enum debug_server_kind kind)
{
	return kind == DEBUG_SERVER_EXECUTABLE ? "executable" : "debuginfo";
}

void debug_server_listen(const struct debug_server_listener *listener)
{
	pthread_mutex_lock(&state.lock);
	state.listener = listener;
	pthread_mutex_unlock(&state.lock);
}

static void announce(const char *message)
{
	if (state.listener != NULL && state.listener->failed != NULL)
		state.listener->failed(state.listener->context, message);
}

static bool load_curl(struct curl_api *curl)
{
	static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *library = NULL;

	for (size_t i = 0; library == NULL && i < sizeof(libraries) / sizeof(*libraries); i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return false;
	/* POSIX's method to get a function from a void pointer. */
	*(void **)&curl->global_init = dlsym(library, "curl_global_init");
	*(void **)&curl->easy_init = dlsym(library, "curl_easy_init");
	*(void **)&curl->setopt = dlsym(library, "curl_easy_setopt");
	*(void **)&curl->getinfo = dlsym(library, "curl_easy_getinfo");
	*(void **)&curl->easy_cleanup = dlsym(library, "curl_easy_cleanup");
	*(void **)&curl->strerror = dlsym(library, "curl_easy_strerror");
	*(void **)&curl->multi_init = dlsym(library, "curl_multi_init");
	*(void **)&curl->add_handle = dlsym(library, "curl_multi_add_handle");
	*(void **)&curl->remove_handle = dlsym(library, "curl_multi_remove_handle");
	*(void **)&curl->perform = dlsym(library, "curl_multi_perform");
	*(void **)&curl->poll = dlsym(library, "curl_multi_poll");
	*(void **)&curl->info_read = dlsym(library, "curl_multi_info_read");
	*(void **)&curl->multi_cleanup = dlsym(library, "curl_multi_cleanup");
	return curl->poll != NULL && curl->global_init != NULL &&
	       curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/*
 * Return a number of seconds from the environment; @otherwise: default if it is unset or invalid.
 */
static long seconds_of(const char *variable, long otherwise)
{
	const char *text = getenv(variable);
	char *end = NULL;
	long seconds = text != NULL ? strtol(text, &end, 10) : 0;

	return end != NULL && end != text && *end == '\0' && seconds > 0 && seconds <= SECONDS_MAX
		       ? seconds
		       : otherwise;
}

/* Initialise once; called with the lock held. */
static bool servers_open(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (state.opened)
		return state.usable;
	state.opened = true;
	state.left_ns =
		(uint64_t)seconds_of("DCPI_DEBUGINFOD_SECONDS", TOTAL_SECONDS) * NS_PER_SECOND;
	state.stall_seconds = seconds_of("DEBUGINFOD_TIMEOUT", STALL_SECONDS);
	if (state.stall_seconds > STALL_SECONDS)
		state.stall_seconds = STALL_SECONDS;
	for (; urls != NULL && *urls != '\0' && state.server_count < SERVERS_MAX;) {
		size_t length;

		urls += strspn(urls, " \t\n");
		length = strcspn(urls, " \t\n");
		if (length > 0)
			state.servers[state.server_count++].url = strndup(urls, length);
		urls += length;
	}
	if (state.server_count == 0) {
		announce("debuginfod servers are not used: DEBUGINFOD_URLS is not set");
		return false;
	}
	state.usable = load_curl(&state.curl);
	if (!state.usable)
		announce("debuginfod servers are not used: libcurl.so.4 is not installed");
	return state.usable;
}

static void transfer_end(struct fetch *fetch, struct job *job)
{
	if (job->easy == NULL)
		return;
	state.curl.remove_handle(fetch->multi, job->easy);
	state.curl.easy_cleanup(job->easy);
	close(job->fd);
	job->easy = NULL;
	job->fd = -1;
	fetch->active--;
	state.servers[job->server].active--;
}

static void job_finish(struct fetch *fetch, struct job *job)
{
	transfer_end(fetch, job);
	job->done = true;
	fetch->done++;
}

/* Cancel all transfers of the server; the next servers are asked for their files. */
static void server_fail(struct fetch *fetch, size_t number, const char *reason)
{
	struct server *server = &state.servers[number];
	_cleanup_free_ char *message = NULL;

	if (server->failed)
		return;
	server->failed = true;
	if (asprintf(&message, "debuginfod server '%s' failed: %s; it is not used again",
		     server->url, reason) < 0)
		message = NULL;
	announce(message != NULL ? message : reason);
	for (size_t i = 0; i < fetch->count; i++) {
		if (fetch->jobs[i].easy != NULL && fetch->jobs[i].server == number)
			transfer_end(fetch, &fetch->jobs[i]);
	}
}

/* One message is enough: other files may have the same problem. */
static void file_refuse(const struct job *job, const char *reason)
{
	char id[2 * DEBUG_SERVER_ID_BYTES_MAX + 1];
	_cleanup_free_ char *message = NULL;

	if (state.file_refused)
		return;
	state.file_refused = true;
	debug_server_id(id, job->request);
	if (asprintf(&message,
		     "the file of build-id %s from debuginfod server '%s' is not used: %s", id,
		     state.servers[job->server].url, reason) < 0)
		message = NULL;
	announce(message != NULL ? message : reason);
}

static size_t receive(char *data, size_t size, size_t count, void *context)
{
	struct job *job = context;
	size_t bytes = size * count, written = 0;

	job->bytes += (curl_off_t)bytes;
	if (job->bytes >= PROVEN_BYTES)
		state.servers[job->server].proven = true;
	if (job->bytes > FILE_BYTES_MAX)
		return 0;
	while (written < bytes) {
		ssize_t n = write(job->fd, data + written, bytes - written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			job->write_errno = n < 0 ? errno : ENOSPC;
			return 0;
		}
		written += (size_t)n;
	}
	return bytes;
}

static bool transfer_options(struct job *job, const char *url)
{
	const struct curl_api *curl = &state.curl;
	CURL *easy = job->easy;

	curl->setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https,file");
	curl->setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl->setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
	curl->setopt(easy, CURLOPT_MAXREDIRS, 5L);
	curl->setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl->setopt(easy, CURLOPT_FAILONERROR, 1L);
	curl->setopt(easy, CURLOPT_USERAGENT, "dcpi");
	curl->setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl->setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)BYTES_PER_SECOND_MIN);
	curl->setopt(easy, CURLOPT_LOW_SPEED_TIME, state.stall_seconds);
	curl->setopt(easy, CURLOPT_MAXFILESIZE_LARGE, FILE_BYTES_MAX);
	curl->setopt(easy, CURLOPT_PRIVATE, job);
	curl->setopt(easy, CURLOPT_WRITEFUNCTION, receive);
	curl->setopt(easy, CURLOPT_WRITEDATA, job);
	return curl->setopt(easy, CURLOPT_URL, url) == CURLE_OK;
}

static char *url_of(const struct job *job)
{
	const char *server = state.servers[job->server].url;
	char id[2 * DEBUG_SERVER_ID_BYTES_MAX + 1], *url;
	size_t length = strlen(server);

	while (length > 0 && server[length - 1] == '/')
		length--;
	debug_server_id(id, job->request);
	return asprintf(&url, "%.*s/buildid/%s/%s", (int)length, server, id,
			debug_server_kind_name(job->request->kind)) < 0
		       ? NULL
		       : url;
}

/* Ask the next server that has not failed; without one, the job is done. */
static void transfer_start(struct fetch *fetch, struct job *job)
{
	_cleanup_free_ char *url = NULL;

	while (job->server < state.server_count && state.servers[job->server].failed)
		job->server++;
	if (job->server == state.server_count) {
		job_finish(fetch, job);
		return;
	}
	if (!state.servers[job->server].proven && state.servers[job->server].active > 0)
		return;
	url = url_of(job);
	job->bytes = 0;
	job->fd = url != NULL ? debug_cache_incoming(job->request) : -ENOMEM;
	job->easy = job->fd >= 0 ? state.curl.easy_init() : NULL;
	if (job->easy == NULL) {
		if (job->fd >= 0)
			close(job->fd);
		job_finish(fetch, job);
		return;
	}
	fetch->active++;
	state.servers[job->server].active++;
	if (!transfer_options(job, url) ||
	    state.curl.add_handle(fetch->multi, job->easy) != CURLM_OK)
		job_finish(fetch, job);
}

static bool is_missing(CURLcode result, long status)
{
	return result == CURLE_FILE_COULDNT_READ_FILE ||
	       (result == CURLE_HTTP_RETURNED_ERROR && status >= 400 && status < 500);
}

static void transfer_done(struct fetch *fetch, struct job *job, CURLcode result)
{
	size_t server = job->server;
	long status = 0;
	int r;

	state.curl.getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
	if (result == CURLE_OK) {
		r = debug_cache_put(job->request, job->fd, &job->path);
		if (r != -EBADMSG) {
			state.servers[server].proven = true;
			job_finish(fetch, job);
			return;
		}
		server_fail(fetch, server, "its reply is not the file with the build-id");
	} else if (is_missing(result, status)) {
		state.servers[server].proven = true;
		transfer_end(fetch, job);
		job->server++;
	} else if (result == CURLE_FILESIZE_EXCEEDED || job->bytes > FILE_BYTES_MAX) {
		file_refuse(job, "it is larger than 2 GiB");
		transfer_end(fetch, job);
		job->server++;
	} else if (result == CURLE_WRITE_ERROR) {
		file_refuse(job, strerror(job->write_errno));
		job_finish(fetch, job);
	} else {
		server_fail(fetch, server, state.curl.strerror(result));
	}
}

static void read_results(struct fetch *fetch)
{
	CURLMsg *message;
	int left;

	while ((message = state.curl.info_read(fetch->multi, &left)) != NULL) {
		CURLcode result = message->data.result;
		char *job = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		state.curl.getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
		if (job != NULL)
			transfer_done(fetch, (struct job *)(void *)job, result);
	}
}

static void start_jobs(struct fetch *fetch)
{
	for (size_t i = 0; i < fetch->count && fetch->active < TRANSFERS_MAX; i++) {
		if (!fetch->jobs[i].done && fetch->jobs[i].easy == NULL)
			transfer_start(fetch, &fetch->jobs[i]);
	}
}

static void time_over(struct fetch *fetch)
{
	_cleanup_free_ char *message = NULL;

	for (size_t i = 0; i < state.server_count; i++)
		state.servers[i].failed = true;
	if (asprintf(&message,
		     "stopped waiting for debuginfod servers after %ld s, without %zu of %zu "
		     "files; set DCPI_DEBUGINFOD_SECONDS to wait longer",
		     seconds_of("DCPI_DEBUGINFOD_SECONDS", TOTAL_SECONDS),
		     fetch->count - fetch->done, fetch->count) < 0)
		message = NULL;
	announce(message != NULL ? message : "stopped waiting for debuginfod servers");
}

/* Ask the servers until all jobs are done or the time is over. */
static void fetch_run(struct fetch *fetch)
{
	const struct debug_server_listener *listener = state.listener;
	uint64_t end = clock_monotonic_ns() + state.left_ns, now;
	int running;

	while (fetch->done < fetch->count) {
		start_jobs(fetch);
		state.curl.perform(fetch->multi, &running);
		read_results(fetch);
		if (listener != NULL && listener->progress != NULL)
			listener->progress(listener->context, fetch->done, fetch->count);
		if (fetch->done < fetch->count && clock_monotonic_ns() >= end) {
			time_over(fetch);
			break;
		}
		if (fetch->active > 0)
			state.curl.poll(fetch->multi, NULL, 0, POLL_MS, NULL);
	}
	now = clock_monotonic_ns();
	state.left_ns = now < end ? end - now : 0;
	for (size_t i = 0; i < fetch->count; i++)
		transfer_end(fetch, &fetch->jobs[i]);
	if (listener != NULL && listener->end != NULL)
		listener->end(listener->context);
}

static bool same_request(const struct debug_server_request *x, const struct debug_server_request *y)
{
	return x->kind == y->kind && x->bytes == y->bytes && memcmp(x->id, y->id, x->bytes) == 0;
}

static const struct answer *answer_find(const struct debug_server_request *request)
{
	for (size_t i = 0; i < state.answer_count; i++) {
		if (same_request(&state.answers[i].request, request))
			return &state.answers[i];
	}
	return NULL;
}

/* @path: ownership is transferred */
static void answer_add(const struct debug_server_request *request, char *path)
{
	if (array_reserve(&state.answers, &state.answer_capacity, state.answer_count + 1,
			  sizeof(*state.answers)) < 0) {
		free(path);
		return;
	}
	state.answers[state.answer_count++] = (struct answer){*request, path};
}

static bool is_job(const struct job *jobs, size_t count, const struct debug_server_request *request)
{
	for (size_t i = 0; i < count; i++) {
		if (same_request(jobs[i].request, request))
			return true;
	}
	return false;
}

/* Create a job for each request without an earlier or cached answer, once each. */
static size_t collect_jobs(struct job *jobs, const struct debug_server_request *requests,
			   size_t count)
{
	size_t wanted = 0;

	for (size_t i = 0; i < count; i++) {
		enum debug_cache_state cached;
		char *path = NULL;

		if (requests[i].bytes == 0 || answer_find(&requests[i]) != NULL ||
		    is_job(jobs, wanted, &requests[i]))
			continue;
		cached = debug_cache_find(&requests[i], &path);
		if (cached == DEBUG_CACHE_UNKNOWN)
			jobs[wanted++] = (struct job){.request = &requests[i], .fd = -1};
		else
			answer_add(&requests[i], path);
	}
	return wanted;
}

static void fetch_locked(const struct debug_server_request *requests, size_t count)
{
	_cleanup_free_ struct job *jobs = calloc(count + 1, sizeof(*jobs));
	struct fetch fetch = {.jobs = jobs};

	if (jobs == NULL)
		return;
	fetch.count = collect_jobs(jobs, requests, count);
	if (fetch.count > 0 && servers_open())
		fetch.multi = state.curl.multi_init();
	if (fetch.multi != NULL) {
		fetch_run(&fetch);
		state.curl.multi_cleanup(fetch.multi);
	}
	for (size_t i = 0; i < fetch.count; i++) {
		if (answer_find(jobs[i].request) == NULL)
			answer_add(jobs[i].request, jobs[i].path);
		else
			free(jobs[i].path);
	}
}

/* In a sandbox, the broker asks the servers. Requests are divided into packets. */
static void fetch_from_broker(const struct debug_server_request *requests, size_t count)
{
	struct broker_packet packet;

	while (count > 0) {
		size_t some = count < DEBUG_SERVER_REQUESTS_MAX ? count : DEBUG_SERVER_REQUESTS_MAX;

		broker_packet_init(&packet, BROKER_FETCH);
		packet.message.bytes = (uint32_t)(some * sizeof(*requests));
		memcpy(packet.message.data, requests, packet.message.bytes);
		broker_ask(&packet);
		requests += some;
		count -= some;
	}
}

static char *find_at_broker(const struct debug_server_request *request)
{
	struct broker_packet packet;
	const char *path;

	broker_packet_init(&packet, BROKER_FIND);
	packet.message.bytes = sizeof(*request);
	memcpy(packet.message.data, request, sizeof(*request));
	path = broker_ask(&packet) == 0 ? broker_packet_text(&packet) : NULL;
	return path != NULL ? strdup(path) : NULL;
}

void debug_server_fetch(const struct debug_server_request *requests, size_t count)
{
	if (broker_socket() >= 0) {
		fetch_from_broker(requests, count);
		return;
	}
	pthread_mutex_lock(&state.lock);
	fetch_locked(requests, count);
	pthread_mutex_unlock(&state.lock);
}

char *debug_server_find(enum debug_server_kind kind, const uint8_t *id, size_t bytes)
{
	struct debug_server_request request = {.kind = kind, .bytes = bytes};
	const struct answer *answer;
	char *path = NULL;

	if (bytes == 0 || bytes > sizeof(request.id))
		return NULL;
	memcpy(request.id, id, bytes);
	if (broker_socket() >= 0)
		return find_at_broker(&request);
	pthread_mutex_lock(&state.lock);
	fetch_locked(&request, 1);
	answer = answer_find(&request);
	if (answer != NULL && answer->path != NULL)
		path = strdup(answer->path);
	pthread_mutex_unlock(&state.lock);
	return path;
}
