// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_probes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"

/*
 * How much time probes may take in a window. Of 0.5, 3 and 10 ms, with the same part of time
 * for all (so more or fewer of them), this served best on programs of
 * tests/accuracy/x86_programs.txt.
 */
#define TAKEN_MAX_NS (3 * NS_PER_MS)
/* It is looked at after each step; a window has at most so many. */
#define STEP_NS NS_PER_MS
#define STEPS 24
/*
 * What an execution takes: of a conditional branch at most, until windows have shown how
 * little it can be; of others.
 */
#define HIT_NS 1500
#define HIT_DEAR_NS 15000
/* So many executions show it. */
#define HITS_SHOWN 1000
#define SNAPSHOTS_A_WINDOW 16
/* Branches are probed together that differ by a factor of up to 2 to the power of this. */
#define LEVELS_TOGETHER 3
/*
 * From there on some are executed in a step, if the program is at them at all; if none is, a
 * window that waited for them would leave the program there for the next one.
 */
#define LEVEL_AT_ONCE 14
#define OFFERS 64
/* A way that is gone by one execution in so many, at most: out of a loop, it may be. */
#define SELDOM 8

/* struct offer - a branch to probe; @level: how frequent it is (branch_known_level()) */
struct offer {
	struct branch_probe probe;
	int level;
};

/*
 * struct worker - a thread, with a link of its own
 * @some: what it is at, of which there are @count; changed under the lock
 * @level: of the first
 */
struct worker {
	struct branch_probes *probes;
	struct branch_probe_link link;
	pthread_t thread;
	struct branch_probe some[BRANCH_WINDOWS];
	size_t count;
	int level;
};

/*
 * @turn:    who opens a window has it, until that is over: what slows the program down in
 *           one place makes it more likely to be there
 * @next_ns: with the turn, as is @hit_ns: when the next window may be, CLOCK_MONOTONIC
 * @hit_ns:  what an execution takes
 * @lock:    of all from here on
 * @waiting: who has the turn has nothing to probe
 * @offered: branches that were worth it since the last were taken
 * @offer:   of them as many as there is room for, each as likely
 * @current: which of @results is filled; the other one is the caller's
 */
struct branch_probes {
	uint32_t permille;
	size_t worker_count;
	struct worker workers[BRANCH_LINKS];
	pthread_mutex_t turn;
	uint64_t next_ns;
	uint64_t hit_ns;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	bool waiting;
	struct branch_known known;
	uint32_t offered;
	uint32_t offer_count;
	struct offer offer[OFFERS];
	uint32_t current;
	struct probe_results results[2];
	struct branch_probes_stats stats;
};

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
	for (uint32_t i = 0; i < probes->offer_count; i++) {
		if (is_among(&probes->offer[i].probe, 1, pid, address))
			return true;
	}
	return false;
}

static void offer_put(struct branch_probes *probes, const struct branch_probe *probe)
{
	uint32_t place = probes->offered;

	if (is_at_hand(probes, probe->pid, probe->address))
		return;
	probes->offered++;
	if (place >= OFFERS)
		place = branch_known_random(&probes->known, probes->offered);
	if (place >= OFFERS)
		return;
	if (probes->offer_count < OFFERS)
		place = probes->offer_count++;
	probes->offer[place] = (struct offer){
		.probe = *probe,
		.level = branch_known_level(&probes->known, probe->pid, probe->address),
	};
}

void branch_probes_offer(struct branch_probes *probes, uint32_t pid, uint64_t address,
			 const struct file_place *place)
{
	const struct branch_probe probe = {.pid = pid, .address = address, .place = *place};

	if (address >> 47 != 0)
		return;
	pthread_mutex_lock(&probes->lock);
	if (branch_known_is_worth(&probes->known, pid, address))
		offer_put(probes, &probe);
	pthread_mutex_unlock(&probes->lock);
}

void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to)
{
	pthread_mutex_lock(&probes->lock);
	if (branch_known_random(&probes->known, SNAPSHOTS_A_WINDOW) == 0)
		branch_known_seen(&probes->known, pid, address, to);
	pthread_mutex_unlock(&probes->lock);
}

/* Ends early if all is to end. */
static void wait_until(struct branch_probes *probes, uint64_t until_ns)
{
	struct timespec time = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
				.tv_nsec = (long)(until_ns % NS_PER_SECOND)};

	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && clock_monotonic_ns() < until_ns)
		pthread_cond_timedwait(&probes->changed, &probes->lock, &time);
	pthread_mutex_unlock(&probes->lock);
}

