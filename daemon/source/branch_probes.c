// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_probes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/source/probe_queue.h"
#include "daemon/source/probe_guarantee.h"
#include "daemon/source/probe_holder.h"
#include "daemon/source/probe_places.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Maximum cost of a measured interval with a reference branch, which may exceed that of others. */
#define ROUND_TAKEN_MAX_NS (50 * NS_PER_MS)
/*
 * Intervals with a reference branch get this multiple of the time of all others, because the others
 * gain little from a twentieth of the CPU time over a fiftieth. Initially they may take as much
 * time as probes are allowed in half a second (REFERENCE_AHEAD_NS). REFERENCE_SAVED_MAX_NS limits
 * the unused time that they can save up.
 */
#define REFERENCE_SHARE 3
#define REFERENCE_AHEAD_NS (NS_PER_SECOND / 2)
#define REFERENCE_SAVED_MAX_NS (200 * (int64_t)NS_PER_MS)
/*
 * Upper bound on the cost of one execution of a probed conditional branch; full intervals show a
 * lower one.
 */
#define HIT_NS 1500
/* Minimum number of executions in an interval that shows this cost. */
#define HITS_SHOWN 1000
#define SNAPSHOTS_A_WINDOW 16
/*
 * From this level on, a branch is executed in each step if the program is near it at all. If none
 * is executed the interval ends: if it waited for the program to get there, the next interval would
 * begin there.
 */
#define LEVEL_AT_ONCE 14
/*
 * After a holder was killed at its deadline there is no measured interval for this time. Probing
 * ends after this number of such intervals in a row.
 */
#define COOL_DOWN_NS (300 * NS_PER_MS)
#define DEADLINES_MAX 20
/*
 * A thread may still be in the trap of a breakpoint for this time after the breakpoint was removed.
 */
#define REMOVAL_NS (20 * NS_PER_MS)

/*
 * struct worker - a thread, with its own link
 * @group:   the branches of its interval; changed under the lock
 * @holder:  the process that has the link's probes; changed under the lock
 * @accounted_ns: cost of its interval, as accounted so far
 */
struct worker {
	struct branch_probes *probes;
	struct branch_probe_link link;
	struct branch_group *group;
	struct probe_holder holder;
	uint64_t accounted_ns;
	pthread_t thread;
};

/*
 * @interval_lock: the interval mutex, held by the thread that opens a measured interval, until the
 *             interval ends. An interval slows the program down at one place, which would make that
 *             place more likely in concurrent intervals
 * @next_ns:   under the interval mutex, as are @hit_ns, @reference_ns, @checked and @deadlines:
 *             earliest start of the next interval, CLOCK_MONOTONIC
 * @hit_ns:    cost of an execution
 * @reference_ns:  time of intervals with a reference branch in excess of their share
 * @checked:   the kernel was tested for removing probes in time
 * @deadlines: number of intervals in a row that ended at the holder's deadline
 * @places:    addresses of probes, for samples of their traps
 * @lock:      protects all following fields
 * @permille:  share of a CPU's time that intervals may take
 * @late_ns:   cost of probes before intervals began and after they ended, not yet in @next_ns
 * @waiting:   the thread that has the interval mutex has nothing to probe
 * @current:   index of the @results that are being filled; the caller has the other one
 */
struct branch_probes {
	size_t worker_count;
	struct worker workers[BRANCH_LINKS];
	pthread_mutex_t interval_lock;
	uint64_t next_ns;
	uint64_t hit_ns;
	int64_t reference_ns;
	bool checked;
	unsigned int deadlines;
	struct probe_places places;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t permille;
	uint64_t late_ns;
	bool stop;
	bool waiting;
	struct probe_queue queue;
	uint32_t current;
	struct probe_results results[2];
	struct branch_probes_stats stats;
};

void branch_probes_add(struct branch_probes *probes, uint32_t pid, uint64_t address,
		       const struct file_place *place)
{
	const struct branch_probe probe = {.pid = pid, .address = address, .place = *place};

	if (address >> 47 != 0)
		return;
	pthread_mutex_lock(&probes->lock);
	probe_queue_sample(&probes->queue, &probe);
	pthread_mutex_unlock(&probes->lock);
}

void branch_probes_set_share(struct branch_probes *probes, uint32_t permille)
{
	pthread_mutex_lock(&probes->lock);
	if (permille != probes->permille)
		pthread_cond_broadcast(&probes->changed);
	probes->permille = permille;
	pthread_mutex_unlock(&probes->lock);
}

