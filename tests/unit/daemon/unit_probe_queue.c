// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selection of the next branches to probe, and of their reference branches, after simulated
 * windows.
 */
#include "tests/lib/unit.h"

#include <string.h>

#include "daemon/source/probe_queue.h"
#include "lib/clock.h"

#define PID 77
#define FILE_A 5
#define FILE_B 6
/* Typical limit of executions in a window with a reference branch. */
#define COST_MAX 15000.0

/* struct scene - @window: measured window of the branches in @probes */
struct scene {
	struct probe_queue queue;
	struct branch_probe probes[BRANCH_WINDOWS];
	struct branch_window windows[BRANCH_WINDOWS];
	struct reference_counts reference;
	struct probe_window window;
};

static struct branch_probe probe_at(uint64_t address, uint64_t file)
{
	return (struct branch_probe){
		.pid = PID,
		.address = address,
		.place = {.device = 1, .inode = file, .offset = address},
	};
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->queue.history = (struct branch_history){.random = 5, .eagerness = 1};
	scene->window = (struct probe_window){
		.probes = scene->probes, .windows = scene->windows, .start_ns = 1};
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	probe_queue_deinit(&scene->queue);
	free(scene);
	return 0;
}

/* Begin a window of 24 ms, in which probes take little time, or all of it if @is_full. */
static void begin(struct scene *scene, bool is_full)
{
	memset(scene->windows, 0, sizeof(scene->windows));
	scene->window.count = 0;
	scene->window.reference = NULL;
	scene->window.ns = 24 * NS_PER_MS;
	scene->window.taken_ns = is_full ? scene->window.ns : NS_PER_MS / 10;
}

static struct branch_window *execute(struct scene *scene, uint64_t address, uint64_t executions)
{
	size_t i = scene->window.count++;

	scene->probes[i] = probe_at(address, FILE_A);
	scene->windows[i].counts[0] = executions;
	return &scene->windows[i];
}

/* Execute a branch at equal intervals, except for one that is @longest times as long. */
static void execute_evenly(struct scene *scene, uint64_t address, uint64_t executions,
			   double longest)
{
	struct branch_window *window = execute(scene, address, executions);

	window->gaps = executions - 1;
	window->first_ns = scene->window.start_ns;
	window->last_ns = scene->window.start_ns + scene->window.ns;
	window->longest_ns = (uint64_t)(longest * (double)scene->window.ns / (double)executions);
}

/* Observe that a branch is executed once a millisecond, and again later. */
static void observe_reference(struct scene *scene, uint64_t address)
{
	for (int look = 0; look < 2; look++) {
		begin(scene, false);
		execute_evenly(scene, address, 24, 1);
		probe_queue_learn(&scene->queue, &scene->window);
		scene->window.start_ns += 100 * NS_PER_MS;
	}
}

static void lead(struct scene *scene, uint64_t address, int samples)
{
	for (int i = 0; i < samples; i++)
		reference_branches_add_sample(&scene->queue.references, PID, address);
}

static uint64_t mark_within(struct scene *scene, struct branch_probe probe, double cost_max)
{
	const struct reference_branch *reference = reference_branches_find(
		&scene->queue.references, &scene->queue.history, &probe, cost_max);

	return reference != NULL ? reference->probe.address : 0;
}

static uint64_t mark_of(struct scene *scene, struct branch_probe probe)
{
	return mark_within(scene, probe, COST_MAX);
}

/*
 * A reference branch executed once a millisecond is used if the executions between two of its own
 * are affordable. A branch that takes all of the time has 500,000 executions in a millisecond, one
 * that takes 1% of the time 5,000.
 */
static void marks_are_affordable(void **state)
{
	struct scene *scene = *state;
	struct branch_probe other = probe_at(0x1000, FILE_A);

	lead(scene, 0x1000, 10);
	lead(scene, 0x2000, 990);
	assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0);
	observe_reference(scene, 0x9000);
	assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0x9000);
	assert_int_equal(mark_within(scene, probe_at(0x1000, FILE_A), 5300), 0x9000);
	assert_int_equal(mark_within(scene, probe_at(0x1000, FILE_A), 5100), 0);
	assert_int_equal(mark_within(scene, probe_at(0x1000, FILE_A), 0), 0);
	assert_int_equal(mark_of(scene, probe_at(0x2000, FILE_A)), 0);
	assert_int_equal(mark_of(scene, probe_at(0x3000, FILE_A)), 0);
	assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_B)), 0);
	assert_int_equal(mark_of(scene, probe_at(0x9000, FILE_A)), 0);
	other.pid++;
	assert_int_equal(mark_of(scene, other), 0);
}

