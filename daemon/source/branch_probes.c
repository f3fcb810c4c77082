// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_probes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/branch_offers.h"
#include "lib/clock.h"
#include "lib/error.h"

/*
 * How much time probes may take in a window. Of 0.5, 3 and 10 ms, with the same part of time
 * for all (so more or fewer of them), this served best on programs of
 * tests/accuracy/x86_programs.txt.
 */
#define TAKEN_MAX_NS (3 * NS_PER_MS)
/* What hardly runs takes no more, or it is not of that kind. */
#define LOOK_TAKEN_MAX_NS (3 * NS_PER_MS / 4)
/* It is looked at after each step; a window has at most so many. */
#define STEP_NS NS_PER_MS
#define STEPS 24
/* Windows of rounds are longer, and end after so many. */
#define ROUND_TAKEN_MAX_NS (50 * NS_PER_MS)
#define ROUND_STEPS 150
#define ROUNDS 3
#define ROUND_TRIES 100
/*
 * They take so many times what all others do, which hardly tell more in a twentieth of the time
 * than in a fiftieth; in the beginning no more than probes may take in half a second.
 */
#define ROUND_SHARE 3
#define ROUND_AHEAD_NS (NS_PER_SECOND / 2)
#define ROUND_SAVED_MAX_NS (200 * (int64_t)NS_PER_MS)
/*
 * What an execution takes: of a conditional branch at most, until windows have shown how
 * little it can be; of others.
 */
#define HIT_NS 1500
#define HIT_DEAR_NS 15000
/* So many executions show it. */
#define HITS_SHOWN 1000
#define SNAPSHOTS_A_WINDOW 16
/*
 * From there on some are executed in a step, if the program is at them at all; if none is, a
 * window that waited for them would leave the program there for the next one.
 */
#define LEVEL_AT_ONCE 14

/* struct worker - a thread, with a link of its own; @group: what it is at, changed under the lock
 */
struct worker {
	struct branch_probes *probes;
	struct branch_probe_link link;
	struct branch_group *group;
	pthread_t thread;
};

/*
 * @turn:    who opens a window has it, until that is over: what slows the program down in
 *           one place makes it more likely to be there
 * @next_ns: with the turn, as are @hit_ns, @round_ns: when the next window may be, CLOCK_MONOTONIC
 * @hit_ns:  what an execution takes
 * @round_ns: what windows of rounds have taken beyond their share
 * @lock:    of all from here on
 * @waiting: who has the turn has nothing to probe
 * @current: which of @results is filled; the other one is the caller's
 */
struct branch_probes {
	uint32_t permille;
	size_t worker_count;
	struct worker workers[BRANCH_LINKS];
	pthread_mutex_t turn;
	uint64_t next_ns;
	uint64_t hit_ns;
	int64_t round_ns;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
	bool waiting;
	struct branch_offers offers;
	uint32_t current;
	struct probe_results results[2];
	struct branch_probes_stats stats;
};

void branch_probes_offer(struct branch_probes *probes, uint32_t pid, uint64_t address,
			 const struct file_place *place)
{
	const struct branch_probe probe = {.pid = pid, .address = address, .place = *place};

	if (address >> 47 != 0)
		return;
	pthread_mutex_lock(&probes->lock);
	branch_offers_sample(&probes->offers, &probe);
	pthread_mutex_unlock(&probes->lock);
}