static uint32_t share_of(struct branch_probes *probes)
{
	uint32_t permille;

	pthread_mutex_lock(&probes->lock);
	permille = probes->permille;
	pthread_mutex_unlock(&probes->lock);
	return permille;
}

void branch_probes_seen(struct branch_probes *probes, uint32_t pid, uint64_t address, uint64_t to)
{
	probe_places_add_target(&probes->places, pid, address, to);
	pthread_mutex_lock(&probes->lock);
	if (branch_history_random(&probes->queue.history, SNAPSHOTS_A_WINDOW) == 0)
		branch_history_seen(&probes->queue.history, pid, address, to);
	pthread_mutex_unlock(&probes->lock);
}

/* Returns early if the threads are to stop. */
static void wait_until(struct branch_probes *probes, uint64_t until_ns)
{
	const struct timespec time = clock_timespec(until_ns);

	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && clock_monotonic_ns() < until_ns)
		pthread_cond_timedwait(&probes->changed, &probes->lock, &time);
	pthread_mutex_unlock(&probes->lock);
}

/*
 * Return the time that an interval with a reference branch may take now. A short program should be
 * affected only little.
 */
static uint64_t reference_time_ns(const struct branch_probes *probes, uint32_t permille)
{
	int64_t ns = (int64_t)(REFERENCE_AHEAD_NS / 1000 * permille) - probes->reference_ns;

	if (ns <= 0)
		return 0;
	return (uint64_t)ns < ROUND_TAKEN_MAX_NS ? (uint64_t)ns : ROUND_TAKEN_MAX_NS;
}

/* Return: false if the thread is to stop. */
static bool group_take(struct branch_probes *probes, struct worker *worker)
{
	pthread_mutex_lock(&probes->lock);
	while (!probes->stop && (probes->queue.count == 0 || probes->permille == 0)) {
		probes->waiting = true;
		pthread_cond_wait(&probes->changed, &probes->lock);
	}
	probes->waiting = false;
	if (!probes->stop)
		probe_queue_take(&probes->queue, worker->group,
				 (double)reference_time_ns(probes, probes->permille) /
					 PROBE_ITERATIONS / (double)probes->hit_ns);
	while (!probes->stop && probe_queue_is_held(&probes->queue, worker->group))
		pthread_cond_wait(&probes->changed, &probes->lock);
	pthread_mutex_unlock(&probes->lock);
	return worker->group->count > 0;
}

/* If an interval is full of executions, its length shows an upper bound on the cost of one. */
static void learn(struct branch_probes *probes, const struct probe_window *window)
{
	uint64_t executions = probe_taken_ns(window->windows, window->count, 1);

	if (window->windows[0].condition >= WINDOW_SNAPSHOTS || executions < HITS_SHOWN)
		return;
	if (window->ns / executions < probes->hit_ns)
		probes->hit_ns = window->ns / executions;
}

/* Limit the time saved up while there were no reference branches. */
static void balance(struct branch_probes *probes, bool has_reference, int64_t taken_ns)
{
	probes->reference_ns += has_reference ? taken_ns : -REFERENCE_SHARE * taken_ns;
	if (probes->reference_ns < -REFERENCE_SAVED_MAX_NS)
		probes->reference_ns = -REFERENCE_SAVED_MAX_NS;
}

static void window_account(struct worker *worker, struct probe_window *window)
{
	struct branch_probes *probes = worker->probes;
	uint64_t ns;

	window->probes = worker->group->probes;
	window->count = worker->group->count;
	window->may_be_rare = worker->group->may_be_rare;
	learn(probes, window);
	ns = probe_taken_ns(window->windows, window->count, probes->hit_ns);
	window->taken_ns = ns < window->ns ? ns : window->ns;
	if (probes->next_ns < window->start_ns)
		probes->next_ns = window->start_ns;
	balance(probes, branch_group_has_reference(worker->group), (int64_t)window->taken_ns);
	pthread_mutex_lock(&probes->lock);
	probes->next_ns += window->taken_ns * 1000 / (probes->permille > 0 ? probes->permille : 1);
	probes->stats.opened += window->count;
	probes->stats.taken_ns += window->taken_ns;
	worker->accounted_ns = window->taken_ns;
	probe_results_add(&probes->results[probes->current], &probes->queue.history, window);
	probe_queue_learn(&probes->queue, window);
	pthread_mutex_unlock(&probes->lock);
}

