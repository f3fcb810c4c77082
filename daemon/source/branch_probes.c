// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_probes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/source.h"
#include "kmod/core/period.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/u64_map.h"

/*
 * How long probes are there. Of 0.5, 3 and 10 ms, with the same part of time for all (so more
 * or fewer of them), this served best on programs of tests/accuracy/x86_programs.txt.
 */
#define WINDOW_NS (3 * NS_PER_MS)
/* So many executions of a branch a window is worth (30, and all of them, were worse). */
#define WINDOW_HITS 100
/* From one window of a thread to the next, if nothing else takes so long. */
#define PAUSE_NS (20 * NS_PER_MS)
/* What is seen in a window counts as one, however much it is; so many are worth a turn. */
#define TURN_WINDOWS 4
#define SNAPSHOTS_A_WINDOW 16
/* A branch that always went the same way has little more to tell: as if it had more turns. */
#define ONE_WAY 3
#define TURNS_MAX 1024
/* After so many branches all are as if new: 1.5 MB. */
#define KNOWN_MAX 32768
#define OFFERS 64
/* Of some windows, up to 128 each. */
#define RESULTS 2048

/*
 * How a branch's past is kept in a word: windows in which it was seen to go some way, those of
 * another way than the first, that.
 */
#define SEEN_MASK 0xffffffULL
#define OTHER_SHIFT 24
#define TO_SHIFT 48
#define TO_MASK 0xffffULL

/*
 * struct worker - a thread, with a link of its own
 * @some: what it is at, of which there are @count; changed under the lock
 */
struct worker {
	struct branch_probes *probes;
	struct branch_probe_link link;
	pthread_t thread;
	struct branch_probe some[BRANCH_WINDOWS];
	size_t count;
};

struct results {
	uint32_t count;
	struct branch_probe_result item[RESULTS];
};

/*
 * @known:   what was seen of branches, by key_of(); the caller's thread's alone, as is
 * @random:  of period_random()
 * @lock:    of all from here on
 * @offered: branches that were worth it since the last were taken
 * @offer:   of them as many as there is room for, each as likely
 * @current: which of @results is filled; the other one is the caller's
 * @rounding: of period_random()
 */
struct branch_probes {
	uint32_t permille;
	struct u64_map known;
	uint32_t random;
	size_t worker_count;
	struct worker workers[BRANCH_LINKS];

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	uint32_t offered;
	uint32_t offer_count;
	struct branch_probe offer[OFFERS];
	uint32_t current;
	struct results results[2];
	uint32_t rounding;
	struct branch_probes_stats stats;
};

/* Addresses are below 2^47: with a process' number no two are alike. */
static uint64_t key_of(uint32_t pid, uint64_t address)
{
	return address ^ (uint64_t)pid << 47;
}

/* In [0, n). */
static uint32_t random_below(struct branch_probes *probes, uint32_t n)
{
	return (uint32_t)((uint64_t)(period_random(&probes->random) - 1) * n / 0x7ffffffe);
}

static void known_add(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to)
{
	uint64_t *known, seen, other;

	if (u64_map_count(&probes->known) > KNOWN_MAX)
		u64_map_deinit(&probes->known);
	known = u64_map_insert(&probes->known, key_of(pid, address));
	if (known == NULL)
		return;
	if (*known == 0)
		*known = (to & TO_MASK) << TO_SHIFT;
	seen = (*known & SEEN_MASK) + 1;
	other = (*known >> OTHER_SHIFT & SEEN_MASK) + (*known >> TO_SHIFT != (to & TO_MASK));
	if (seen <= SEEN_MASK)
		*known = (*known >> TO_SHIFT) << TO_SHIFT | other << OTHER_SHIFT | seen;
}

/*
 * A branch that was seen n times gives way to others as 1 / n^2: so what is spent on each
 * grows as the root of the time around it, which makes the error of the whole least.
 */