/* One of them, with others of its process that are about as frequent. */
static void offers_take_locked(struct branch_probes *probes, struct worker *worker)
{
	uint32_t place = branch_known_random(&probes->known, probes->offer_count), left = 0;
	const struct offer seed = probes->offer[place];

	probes->offer[place] = probes->offer[0];
	worker->some[worker->count++] = seed.probe;
	worker->level = seed.level;
	for (uint32_t i = 1; i < probes->offer_count; i++) {
		const struct offer *offer = &probes->offer[i];

		if (worker->count < BRANCH_WINDOWS && offer->probe.pid == seed.probe.pid &&
		    abs(offer->level - seed.level) <= LEVELS_TOGETHER)
			worker->some[worker->count++] = offer->probe;
		else
			probes->offer[left++] = *offer;
	}
	probes->offer_count = left;
	probes->offered = left;
}

/* Return: false: stop. */
static bool offers_take(struct branch_probes *probes, struct worker *worker)
{
	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && probes->offer_count == 0) {
		probes->waiting = true;
		pthread_cond_wait(&probes->changed, &probes->lock);
	}
	probes->waiting = false;
	if (!probes->stop)
		offers_take_locked(probes, worker);
	pthread_mutex_unlock(&probes->lock);
	return worker->count > 0;
}

/* What executions have taken. */
static uint64_t taken_ns(const struct branch_window *windows, size_t count, uint64_t hit_ns)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += branch_window_executions(&windows[i]) *
		      (windows[i].condition < WINDOW_SNAPSHOTS ? hit_ns : HIT_DEAR_NS);
	return ns;
}

/* A window that is full of executions tells what they take, and no more. */
static void learn(struct branch_probes *probes, const struct probe_window *window)
{
	uint64_t executions = taken_ns(window->windows, window->count, 1);

	if (window->windows[0].condition >= WINDOW_SNAPSHOTS || executions < HITS_SHOWN)
		return;
	if (window->ns / executions < probes->hit_ns)
		probes->hit_ns = window->ns / executions;
}

static void counts_take(struct branch_window *counts, const struct worker *worker)
{
	const struct branch_window *windows = &worker->link.windows[worker->link.first];

	for (size_t i = 0; i < worker->count; i++) {
		counts[i] = windows[i];
		for (int way = 0; way < 2; way++)
			counts[i].counts[way] =
				__atomic_load_n(&windows[i].counts[way], __ATOMIC_RELAXED);
	}
}

/* Those that were executed while the others were put in place don't count. */
static void counts_subtract(struct branch_window *counts, const struct branch_window *before,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		counts[i].counts[0] -= before[i].counts[0];
		counts[i].counts[1] -= before[i].counts[1];
	}
}

/* @window: out: @start_ns and @ns; @counts: out: its windows */
static void window_wait(struct worker *worker, struct probe_window *window,
			struct branch_window *counts)
{
	struct branch_probes *probes = worker->probes;
	struct branch_window before[BRANCH_WINDOWS];
	uint64_t taken = 0;

	window->start_ns = clock_monotonic_ns();
	counts_take(before, worker);
	for (unsigned int i = 1; i <= STEPS && taken < TAKEN_MAX_NS; i++) {
		wait_until(probes, window->start_ns + i * STEP_NS);
		counts_take(counts, worker);
		window->ns = clock_monotonic_ns() - window->start_ns;
		counts_subtract(counts, before, worker->count);
		taken = taken_ns(counts, worker->count, probes->hit_ns);
		if (taken == 0 && worker->level >= LEVEL_AT_ONCE)
			break;
	}
}

/*
 * What is behind a loop's end is seldom executed: hardly any sample leads there. But it tells how
 * often the loop is come to.
 */
static void offer_beyond_locked(struct branch_probes *probes, const struct branch_probe *probe,
				const struct branch_window *window)
{
	for (int way = 0; way < 2; way++) {
		struct branch_probe next = {.pid = probe->pid, .address = probe->beyond[way]};

		if (next.address == 0 || window->counts[way] == 0 ||
		    window->counts[way] * SELDOM > window->counts[!way])
			continue;
		next.place = file_place_behind(probe->place, next.address - probe->address);
		if (branch_known_is_worth(&probes->known, next.pid, next.address))
			offer_put(probes, &next);
	}
}