/* Call with the lock held. */
static void candidate_refuse(struct branch_probes *probes, const struct branch_probe *probe)
{
	probes->stats.refused++;
	probe_queue_refuse(&probes->queue, probe);
}

/*
 * Find the branches of the group that can be probed: others than the first may be in another file,
 * for example. These are queued again. Return: 0; -errno if there is none.
 */
static int window_find(struct worker *worker, struct branch_probe_sites *sites)
{
	struct branch_probes *probes = worker->probes;
	struct branch_probe taken[BRANCH_WINDOWS], found[BRANCH_WINDOWS];
	size_t taken_count = worker->group->count, count = taken_count;
	int rc;

	memcpy(taken, worker->group->probes, sizeof(taken));
	memcpy(found, taken, sizeof(found));
	rc = branch_probe_find(sites, found, &count, &worker->link);
	pthread_mutex_lock(&probes->lock);
	worker->group->count = rc == 0 ? count : 0;
	memcpy(worker->group->probes, found, sizeof(found));
	if (worker->group->count == 0 || found[0].address != taken[0].address)
		candidate_refuse(probes, &taken[0]);
	probe_queue_return(&probes->queue, taken + 1, taken_count - 1);
	pthread_mutex_unlock(&probes->lock);
	return rc;
}

static struct probe_limits limits_of(const struct worker *worker)
{
	const struct branch_group *group = worker->group;

	return (struct probe_limits){
		.count = (uint32_t)group->count,
		.hit_ns = worker->probes->hit_ns,
		.reference_ns = reference_time_ns(worker->probes, share_of(worker->probes)),
		.has_reference = branch_group_has_reference(group),
		.may_be_rare = group->may_be_rare,
		.is_frequent = group->level >= LEVEL_AT_ONCE,
	};
}

/*
 * Return: false if the thread is to stop. From here on branch_probes_close() may interrupt @holder.
 */
static bool holder_publish(struct worker *worker, struct probe_holder holder)
{
	struct branch_probes *probes = worker->probes;
	bool more;

	pthread_mutex_lock(&probes->lock);
	more = !probes->stop;
	worker->holder = holder;
	pthread_mutex_unlock(&probes->lock);
	return more;
}

/* Return: 0; -ECANCELED if the thread is to stop; otherwise as probe_holder_start(). */
static int holder_ensure(struct worker *worker, struct error *err)
{
	struct probe_holder holder = worker->holder;
	int rc = 0;

	if (holder.pid == 0)
		rc = probe_holder_start(&holder, &worker->link, err);
	if (rc < 0)
		return rc;
	return holder_publish(worker, holder) ? 0 : -ECANCELED;
}

/* Stopping a holder waits for the kernel, which must not happen under the lock. */
static void holder_drop(struct worker *worker)
{
	struct probe_holder holder = worker->holder;

	holder_publish(worker, (struct probe_holder){.pid = 0});
	probe_holder_stop(&holder);
}

/*
 * Open no more intervals. @reason: NULL: the kernel is too old for such probes, which is not an
 * error
 */
static void probing_end(struct branch_probes *probes, const char *reason)
{
	pthread_mutex_lock(&probes->lock);
	if (!probes->stop && reason != NULL)
		log_error("branches are not probed: %s", reason);
	probes->stats.unavailable |= !probes->stop;
	probes->stop = true;
	pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
}

/* The holder was killed at its deadline. This also happens if it and this process were stopped. */
static void deadline_count(struct branch_probes *probes)
{
	bool stop;

	pthread_mutex_lock(&probes->lock);
	stop = probes->stop;
	probes->stats.deadlines += !stop;
	pthread_mutex_unlock(&probes->lock);
	probes->next_ns = clock_monotonic_ns() + COOL_DOWN_NS;
	if (!stop && ++probes->deadlines >= DEADLINES_MAX)
		probing_end(probes, "the process that holds the probes was not scheduled in time");
}

static void places_add(struct worker *worker)
{
	const struct branch_group *group = worker->group;
	uint64_t now_ns = clock_monotonic_ns();

	for (size_t i = 0; i < group->count; i++)
		probe_places_add(&worker->probes->places, group->probes[i].pid,
				 group->probes[i].address, now_ns);
}

