// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/report_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/blake2b.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/web/web_report.h"

/* A result with relative times is used again for this long. */
#define MOVES_NS (5 * NS_PER_SECOND)
/* A report that takes longer is expensive. */
#define EXPENSIVE_NS NS_PER_SECOND
#define TAG_DIGEST_BYTES 16
/* More results are not kept, however small they are. */
#define RESULTS_MAX 256

struct report_cache {
	struct report_limits limits;
	struct report_counts counts;
	struct report_result *first; /* in the order of requests */
	struct report_result **end;
	unsigned int running;
	unsigned int waiting;
	size_t count;
	size_t bytes;
};

struct report_cache *report_cache_create(const struct report_limits *limits)
{
	struct report_cache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return NULL;
	cache->limits = *limits;
	cache->end = &cache->first;
	return cache;
}

static void result_free(struct report_result *result)
{
	if (result->stage == REPORT_RUNS)
		report_process_kill(&result->process);
	web_command_free(result->command);
	free(result->body);
	free(result);
}

void report_cache_destroy(struct report_cache *cache)
{
	struct report_result *next;

	if (cache == NULL)
		return;
	for (struct report_result *result = cache->first; result != NULL; result = next) {
		next = result->next;
		result_free(result);
	}
	free(cache);
}

static bool command_equal(char *const a[], char *const b[])
{
	size_t i = 0;

	while (a[i] != NULL && b[i] != NULL && strcmp(a[i], b[i]) == 0)
		i++;
	return a[i] == NULL && b[i] == NULL;
}

/* Return true if an expensive report, although of an earlier state, is recent for its cost. */
static bool recent(const struct report_result *result, uint64_t now_ns)
{
	uint64_t end_ns = result->stage == REPORT_DONE ? result->ended_ns : now_ns;
	uint64_t took_ns = end_ns - result->made_ns;

	return took_ns >= EXPENSIVE_NS && now_ns - end_ns < took_ns;
}

static bool usable(const struct report_result *result, const struct database_state *state,
		   uint64_t now_ns)
{
	/* A report that has not begun will see the present state. */
	if (result->stage == REPORT_WAITS)
		return true;
	if (result->stage == REPORT_DONE && result->end != REPORT_OK &&
	    result->end != REPORT_NOTHING && result->end != REPORT_REFUSED)
		return false;
	if (recent(result, now_ns))
		return true;
	return database_state_equal(&result->state, state) &&
	       (result->stage == REPORT_RUNS || now_ns < result->expires_ns);
}

static struct report_result *find(struct report_cache *cache, char *const command[],
				  const struct database_state *state, uint64_t now_ns)
{
	struct report_result *result = cache->first;

	while (result != NULL &&
	       !(command_equal(result->command, command) && usable(result, state, now_ns)))
		result = result->next;
	return result;
}

/* Free results until there is room for a new one: outdated ones, and those used least recently. */
static void evict_results(struct report_cache *cache)
{
	while (cache->bytes > cache->limits.results_bytes || cache->count >= RESULTS_MAX) {
		struct report_result **oldest = NULL, *result;

		for (struct report_result **at = &cache->first; *at != NULL; at = &(*at)->next) {
			if ((*at)->stage == REPORT_DONE && (*at)->references == 0 &&
			    (oldest == NULL || (*at)->used_ns < (*oldest)->used_ns))
				oldest = at;
		}
		if (oldest == NULL)
			return;
		result = *oldest;
		*oldest = result->next;
		if (cache->end == &result->next)
			cache->end = oldest;
		cache->bytes -= result->bytes;
		cache->count--;
		result_free(result);
	}
}

static struct report_result *append(struct report_cache *cache, char **command, bool moves)
{
	struct report_result *result = calloc(1, sizeof(*result));

	if (result == NULL)
		return NULL;
	result->command = command;
	result->expires_ns = moves ? MOVES_NS : UINT64_MAX;
	*cache->end = result;
	cache->end = &result->next;
	cache->count++;
	cache->waiting++;
	return result;
}