static bool is_worth_it(struct branch_probes *probes, uint32_t pid, uint64_t address)
{
	const uint64_t *known = u64_map_find(&probes->known, key_of(pid, address));
	uint64_t turns = 1;

	if (known != NULL)
		turns += (*known & SEEN_MASK) / TURN_WINDOWS;
	if (turns > 1 && (*known >> OTHER_SHIFT & SEEN_MASK) == 0)
		turns *= ONE_WAY;
	return turns <= TURNS_MAX && random_below(probes, (uint32_t)(turns * turns)) == 0;
}

static bool is_among(const struct branch_probe *some, size_t count, uint32_t pid, uint64_t address)
{
	for (size_t i = 0; i < count; i++) {
		if (some[i].pid == pid && some[i].address == address)
			return true;
	}
	return false;
}

/* Twice at one place would tell nothing new; and one probe hides what the other wants to see. */
static bool is_at_hand(const struct branch_probes *probes, uint32_t pid, uint64_t address)
{
	for (size_t i = 0; i < probes->worker_count; i++) {
		if (is_among(probes->workers[i].some, probes->workers[i].count, pid, address))
			return true;
	}
	return is_among(probes->offer, probes->offer_count, pid, address);
}

static void offer_put(struct branch_probes *probes, uint32_t pid, uint64_t address)
{
	uint32_t place = probes->offered;

	if (is_at_hand(probes, pid, address))
		return;
	probes->offered++;
	if (place >= OFFERS)
		place = random_below(probes, probes->offered);
	if (place >= OFFERS)
		return;
	if (probes->offer_count < OFFERS)
		place = probes->offer_count++;
	probes->offer[place] = (struct branch_probe){.pid = pid, .address = address};
}

void branch_probes_offer(struct branch_probes *probes, uint32_t pid, uint64_t address)
{
	if (address >> 47 != 0 || !is_worth_it(probes, pid, address))
		return;
	pthread_mutex_lock(&probes->lock);
	offer_put(probes, pid, address);
	pthread_mutex_unlock(&probes->lock);
}

void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to)
{
	if (random_below(probes, SNAPSHOTS_A_WINDOW) == 0)
		known_add(probes, pid, address, to);
}

/* Ends early if all is to end. */
static void wait_ns(struct branch_probes *probes, uint64_t ns)
{
	uint64_t until_ns = clock_monotonic_ns() + ns;
	struct timespec time = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				.tv_nsec = (long)(until_ns % NS_PER_SECOND)};

	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && clock_monotonic_ns() < until_ns)
		pthread_cond_timedwait(&probes->changed, &probes->lock, &time);
	pthread_mutex_unlock(&probes->lock);
}

/* The latest, with others of its process: which ones there are is chance. */
static void offers_take_locked(struct branch_probes *probes, struct worker *worker)
{
	uint32_t left = 0;

	for (uint32_t i = probes->offer_count; i-- > 0;) {
		if (worker->count < BRANCH_WINDOWS &&
		    (worker->count == 0 || probes->offer[i].pid == worker->some[0].pid)) {
			worker->some[worker->count++] = probes->offer[i];
			probes->offer[i].pid = 0;
		}
	}
	for (uint32_t i = 0; i < probes->offer_count; i++) {
		if (probes->offer[i].pid != 0)
			probes->offer[left++] = probes->offer[i];
	}
	probes->offer_count = left;
	probes->offered = left;
}

/* Instead of what it had. Return: false: stop. */
static bool offers_take(struct branch_probes *probes, struct worker *worker)
{
	pthread_mutex_lock(&probes->lock);
	worker->count = 0;
	while (!probes->stop && probes->offer_count == 0)
		pthread_cond_wait(&probes->changed, &probes->lock);
	if (!probes->stop)
		offers_take_locked(probes, worker);
	pthread_mutex_unlock(&probes->lock);
	return worker->count > 0;
}