/* The area exists once the kernel has single-stepped an instruction. */
static void area_add(struct worker *worker, uint64_t since_ns)
{
	uint32_t pid = worker->group->probes[0].pid;
	uint64_t start, end;

	if (branch_probe_windows(&worker->link)[0].condition == WINDOW_SNAPSHOTS &&
	    file_mapping_find_named(&start, &end, pid, "[uprobes]") == 0)
		probe_places_add_area(&worker->probes->places, pid, start, end, since_ns);
}

/* All breakpoints are gone, or will be within REMOVAL_NS: the holder has ended. */
static void places_remove(struct worker *worker)
{
	const struct branch_group *group = worker->group;
	uint64_t until_ns = clock_monotonic_ns() + REMOVAL_NS;

	for (size_t i = 0; i < group->count; i++)
		probe_places_remove(&worker->probes->places, group->probes[i].pid,
				    group->probes[i].address, until_ns);
	if (group->count > 0)
		probe_places_remove_area(&worker->probes->places, group->probes[0].pid, until_ns);
}

/*
 * Let the holder measure, and process its result. Return: 0; -ETIMEDOUT if it was killed; -EPIPE if
 * its parent was killed, too; otherwise -errno: it could not place the probes.
 */
static int window_measure(struct worker *worker, struct branch_probe_sites *sites)
{
	struct probe_request request = {.sites = *sites, .limits = limits_of(worker)};
	struct probe_measurement measured;
	struct probe_window window = {.windows = measured.counts};
	uint64_t since_ns = clock_monotonic_ns();
	int rc;

	places_add(worker);
	if (probe_holder_send(&worker->holder, &request) < 0)
		return -EPIPE;
	rc = probe_holder_receive(&worker->holder, &measured);
	area_add(worker, since_ns);
	if (rc < 0)
		return rc;
	window.start_ns = measured.start_ns;
	window.ns = measured.ns;
	window.reference = measured.has_reference_counts ? &measured.reference : NULL;
	worker->probes->deadlines = 0;
	window_account(worker, &window);
	return 0;
}

/* Call with the interval mutex held. Return: true if the holder still has to remove probes. */
static bool window_run(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	struct branch_probe first = worker->group->probes[0];
	struct branch_probe_sites sites;
	struct error err;
	int rc = window_find(worker, &sites);

	if (rc < 0)
		goto out;
	rc = holder_ensure(worker, &err);
	if (rc < 0) {
		probing_end(probes, err.message);
		goto out;
	}
	rc = window_measure(worker, &sites);
	if (rc == -ETIMEDOUT || rc == -EPIPE) {
		deadline_count(probes);
	} else if (rc < 0) {
		pthread_mutex_lock(&probes->lock);
		candidate_refuse(probes, &first);
		pthread_mutex_unlock(&probes->lock);
	}
out:
	branch_probe_sites_close(&sites);
	if (rc == -EPIPE)
		holder_drop(worker);
	return rc == 0;
}

/* Call with the interval mutex held. A kernel that does not remove probes in time gets none. */
static void guarantee_ensure(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	struct error err;
	int rc;

	if (probes->checked)
		return;
	probes->checked = true;
	rc = probe_guarantee_check(&worker->link, &err);
	if (rc < 0)
		probing_end(probes, rc == -EOPNOTSUPP ? NULL : err.message);
}

/*
 * Return true if there is a branch to probe at almost no cost, and time before the next interval.
 */
static bool has_cheap(struct branch_probes *probes)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool cheap;

	if (now_ns >= probes->next_ns)
		return false;
	pthread_mutex_lock(&probes->lock);
	cheap = probe_queue_prefer_rare(&probes->queue, now_ns);
	pthread_mutex_unlock(&probes->lock);
	return cheap;
}

/*
 * Call when all probes have been removed. Executions before the interval began and after it ended
 * cost time, too, by which the next interval is delayed.
 */