/* The state is read before the report begins, so that the report is at least as new. */
static void start(struct report_cache *cache, struct report_result *result)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct error err;

	cache->waiting--;
	result->made_ns = now_ns;
	result->state = database_state_read(cache->limits.database);
	if (!database_state_settled(&result->state, clock_real_ns()))
		result->expires_ns = 0;
	else if (result->expires_ns != UINT64_MAX)
		result->expires_ns += now_ns;
	if (report_process_start(&result->process, result->command, cache->limits.report_bytes,
				 now_ns + cache->limits.timeout_ns, &err) == 0) {
		result->stage = REPORT_RUNS;
		cache->running++;
		return;
	}
	result->stage = REPORT_DONE;
	result->end = REPORT_CRASHED;
	snprintf(result->message, sizeof(result->message), "%s", err.message);
	cache->counts.ended[REPORT_CRASHED]++;
}

static void start_waiting(struct report_cache *cache)
{
	for (struct report_result *result = cache->first;
	     result != NULL && cache->waiting > 0 && cache->running < cache->limits.workers;
	     result = result->next) {
		if (result->stage == REPORT_WAITS)
			start(cache, result);
	}
}

void report_result_reference(struct report_result *result)
{
	result->references++;
}

int report_cache_get(struct report_cache *cache, char **command, bool moves,
		     const struct database_state *state, struct report_result **ret,
		     struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct report_result *result = find(cache, command, state, now_ns);

	if (result != NULL) {
		cache->counts.reused++;
		web_command_free(command);
	} else if (cache->waiting >= cache->limits.waiting) {
		cache->counts.refused++;
		web_command_free(command);
		return error_set(err, EBUSY, "too many reports wait: try again later");
	} else {
		evict_results(cache);
		result = append(cache, command, moves);
		if (result == NULL) {
			web_command_free(command);
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		}
	}
	report_result_reference(result);
	result->used_ns = now_ns;
	*ret = result;
	start_waiting(cache);
	return 0;
}

void report_result_put(struct report_result *result)
{
	if (result != NULL)
		result->references--;
}

size_t report_cache_poll(const struct report_cache *cache, struct pollfd *polls,
			 uint64_t *deadline_ns)
{
	size_t count = 0;

	for (const struct report_result *result = cache->first; result != NULL;
	     result = result->next) {
		if (result->stage != REPORT_RUNS)
			continue;
		report_process_poll(&result->process, polls + count);
		count += REPORT_PROCESS_FILES;
		if (result->process.deadline_ns < *deadline_ns)
			*deadline_ns = result->process.deadline_ns;
	}
	return count;
}

static void set_tag(struct report_result *result)
{
	uint8_t digest[TAG_DIGEST_BYTES];
	struct blake2b hash;
	char *at = result->tag;

	blake2b_init(&hash, sizeof(digest));
	blake2b_update(&hash, result->body, result->bytes);
	blake2b_final(&hash, digest);
	*at++ = '"';
	for (size_t i = 0; i < sizeof(digest); i++)
		at += sprintf(at, "%02x", digest[i]);
	*at++ = '"';
}

static void finish(struct report_cache *cache, struct report_result *result)
{
	result->stage = REPORT_DONE;
	cache->running--;
	cache->counts.ended[result->end]++;
	result->ended_ns = clock_monotonic_ns();
	cache->counts.busy_ns += result->ended_ns - result->made_ns;
	memcpy(result->message, result->process.message, sizeof(result->message));
	if (result->end != REPORT_OK) {
		free(result->process.output);
		return;
	}
	result->body = realloc(result->process.output, result->process.bytes + 1);
	if (result->body == NULL)
		result->body = result->process.output;
	result->bytes = result->process.bytes;
	cache->bytes += result->bytes;
	set_tag(result);
}

void report_cache_advance(struct report_cache *cache)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (struct report_result *result = cache->first; result != NULL; result = result->next) {
		if (result->stage == REPORT_RUNS &&
		    report_process_advance(&result->process, now_ns, &result->end))
			finish(cache, result);
	}
	start_waiting(cache);
}

const struct report_counts *report_cache_counts(const struct report_cache *cache)
{
	return &cache->counts;
}