static void result_put(struct branch_probes *probes, struct branch_probe_result result)
{
	struct results *results = &probes->results[probes->current];

	if (result.count > 0 && results->count < RESULTS)
		results->item[results->count++] = result;
}

static uint64_t count_of(const struct branch_window *window, int way)
{
	return __atomic_load_n(&window->counts[way], __ATOMIC_RELAXED);
}

static uint64_t executions_of(const struct branch_window *window)
{
	return count_of(window, 0) + count_of(window, 1);
}

/* What is executed most often is what the others are compared with: it has the least chance. */
static void put_beside(struct branch_probes *probes, const struct branch_probe *some,
		       const struct branch_window *windows, size_t count, uint64_t time_ns)
{
	struct branch_probe_result result = {
		.pid = some[0].pid, .event = SOURCE_EVENT_BESIDE, .time_ns = time_ns};
	size_t most = 0;

	for (size_t i = 1; i < count; i++) {
		if (executions_of(&windows[i]) > executions_of(&windows[most]))
			most = i;
	}
	for (size_t i = 0; i < count; i++) {
		if (i == most || executions_of(&windows[i]) == 0)
			continue;
		result.from = some[most].address;
		result.to = some[i].address;
		result.count = executions_of(&windows[most]);
		result_put(probes, result);
		result.from = some[i].address;
		result.to = some[most].address;
		result.count = executions_of(&windows[i]);
		result_put(probes, result);
	}
}

/*
 * How often it went either way, of WINDOW_HITS executions at most. How many there are in a
 * window depends on what else is probed rather than on how often they are without probes;
 * but windows are opened where samples lead to the branch, so each counts as much as another.
 */
static void take_ways(struct branch_probes *probes, const struct branch_window *window,
		      uint64_t counts[2])
{
	uint64_t all, share;

	counts[1] = count_of(window, 1);
	all = count_of(window, 0) + counts[1];
	if (all > WINDOW_HITS) {
		share = counts[1] * WINDOW_HITS;
		counts[1] = share / all;
		/* Rounded by chance, so that no way is lost that is seldom taken. */
		counts[1] += period_random(&probes->rounding) % all < share % all;
		all = WINDOW_HITS;
	}
	counts[0] = all - counts[1];
}

/* The ways it went, and what a window adds to the sums that tell how alike windows are. */
static void put_ways(struct branch_probes *probes, const struct branch_probe *probe,
		     const struct branch_window *window, uint64_t time_ns)
{
	struct branch_probe_result result = {
		.pid = probe->pid, .from = probe->address, .time_ns = time_ns};
	uint64_t counts[2];

	result.event = SOURCE_EVENT_BESIDE;
	result.to = probe->address;
	result.count = executions_of(window) > 0;
	result_put(probes, result);
	if (probe->ways[0] == 0)
		return;
	take_ways(probes, window, counts);
	result.event = SOURCE_EVENT_MOMENT;
	result.count = counts[0] * counts[1];
	result_put(probes, result);
	for (int way = 0; way < 2; way++) {
		result.to = probe->ways[way];
		result.event = SOURCE_EVENT_PROBE;
		result.count = counts[way];
		result_put(probes, result);
		result.event = SOURCE_EVENT_MOMENT;
		result.count *= result.count;
		result_put(probes, result);
	}
}

/* Return: how long they were there. */
static uint64_t window_open(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	const struct branch_window *windows = &worker->link.windows[worker->link.first];
	struct branch_probe some[BRANCH_WINDOWS];
	uint64_t start_ns, window_ns = 0;
	size_t opened = worker->count;
	int fd;

	memcpy(some, worker->some, opened * sizeof(some[0]));
	fd = branch_probe_open(some, &opened, &worker->link);

	start_ns = clock_monotonic_ns();
	if (fd >= 0) {
		wait_ns(probes, WINDOW_NS);
		window_ns = clock_monotonic_ns() - start_ns;
		close(fd);
	}
	pthread_mutex_lock(&probes->lock);
	probes->stats.opened += fd >= 0 ? opened : 0;
	probes->stats.refused += worker->count - (fd >= 0 ? opened : 0);
	probes->stats.window_ns += window_ns;
	for (size_t i = 0; fd >= 0 && i < opened; i++)
		put_ways(probes, &some[i], &windows[i], start_ns);
	if (fd >= 0)
		put_beside(probes, some, windows, opened, start_ns);
	pthread_mutex_unlock(&probes->lock);
	return window_ns;
}