static void removal_account(struct worker *worker, uint64_t cpu_ns_before)
{
	struct branch_probes *probes = worker->probes;
	uint64_t ns;

	pthread_mutex_lock(&probes->lock);
	ns = probe_taken_ns(branch_probe_windows(&worker->link), BRANCH_WINDOWS, probes->hit_ns);
	if (ns > worker->accounted_ns) {
		probes->stats.taken_ns += ns - worker->accounted_ns;
		probes->late_ns += ns - worker->accounted_ns;
	}
	if (worker->holder.cpu_ns > cpu_ns_before)
		probes->stats.process_ns += worker->holder.cpu_ns - cpu_ns_before;
	worker->accounted_ns = 0;
	memset(branch_probe_windows(&worker->link), 0,
	       BRANCH_WINDOWS * sizeof(struct branch_window));
	pthread_mutex_unlock(&probes->lock);
}

/* Call with the interval mutex held. */
static void late_take(struct branch_probes *probes)
{
	uint64_t now_ns = clock_monotonic_ns();

	pthread_mutex_lock(&probes->lock);
	if (probes->late_ns > 0 && probes->next_ns < now_ns)
		probes->next_ns = now_ns;
	probes->next_ns += probes->late_ns * 1000 / (probes->permille > 0 ? probes->permille : 1);
	probes->late_ns = 0;
	pthread_mutex_unlock(&probes->lock);
}

/*
 * Run one interval. The interval mutex is released when the measurement ends: then the program runs
 * as before, although removing the probes takes longer, and the next interval is not affected.
 * Return: false if the thread is to stop.
 */
static bool run_once(struct worker *worker)
{
	struct branch_probes *probes = worker->probes;
	bool more, removing = false;
	uint64_t cpu_ns;

	pthread_mutex_lock(&probes->interval_lock);
	late_take(probes);
	if (!has_cheap(probes))
		wait_until(probes, probes->next_ns);
	more = group_take(probes, worker);
	if (more) {
		guarantee_ensure(worker);
		removing = window_run(worker);
	}
	pthread_mutex_unlock(&probes->interval_lock);
	cpu_ns = worker->holder.cpu_ns;
	if (removing && probe_holder_wait(&worker->holder) < 0)
		holder_drop(worker);
	if (more)
		removal_account(worker, cpu_ns);
	places_remove(worker);
	pthread_mutex_lock(&probes->lock);
	worker->group->count = 0;
	pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	return more;
}

static void *branch_probes_run(void *context)
{
	struct worker *worker = context;

	while (run_once(worker))
		;
	holder_drop(worker);
	return NULL;
}

/* Block all signals in the threads: they are for the caller. */
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
		worker->group = &probes->queue.groups[i];
		rc = pthread_create(&worker->thread, NULL, branch_probes_run, worker);
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
	pthread_mutex_init(&probes->interval_lock, NULL);
}

int branch_probes_open(struct branch_probes **ret, const struct branch_probe_program *program,
		       uint32_t permille, struct error *err)
{
	struct branch_probes *probes = calloc(1, sizeof(*probes));
	int rc;

	if (probes == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	probes->permille = permille;
	probes->queue.history.random = 1 + (uint32_t)(clock_monotonic_ns() % 0x7ffffffd);
	probes->queue.history.eagerness = 1;
	probes->hit_ns = HIT_NS;
	locks_init(probes);
	probe_places_init(&probes->places);
	rc = threads_start(probes, program);
	if (rc < 0) {
		branch_probes_close(probes);
		return error_set(err, -rc, ERROR_THREAD);
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
	for (size_t i = 0; i < probes->worker_count; i++)
		probe_holder_interrupt(&probes->workers[i].holder);
	pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	for (size_t i = 0; i < probes->worker_count; i++)
		pthread_join(probes->workers[i].thread, NULL);
	pthread_cond_destroy(&probes->changed);
	pthread_mutex_destroy(&probes->lock);
	pthread_mutex_destroy(&probes->interval_lock);
	probe_places_deinit(&probes->places);
	probe_queue_deinit(&probes->queue);
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
	branch_history_idle(&probes->queue.history, probes->waiting);
	if (probes->queue.count > 0)
		pthread_cond_broadcast(&probes->changed);
	pthread_mutex_unlock(&probes->lock);
	return results;
}

bool branch_probes_is_hit(struct branch_probes *probes, uint32_t pid, uint64_t user_pc,
			  uint64_t time_ns)
{
	return probe_places_has(&probes->places, pid, user_pc, time_ns);
}

void branch_probes_stats(struct branch_probes *probes, struct branch_probes_stats *stats)
{
	pthread_mutex_lock(&probes->lock);
	*stats = probes->stats;
	pthread_mutex_unlock(&probes->lock);
}