void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to)
{
	pthread_mutex_lock(&probes->lock);
	if (branch_known_random(&probes->offers.known, SNAPSHOTS_A_WINDOW) == 0)
		branch_known_seen(&probes->offers.known, pid, address, to);
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

/* What a window of rounds may take now. A short program is to be left as it is, but for little. */
static uint64_t round_time_ns(const struct branch_probes *probes)
{
	int64_t ns = (int64_t)(ROUND_AHEAD_NS / 1000 * probes->permille) - probes->round_ns;

	if (ns <= 0)
		return 0;
	return (uint64_t)ns < ROUND_TAKEN_MAX_NS ? (uint64_t)ns : ROUND_TAKEN_MAX_NS;
}

/* Return: false: stop. */
static bool offers_take(struct branch_probes *probes, struct worker *worker)
{
	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && probes->offers.count == 0) {
		probes->waiting = true;
		pthread_cond_wait(&probes->changed, &probes->lock);
	}
	probes->waiting = false;
	if (!probes->stop)
		branch_offers_take(&probes->offers, worker->group,
				   (double)round_time_ns(probes) / ROUNDS / (double)probes->hit_ns);
	while (!probes->stop && branch_offers_is_held(&probes->offers, worker->group))
		pthread_cond_wait(&probes->changed, &probes->lock);
	pthread_mutex_unlock(&probes->lock);
	return worker->group->count > 0;
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
	const struct branch_window *windows = branch_probe_windows(&worker->link);

	for (size_t i = 0; i < worker->group->count; i++) {
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

/* Return: whether it is whole: the mark may be executed all the time. */
static bool round_take(struct branch_round *ret, const struct worker *worker)
{
	const volatile struct branch_round *round =
		&worker->link.program.rounds[worker->link.number];
	int tries = 0;

	do {
		ret->done = round->done;
		for (size_t i = 0; i < worker->group->count; i++) {
			ret->first[i] = round->first[i];
			ret->last[i] = round->last[i];
			ret->squares[i] = round->squares[i];
		}
		ret->begun = round->begun;
	} while (ret->begun != ret->done && ++tries < ROUND_TRIES);
	return ret->begun == ret->done;
}

static bool window_is_over(const struct worker *worker, struct branch_round *round, uint64_t taken)
{
	if (branch_group_has_mark(worker->group))
		return taken >= round_time_ns(worker->probes) ||
		       (round_take(round, worker) && round->done > ROUNDS);
	if (worker->group->is_look)
		return taken >= LOOK_TAKEN_MAX_NS;
	return taken >= TAKEN_MAX_NS || (taken == 0 && worker->group->level >= LEVEL_AT_ONCE);
}

/* @window: out: @start_ns and @ns; @counts: out: its windows; @round: likewise */
static void window_wait(struct worker *worker, struct probe_window *window,
			struct branch_window *counts, struct branch_round *round)
{
	struct branch_probes *probes = worker->probes;
	struct branch_window before[BRANCH_WINDOWS];
	unsigned int steps = branch_group_has_mark(worker->group) ? ROUND_STEPS : STEPS;
	uint64_t taken = 0;

	window->start_ns = clock_monotonic_ns();
	counts_take(before, worker);
	for (unsigned int i = 1; i <= steps; i++) {
		wait_until(probes, window->start_ns + i * STEP_NS);
		counts_take(counts, worker);
		window->ns = clock_monotonic_ns() - window->start_ns;
		counts_subtract(counts, before, worker->group->count);
		taken = taken_ns(counts, worker->group->count, probes->hit_ns);
		if (window_is_over(worker, round, taken))
			break;
	}
	if (branch_group_has_mark(worker->group) && round_take(round, worker))
		window->round = round;
}

/* Where there were no marks for a while, what was saved is not all made up for. */
static void balance(struct branch_probes *probes, bool has_mark, int64_t taken_ns)
{
	probes->round_ns += has_mark ? taken_ns : -ROUND_SHARE * taken_ns;
	if (probes->round_ns < -ROUND_SAVED_MAX_NS)
		probes->round_ns = -ROUND_SAVED_MAX_NS;
}

static void window_tell(struct worker *worker, struct probe_window *window)
{
	struct branch_probes *probes = worker->probes;
	uint64_t ns;

	window->some = worker->group->some;
	window->count = worker->group->count;
	window->is_look = worker->group->is_look;
	learn(probes, window);
	ns = taken_ns(window->windows, window->count, probes->hit_ns);
	window->taken_ns = ns < window->ns ? ns : window->ns;
	if (probes->next_ns < window->start_ns)
		probes->next_ns = window->start_ns;
	probes->next_ns += window->taken_ns * 1000 / probes->permille;
	balance(probes, branch_group_has_mark(worker->group), (int64_t)window->taken_ns);
	pthread_mutex_lock(&probes->lock);
	probes->stats.opened += window->count;
	probes->stats.taken_ns += window->taken_ns;
	probe_results_add(&probes->results[probes->current], &probes->offers.known, window);
	branch_offers_learn(&probes->offers, window);
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
	size_t taken_count = worker->group->count, count = taken_count;
	int fd;

	memcpy(taken, worker->group->some, sizeof(taken));
	memcpy(opened, taken, sizeof(opened));
	fd = branch_probe_open(opened, &count, &worker->link);
	pthread_mutex_lock(&probes->lock);
	worker->group->count = fd >= 0 ? count : 0;
	memcpy(worker->group->some, opened, sizeof(opened));
	if (worker->group->count == 0 || opened[0].address != taken[0].address) {
		probes->stats.refused++;
		branch_offers_refuse(&probes->offers, &taken[0]);
	}
	branch_offers_return(&probes->offers, taken + 1, taken_count - 1);
	pthread_mutex_unlock(&probes->lock);
	return fd;
}

/* Whether there is something to probe, while there is time, that takes hardly any. */
static bool has_cheap(struct branch_probes *probes)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool cheap;

	if (now_ns >= probes->next_ns)
		return false;
	pthread_mutex_lock(&probes->lock);
	cheap = branch_offers_prefer_seldom(&probes->offers, now_ns);
	pthread_mutex_unlock(&probes->lock);
	return cheap;
}

/*
 * Its turn is over when the window is. Then the program goes on as before, though it takes
 * longer until all is removed; who is next is not in its way. Return: false: all is to end.
 */
static bool run_once(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	struct branch_window counts[BRANCH_WINDOWS] = {0};
	struct probe_window window = {.windows = counts};
	struct branch_round round;
	int fd = -1;
	bool more;

	pthread_mutex_lock(&probes->turn);
	if (!has_cheap(probes))
		wait_until(probes, probes->next_ns);
	more = offers_take(probes, worker);
	if (more)
		fd = window_open(worker);
	if (fd >= 0) {
		window_wait(worker, &window, counts, &round);
		window_tell(worker, &window);
	}
	pthread_mutex_unlock(&probes->turn);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&probes->lock);
	worker->group->count = 0;
	pthread_cond_broadcast(&probes->changed);
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
static int threads_start(struct branch_probes *probes, const struct branch_probe_program *program)
{
	sigset_t all, before;
	int rc = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (size_t i = 0; i < BRANCH_LINKS && rc == 0; i++) {
		struct worker *worker = &probes->workers[i];

		worker->probes = probes;
		worker->link = (struct branch_probe_link){.program = *program, .number = i};
		worker->group = &probes->offers.groups[i];
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

int branch_probes_open(struct branch_probes **ret, const struct branch_probe_program *program,
		       uint32_t permille, struct error *err)
{
	struct branch_probes *probes = calloc(1, sizeof(*probes));
	int rc;

	if (probes == NULL)
		return error_set(err, ENOMEM, "out of memory");
	probes->permille = permille;
	probes->offers.known.random = 1 + (uint32_t)(clock_monotonic_ns() % 0x7ffffffd);
	probes->offers.known.eagerness = 1;
	probes->hit_ns = HIT_NS;
	locks_init(probes);
	rc = threads_start(probes, program);
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
	branch_offers_deinit(&probes->offers);
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
	branch_known_idle(&probes->offers.known, probes->waiting);
	if (probes->offers.count > 0)
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