/* Each thread has an equal part of what there is for all. */
static void *run(void *context)
{
	struct worker *worker = context;
	struct branch_probes *probes = worker->probes;

	while (offers_take(probes, worker)) {
		uint64_t start_ns = clock_monotonic_ns();
		uint64_t cycle_ns = window_open(worker) * 1000 / probes->permille * BRANCH_LINKS;
		uint64_t taken_ns = clock_monotonic_ns() - start_ns;

		if (cycle_ns < PAUSE_NS)
			cycle_ns = PAUSE_NS;
		if (cycle_ns > taken_ns)
			wait_ns(probes, cycle_ns - taken_ns);
	}
	return NULL;
}

/* Signals are the caller's. */
static int threads_start(struct branch_probes *probes, int program_fd,
			 struct branch_window *windows)
{
	sigset_t all, before;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; i < BRANCH_LINKS && rc == 0; i++) {
		struct worker *worker = &probes->workers[i];

		worker->probes = probes;
		worker->link = (struct branch_probe_link){program_fd, windows, i * BRANCH_WINDOWS};
		rc = pthread_create(&worker->thread, NULL, run, worker);
		probes->worker_count += rc == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

static void locks_init(struct branch_probes *probes)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&probes->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&probes->lock, NULL);
}

int branch_probes_open(struct branch_probes **ret, int program_fd, struct branch_window *windows,
		       uint32_t permille, struct error *err)
{
	struct branch_probes *probes = calloc(1, sizeof(*probes));
	int rc;

	if (probes == NULL)
		return error_set(err, ENOMEM, "out of memory");
	probes->permille = permille;
	probes->random = 1 + (uint32_t)(clock_monotonic_ns() % 0x7ffffffd);
	probes->rounding = probes->random;
	locks_init(probes);
	rc = threads_start(probes, program_fd, windows);
	if (rc < 0) {
		branch_probes_close(probes);
		return error_set(err, -rc, "cannot start a thread");
	}
	*ret = probes;
	return 0;
}

void branch_probes_close(struct branch_probes *probes)
{
	if (probes == NULL)
		return;
	pthread_mutex_lock(&probes->lock);
	probes->stop = true;
	pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	for (size_t i = 0; i < probes->worker_count; i++)
		pthread_join(probes->workers[i].thread, NULL);
	pthread_cond_destroy(&probes->changed);
	pthread_mutex_destroy(&probes->lock);
	u64_map_deinit(&probes->known);
	free(probes);
}

void branch_probes_drain(struct branch_probes *probes, branch_probes_fn visit, void *context)
{
	struct results *results;

	pthread_mutex_lock(&probes->lock);
	results = &probes->results[probes->current];
	probes->current = !probes->current;
	probes->results[probes->current].count = 0;
	if (probes->offer_count > 0)
		pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	for (uint32_t i = 0; i < results->count; i++) {
		const struct branch_probe_result *result = &results->item[i];

		if (result->event == SOURCE_EVENT_PROBE)
			known_add(probes, result->pid, result->from, result->to);
		visit(context, result);
	}
}

void branch_probes_stats(struct branch_probes *probes, struct branch_probes_stats *stats)
{
	pthread_mutex_lock(&probes->lock);
	*stats = probes->stats;
	pthread_mutex_unlock(&probes->lock);
}