/* Observations that disqualify a reference branch. */
enum fault {
	BURSTS,
	SILENCE,
	NO_ROUNDS,
	FREQUENCY,
	OTHER_PERIOD,
	FAULTS,
};

static void show_fault(struct scene *scene, enum fault fault)
{
	begin(scene, fault == NO_ROUNDS || fault == FREQUENCY);
	execute(scene, 0x1000, 20000);
	if (fault == BURSTS)
		execute_evenly(scene, 0x9000, 200, 10);
	else if (fault == OTHER_PERIOD)
		execute_evenly(scene, 0x9000, 200, 1);
	else
		execute(scene, 0x9000, fault == FREQUENCY ? 6000 : 0);
	if (fault == NO_ROUNDS)
		scene->window.reference = &scene->reference;
	probe_queue_learn(&scene->queue, &scene->window);
}

/* One such observation disqualifies a branch, until it has been even a few more times. */
static void marks_are_even(void **state)
{
	struct scene *scene = *state;

	for (enum fault fault = 0; fault < FAULTS; fault++) {
		lead(scene, 0x1000, 10);
		lead(scene, 0x2000, 990);
		observe_reference(scene, 0x9000);
		assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0x9000);
		show_fault(scene, fault);
		assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0);
		for (int i = 0; i < 3; i++)
			observe_reference(scene, 0x9000);
		assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)),
				 fault == FREQUENCY ? 0 : 0x9000);
		probe_queue_deinit(&scene->queue);
		memset(&scene->queue, 0, sizeof(scene->queue));
		scene->queue.history = (struct branch_history){.random = 5, .eagerness = 1};
	}
}

/*
 * A candidate is probed again after some time, and then after twice that time, together with other
 * rare branches.
 */
static void marks_are_looked_at_again(void **state)
{
	struct scene *scene = *state;
	struct probe_queue *queue = &scene->queue;

	begin(scene, false);
	execute_evenly(scene, 0x9000, 24, 1);
	probe_queue_learn(queue, &scene->window);
	lead(scene, 0x1000, 10);
	lead(scene, 0x2000, 990);
	assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0);
	assert_false(probe_queue_prefer_rare(queue, 99 * NS_PER_MS));
	assert_true(probe_queue_prefer_rare(queue, 101 * NS_PER_MS));
	assert_int_equal(queue->candidates[0].probe.address, 0x9000);
	probe_queue_take(queue, &queue->groups[0], 0);
	queue->groups[0].count = 0;
	scene->window.start_ns = 101 * NS_PER_MS;
	begin(scene, false);
	execute_evenly(scene, 0x9000, 24, 1);
	probe_queue_learn(queue, &scene->window);
	assert_int_equal(mark_of(scene, probe_at(0x1000, FILE_A)), 0x9000);
	assert_false(probe_queue_prefer_rare(queue, 300 * NS_PER_MS));
	assert_true(probe_queue_prefer_rare(queue, 302 * NS_PER_MS));
}

/*
 * A refused branch is no reference branch: if its process has ended, it would be retried forever.
 */
static void a_refused_branch_is_no_reference(void **state)
{
	struct scene *scene = *state;
	struct probe_queue *queue = &scene->queue;
	struct branch_probe reference = probe_at(0x9000, FILE_A), other = probe_at(0xa000, FILE_A);

	observe_reference(scene, 0x9000);
	observe_reference(scene, 0xb000);
	probe_queue_refuse(queue, &other);
	assert_int_equal(queue->references.count, 2);
	probe_queue_refuse(queue, &reference);
	assert_int_equal(queue->references.count, 1);
	assert_true(probe_queue_prefer_rare(queue, NS_PER_SECOND));
	assert_int_equal(queue->candidates[0].probe.address, 0xb000);
}

static const struct branch_group *take(struct scene *scene, double iteration_max)
{
	struct branch_group *group = &scene->queue.groups[0];

	group->count = 0;
	probe_queue_take(&scene->queue, group, iteration_max);
	return group;
}

/*
 * Two unknown branches are probed together. A branch that was rare next to a frequent one is probed
 * alone.
 */