static void window_tell(struct worker *worker, struct probe_window *window)
{
	struct branch_probes *probes = worker->probes;
	uint64_t ns;

	window->some = worker->some;
	window->count = worker->count;
	learn(probes, window);
	ns = taken_ns(window->windows, window->count, probes->hit_ns);
	window->taken_ns = ns < window->ns ? ns : window->ns;
	probes->next_ns = window->start_ns + window->taken_ns * 1000 / probes->permille;
	pthread_mutex_lock(&probes->lock);
	probes->stats.opened += window->count;
	probes->stats.taken_ns += window->taken_ns;
	probe_results_add(&probes->results[probes->current], &probes->known, window);
	for (size_t i = 0; i < window->count; i++)
		offer_beyond_locked(probes, &window->some[i], &window->windows[i]);
	pthread_mutex_unlock(&probes->lock);
}

/*
 * What is opened may be less than was taken: others than the first are in another file, say.
 * They are offered again. Return: of the link, to be closed; -1: none.
 */
static int window_open(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	struct branch_probe taken[BRANCH_WINDOWS], opened[BRANCH_WINDOWS];
	size_t taken_count = worker->count, count = taken_count;
	int fd;

	memcpy(taken, worker->some, sizeof(taken));
	memcpy(opened, taken, sizeof(opened));
	fd = branch_probe_open(opened, &count, &worker->link);
	pthread_mutex_lock(&probes->lock);
	worker->count = fd >= 0 ? count : 0;
	memcpy(worker->some, opened, sizeof(opened));
	probes->stats.refused += worker->count == 0 || opened[0].address != taken[0].address;
	for (size_t i = 1; i < taken_count; i++)
		offer_put(probes, &taken[i]);
	pthread_mutex_unlock(&probes->lock);
	return fd;
}

/*
 * Its turn is over when the window is. Then the program goes on as before, though it takes
 * longer until all is removed; who is next is not in its way. Return: false: all is to end.
 */
static bool run_once(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	struct branch_window counts[BRANCH_WINDOWS];
	struct probe_window window = {.windows = counts};
	int fd = -1;
	bool more;

	pthread_mutex_lock(&probes->turn);
	wait_until(probes, probes->next_ns);
	more = offers_take(probes, worker);
	if (more)
		fd = window_open(worker);
	if (fd >= 0) {
		window_wait(worker, &window, counts);
		window_tell(worker, &window);
	}
	pthread_mutex_unlock(&probes->turn);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&probes->lock);
	worker->count = 0;
	pthread_mutex_unlock(&probes->lock);
	return more;
}

static void *run(void *context)
{
	while (run_once(context))
		;
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
		worker->link = (struct branch_probe_link){
			.program_fd = program_fd,
			.windows = windows,
			.first = i * BRANCH_WINDOWS,
		};
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
	pthread_mutex_init(&probes->turn, NULL);
}

int branch_probes_open(struct branch_probes **ret, int program_fd, struct branch_window *windows,
		       uint32_t permille, struct error *err)
{
	struct branch_probes *probes = calloc(1, sizeof(*probes));
	int rc;

	if (probes == NULL)
		return error_set(err, ENOMEM, "out of memory");
	probes->permille = permille;
	probes->known.random = 1 + (uint32_t)(clock_monotonic_ns() % 0x7ffffffd);
	probes->known.eagerness = 1;
	probes->hit_ns = HIT_NS;
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
	pthread_mutex_destroy(&probes->turn);
	branch_known_deinit(&probes->known);
	free(probes);
}

const struct probe_results *branch_probes_take(struct branch_probes *probes)
{
	const struct probe_results *results;

	pthread_mutex_lock(&probes->lock);
	results = &probes->results[probes->current];
	probes->current = !probes->current;
	probes->results[probes->current].count = 0;
	probes->stats.lost += results->lost;
	probes->results[probes->current].lost = 0;
	branch_known_idle(&probes->known, probes->waiting);
	if (probes->offer_count > 0)
		pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	return results;
}

void branch_probes_stats(struct branch_probes *probes, struct branch_probes_stats *stats)
{
	pthread_mutex_lock(&probes->lock);
	*stats = probes->stats;
	pthread_mutex_unlock(&probes->lock);
}