static void the_seldom_are_by_themselves(void **state)
{
	struct scene *scene = *state;
	size_t taken = 0;

	begin(scene, true);
	execute(scene, 0x1000, 20000);
	execute(scene, 0x3000, 10);
	probe_queue_learn(&scene->queue, &scene->window);
	assert_int_equal(scene->queue.count, 1);
	for (uint64_t address = 0x4000; address <= 0x5000; address += 0x1000) {
		struct branch_probe probe = probe_at(address, FILE_A);

		probe_queue_sample(&scene->queue, &probe);
	}
	while (scene->queue.count > 0) {
		const struct branch_group *group = take(scene, COST_MAX);

		assert_false(branch_group_has_reference(group));
		assert_int_equal(group->count, group->probes[0].address == 0x3000 ? 1 : 2);
		taken += group->count;
	}
	assert_int_equal(taken, 3);
	scene->queue.groups[0].count = 0;
	/* After it was probed alone it is not probed again, with a full window or not. */
	for (int full = 0; full < 2; full++) {
		begin(scene, full == 1);
		execute(scene, 0x3000, 0);
		execute(scene, 0x1000, full == 1 ? 20000 : 0);
		probe_queue_learn(&scene->queue, &scene->window);
	}
	assert_int_equal(scene->queue.count, 0);
}

/* The branch after a path that is never taken is also probed, but not one after a frequent path. */
static void what_is_beyond_is_looked_at(void **state)
{
	struct scene *scene = *state;

	begin(scene, true);
	execute(scene, 0x1000, 20000);
	scene->probes[0].next_branches[0] = 0x1040;
	scene->probes[0].next_branches[1] = 0x2000;
	probe_queue_learn(&scene->queue, &scene->window);
	assert_int_equal(scene->queue.count, 1);
	assert_int_equal(scene->queue.candidates[0].probe.address, 0x2000);
	assert_int_equal(scene->queue.candidates[0].probe.place.offset, 0x2000);
	probe_queue_learn(&scene->queue, &scene->window);
	assert_int_equal(scene->queue.count, 1);
}

/*
 * The reference branch is the last of a group. Branches that could not be probed are queued again,
 * without the reference branch.
 */
static void marks_come_last(void **state)
{
	struct scene *scene = *state;
	const struct branch_group *group;
	struct branch_probe probe = probe_at(0x1000, FILE_A), probes[2];

	lead(scene, 0x1000, 10);
	lead(scene, 0x2000, 990);
	observe_reference(scene, 0x9000);
	probe_queue_sample(&scene->queue, &probe);
	group = take(scene, 0);
	assert_false(branch_group_has_reference(group));
	assert_int_equal(group->count, 1);
	scene->queue.groups[0].count = 0;
	probe_queue_sample(&scene->queue, &probe);
	group = take(scene, COST_MAX);
	assert_true(branch_group_has_reference(group));
	assert_int_equal(group->count, 2);
	assert_int_equal(group->probes[0].address, 0x1000);
	assert_false(group->probes[0].is_reference);
	assert_int_equal(group->probes[1].address, 0x9000);
	assert_true(group->probes[1].is_reference);
	memcpy(probes, group->probes, sizeof(probes));
	probe_queue_return(&scene->queue, probes, 2);
	assert_int_equal(scene->queue.count, 0);
	scene->queue.groups[0].count = 0;
	probe_queue_return(&scene->queue, probes, 2);
	assert_int_equal(scene->queue.count, 1);
	assert_int_equal(scene->queue.candidates[0].probe.address, 0x1000);
}

/*
 * A group waits while its reference branch is still probed in another window, and for no other
 * reason.
 */
static void marks_are_waited_for(void **state)
{
	struct scene *scene = *state;
	struct probe_queue *queue = &scene->queue;
	struct branch_probe probe = probe_at(0x1000, FILE_A);
	struct branch_group *other = &queue->groups[1];
	const struct branch_group *group;

	lead(scene, 0x1000, 10);
	lead(scene, 0x2000, 990);
	observe_reference(scene, 0x9000);
	other->probes[0] = probe_at(0x8000, FILE_A);
	other->probes[1] = probe_at(0x9000, FILE_A);
	other->count = 2;
	probe_queue_sample(queue, &probe);
	group = take(scene, COST_MAX);
	assert_true(branch_group_has_reference(group));
	assert_int_equal(group->probes[1].address, 0x9000);
	assert_true(probe_queue_is_held(queue, group));
	other->count = 1;
	assert_false(probe_queue_is_held(queue, group));
	other->probes[0] = probe;
	assert_false(probe_queue_is_held(queue, group));
	other->count = 0;
	queue->groups[0].count = 0;
	probe_queue_sample(queue, &probe);
	group = take(scene, 0);
	other->probes[0] = probe_at(0x1000, FILE_A);
	other->count = 1;
	assert_false(branch_group_has_reference(group));
	assert_false(probe_queue_is_held(queue, group));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(marks_are_affordable),
		TEST(marks_are_even),
		TEST(marks_are_looked_at_again),
		TEST(a_refused_branch_is_no_reference),
		TEST(the_seldom_are_by_themselves),
		TEST(what_is_beyond_is_looked_at),
		TEST(marks_come_last),
		TEST(marks_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
