// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calling contexts are compared with a model that keeps the whole stack. Random programs call,
 * return, make tail calls, recur, jump out and take signals.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_profile.h"
#include "instrument/calls/call_thread.h"
#include "instrument/calls/context_tree.h"
#include "instrument/runtime/call_automaton.h"

#define PROCEDURES 12
#define MANY_PROCEDURES 20000
#define AREA_AT 4096
#define AREA_BYTES (sizeof(struct call_area) + MANY_PROCEDURES * sizeof(uint32_t[CALL_LAYOUT_LAST]))
#define ROOT (PROCEDURES + CALL_PROFILE_ROOT)
#define SIGNAL (PROCEDURES + CALL_PROFILE_SIGNAL)
#define NODES (PROCEDURES + CALL_PROFILE_NODES)
#define DEPTH_MAX 60
#define SITES 3
#define STEPS 4000
#define STACK_TOP UINT64_C(0x7fff0000)

/* @site: of the call; @announced: site of its own last call */
struct frame {
	uint32_t procedure;
	uint64_t stack;
	uint32_t site;
	uint32_t announced;
};

/* @calls, @self: by pair and by procedure; @callee, @caller: metrics of arcs, self and children */
struct model {
	struct frame frames[DEPTH_MAX + 1];
	size_t depth;
	uint64_t calls[NODES][NODES];
	uint64_t self[NODES];
	uint64_t children[NODES];
	uint64_t callee[NODES][NODES][2];
	uint64_t caller[NODES][NODES][2];
	uint64_t total;
};

struct run {
	struct call_area *area;
	struct model model;
	uint64_t random;
	int fd;
};

static uint32_t below(struct run *run, uint32_t limit)
{
	return (uint32_t)(unit_random(&run->random) % limit);
}

/*
 * Find the active procedures. A signal handler begins a new stack, and a procedure that calls
 * itself is one activation. Return: procedures, outermost caller first.
 */
static size_t active(const struct model *model, uint32_t *out)
{
	size_t begin = 0, count = 0;

	for (size_t i = 0; i < model->depth; i++) {
		if (model->frames[i].procedure == SIGNAL)
			begin = i;
	}
	out[count++] = ROOT;
	for (size_t i = begin; i < model->depth; i++) {
		uint32_t procedure = model->frames[i].procedure;

		if (procedure == SIGNAL)
			out[0] = SIGNAL;
		else if (out[count - 1] != procedure)
			out[count++] = procedure;
	}
	return count;
}

static void model_charge(struct model *model, uint64_t metric)
{
	uint32_t stack[DEPTH_MAX + 2];
	size_t count = active(model, stack), last;
	uint32_t running = stack[count - 1];

	model->total += metric;
	model->self[running] += metric;
	for (uint32_t p = 0; p < NODES; p++) {
		for (last = count; last > 0 && stack[last - 1] != p; last--)
			;
		if (last-- == 0)
			continue;
		if (last > 0)
			model->callee[stack[last - 1]][p][p != running] += metric;
		if (last + 1 < count) {
			model->children[p] += metric;
			model->caller[p][stack[last + 1]][stack[last + 1] != running] += metric;
		}
	}
}

static void run_some(struct run *run)
{
	uint64_t instructions = below(run, 50);

	run->area->head.instructions += instructions;
	model_charge(&run->model, instructions);
}

static uint32_t model_top(const struct model *model)
{
	uint32_t stack[DEPTH_MAX + 2];

	return stack[active(model, stack) - 1];
}

static uint64_t stack_pointer(const struct run *run)
{
	return run->model.depth > 0 ? run->model.frames[run->model.depth - 1].stack : STACK_TOP;
}

static struct frame *top(struct model *model)
{
	return model->depth > 0 ? &model->frames[model->depth - 1] : NULL;
}

/*
 * Store a call site in the automaton's last frame, as a program does before a call if it
 * distinguishes sites.
 */
static uint32_t announce(struct run *run)
{
	uint32_t site = 1 + below(run, SITES);

	if (run->area->head.policy != CALL_POLICY_CONTEXT)
		return 0;
	run->area
		->frames[(run->area->head.depth - run->area->head.frames) /
			 sizeof(struct call_frame)]
		.site = site;
	return site;
}

static void announce_call(struct run *run)
{
	uint32_t site = announce(run);

	if (top(&run->model) != NULL)
		top(&run->model)->announced = site;
}

/* The site of a call from the model's last frame; unknown in the root, and for the kernel. */
static uint32_t announced(struct model *model)
{
	return top(model) != NULL ? top(model)->announced : 0;
}

/* Enter a procedure that was called, or that another one jumps to instead of returning. */
static void enter(struct run *run, uint32_t procedure, uint64_t stack)
{
	struct model *model = &run->model;
	uint32_t site = announced(model);

	call_automaton_enter(run->area, procedure, stack);
	model->calls[model_top(model)][procedure]++;
	model->frames[model->depth++] = (struct frame){procedure, stack, site, 0};
	run_some(run);
}

static void call(struct run *run, uint32_t procedure, uint64_t stack)
{
	announce_call(run);
	enter(run, procedure, stack);
}

static void leave(struct run *run)
{
	struct model *model = &run->model;

	call_automaton_leave(run->area, stack_pointer(run));
	model->depth--;
	if (model->depth > 0 && model->frames[model->depth - 1].procedure == SIGNAL)
		model->depth--;
	run_some(run);
}

/* Replace the current procedure by another one, as a tail call does. */
static void tail_call(struct run *run)
{
	uint64_t stack = stack_pointer(run);

	call_automaton_jump(run->area, stack);
	run->model.depth--;
	enter(run, below(run, PROCEDURES), stack);
}

/* Execute a procedure that makes no calls: called, or as a tail call instead of returning. */
static void visit(struct run *run)
{
	struct model *model = &run->model;
	uint64_t stack = stack_pointer(run);
	uint32_t procedure = below(run, PROCEDURES);
	bool at_end = below(run, 2) == 0;

	if (at_end) {
		call_automaton_jump(run->area, stack);
		model->depth--;
	}
	if (!at_end)
		announce_call(run);
	call_automaton_visit(run->area, procedure, at_end ? stack : stack - 16);
	if (model->depth > 0 && model->frames[model->depth - 1].procedure == SIGNAL) {
		model->calls[SIGNAL][procedure]++;
		model->depth--;
	} else {
		model->calls[model_top(model)][procedure]++;
	}
}

/* A visited procedure makes a call and does not return. */
static void stay(struct run *run)
{
	struct model *model = &run->model;
	uint64_t stack = stack_pointer(run) - 32;
	uint32_t procedure = below(run, PROCEDURES), site;

	announce_call(run);
	site = announced(model);
	call_automaton_visit(run->area, procedure, stack);
	call_automaton_noreturn(run->area, procedure, stack - 8);
	model->calls[model_top(model)][procedure]++;
	model->frames[model->depth++] = (struct frame){procedure, stack - 8, site, 0};
	call(run, below(run, PROCEDURES), stack - 16);
}

static void visit_by_signal(struct run *run)
{
	uint32_t procedure = below(run, PROCEDURES);

	call_automaton_visit_signal(run->area, procedure);
	run->model.calls[SIGNAL][procedure]++;
}

static void take_signal(struct run *run)
{
	struct model *model = &run->model;
	uint32_t procedure = below(run, PROCEDURES);
	uint64_t stack = stack_pointer(run) - 1024;

	call_automaton_signal(run->area, procedure, stack);
	model->frames[model->depth++] = (struct frame){SIGNAL, stack + 8, 0, 0};
	model->calls[SIGNAL][procedure]++;
	model->frames[model->depth++] = (struct frame){procedure, stack, 0, 0};
	run_some(run);
}

/*
 * Jump back to an outer frame. The automaton is notified of the place, or else sees a call at once,
 * whose site was announced in a frame that no longer exists.
 */
static void jump_out(struct run *run)
{
	struct model *model = &run->model;
	size_t to = below(run, (uint32_t)model->depth) + 1;
	uint64_t left = to < model->depth ? model->frames[to].stack : 0;
	struct frame frame = model->frames[to - 1];

	if (frame.procedure == SIGNAL)
		return;
	model->depth = to;
	if (left != 0 && model->frames[to].procedure != SIGNAL && below(run, 2) == 0) {
		announce(run);
		top(model)->announced = 0;
		enter(run, below(run, PROCEDURES), left);
		return;
	}
	call_automaton_resume(run->area, frame.procedure, frame.stack - 8);
	run_some(run);
}

static void step(struct run *run)
{
	uint32_t what = below(run, 112);
	size_t depth = run->model.depth;

	if (depth == 0 || (what < 48 && depth + 2 < DEPTH_MAX))
		call(run, below(run, 3) ? below(run, PROCEDURES) : below(run, 3),
		     stack_pointer(run) - 16 - 8 * below(run, 20));
	else if (what < 85)
		leave(run);
	else if (what < 92)
		tail_call(run);
	else if (what < 95 && depth + 2 < DEPTH_MAX)
		take_signal(run);
	else if (what < 98)
		jump_out(run);
	else if (what >= 108 && depth + 2 < DEPTH_MAX)
		stay(run);
	else if (what >= 102)
		visit(run);
	else if (what >= 100)
		visit_by_signal(run);
}

static void run_begin(struct run *run, uint64_t seed, enum call_policy policy)
{
	*run = (struct run){.random = seed, .fd = memfd_create("area", MFD_CLOEXEC)};
	assert_true(run->fd >= 0);
	assert_int_equal(ftruncate(run->fd, AREA_BYTES), 0);
	run->area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, 0);
	assert_ptr_not_equal(run->area, MAP_FAILED);
	call_automaton_begin(run->area, AREA_AT, policy, CALL_METRIC_INSTRUCTIONS);
}

static void run_end(struct run *run)
{
	munmap(run->area, AREA_BYTES);
	close(run->fd);
}

static void read_thread(const struct run *run, struct call_thread *thread)
{
	assert_int_equal(call_thread_read(thread, run->fd, 0, PROCEDURES, 0), 0);
	for (size_t i = 0; i < CALL_LOSSES; i++)
		assert_int_equal(thread->losses[i], 0);
}

static void compare_arcs(const struct model *model, const struct call_profile *profile)
{
	static const struct call_arc none;

	for (uint32_t p = 0; p < NODES; p++) {
		for (uint32_t q = 0; q < PROCEDURES; q++) {
			const struct call_arc *arc = call_profile_find(profile, p, q);

			if (arc == NULL)
				arc = &none;
			assert_int_equal(p == q ? profile->nodes[p].recursive : arc->calls,
					 model->calls[p][q]);
			assert_int_equal(arc->callee_self, model->callee[p][q][0]);
			assert_int_equal(arc->callee_children, model->callee[p][q][1]);
			assert_int_equal(arc->caller_self, model->caller[p][q][0]);
			assert_int_equal(arc->caller_children, model->caller[p][q][1]);
		}
	}
}

/*
 * The values of a procedure's callers add up to its own, and the values of its callees to its
 * children.
 */
static void add_up(const struct call_profile *profile)
{
	for (uint32_t p = 0; p < PROCEDURES; p++) {
		uint64_t called = 0, children = 0;

		for (size_t i = 0; i < profile->arc_count; i++) {
			const struct call_arc *arc = &profile->arcs[i];

			if (arc->callee == p)
				called += arc->callee_self + arc->callee_children;
			if (arc->caller == p)
				children += arc->caller_self + arc->caller_children;
		}
		assert_int_equal(called, profile->nodes[p].self + profile->nodes[p].children);
		assert_int_equal(children, profile->nodes[p].children);
	}
}

static void test_arcs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct call_thread thread;
		struct call_profile profile;
		struct run run;

		run_begin(&run, seed, CALL_POLICY_CALLS);
		run_some(&run);
		for (int i = 0; i < STEPS; i++)
			step(&run);
		read_thread(&run, &thread);
		assert_int_equal(call_profile_init(&profile, PROCEDURES), 0);
		assert_int_equal(call_profile_add(&profile, &thread), 0);
		assert_int_equal(profile.total, run.model.total);
		for (uint32_t p = 0; p < NODES; p++) {
			assert_int_equal(profile.nodes[p].self, run.model.self[p]);
			assert_int_equal(profile.nodes[p].children, run.model.children[p]);
		}
		compare_arcs(&run.model, &profile);
		add_up(&profile);
		call_profile_deinit(&profile);
		call_thread_deinit(&thread);
		run_end(&run);
	}
}

#define PATHS_MAX 8192

/* A path from the root. A procedure that is already on it leads back to that node. @sites: of the
 * calls; the first one is unknown */
struct path {
	uint8_t procedures[NODES + 1];
	uint8_t sites[NODES + 1];
	size_t length;
	uint64_t metric;
};

struct paths {
	struct path all[PATHS_MAX];
	size_t count;
};

static struct path *find_path(struct paths *paths, const struct path *wanted)
{
	for (size_t i = 0; i < paths->count; i++) {
		if (paths->all[i].length == wanted->length &&
		    memcmp(paths->all[i].procedures, wanted->procedures, wanted->length) == 0 &&
		    memcmp(paths->all[i].sites, wanted->sites, wanted->length) == 0)
			return &paths->all[i];
	}
	assert_true(paths->count < PATHS_MAX);
	paths->all[paths->count] = *wanted;
	return &paths->all[paths->count++];
}

/* Return the path of the model's active procedures. */
static struct path *path_now(struct paths *paths, const struct model *model)
{
	struct path path = {0};

	for (size_t i = 0; i < model->depth; i++) {
		const struct frame *frame = &model->frames[i];
		uint8_t *before = memchr(path.procedures, (int)frame->procedure + 1, path.length);

		if (frame->procedure == SIGNAL)
			path.length = 0;
		else if (before != NULL) {
			path.length = (size_t)(before - path.procedures) + 1;
			continue;
		}
		path.sites[path.length] = (uint8_t)(path.length > 0 ? frame->site : 0);
		path.procedures[path.length++] = (uint8_t)(frame->procedure + 1);
	}
	return find_path(paths, &path);
}

static struct path path_of(const struct context_tree *tree, size_t record)
{
	struct path path = {.length = tree->records[record].depth};

	for (size_t at = path.length; at > 0; at--) {
		path.procedures[at - 1] = (uint8_t)(tree->records[record].procedure + 1);
		path.sites[at - 1] = (uint8_t)tree->records[record].site;
		record = tree->records[record].parent;
	}
	return path;
}

/* The metric of each step belongs to the path at its end. */
static void test_contexts(void **state)
{
	static struct paths want;
	uint64_t sites[SITES] = {1, 2, 3};
	const struct call_map map = {.sites = sites, .site_count = SITES};

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct call_thread thread;
		struct context_tree tree;
		uint64_t total = 0;
		struct run run;

		memset(&want, 0, sizeof(want));
		run_begin(&run, seed, CALL_POLICY_CONTEXT);
		for (int i = 0; i < 1000; i++) {
			uint64_t before = run.model.total;

			step(&run);
			path_now(&want, &run.model)->metric += run.model.total - before;
		}
		read_thread(&run, &thread);
		assert_int_equal(context_tree_init(&tree, PROCEDURES), 0);
		assert_int_equal(context_tree_add(&tree, &map, &thread), 0);
		context_tree_sum(&tree);
		for (size_t i = 0; i < tree.count; i++) {
			struct path path = path_of(&tree, i);

			assert_int_equal(tree.records[i].exclusive,
					 find_path(&want, &path)->metric);
			total += tree.records[i].exclusive;
		}
		assert_int_equal(total, run.model.total);
		assert_int_equal(tree.records[0].inclusive, total);
		context_tree_deinit(&tree);
		call_thread_deinit(&thread);
		run_end(&run);
	}
}

/*
 * Random calls without returns, until there is no room for contexts: every call is counted or lost.
 */
static void test_full(void **state)
{
	struct call_thread thread;
	uint64_t calls = 0, known = 0;
	struct run run;

	(void)state;
	run_begin(&run, 7, CALL_POLICY_CALLS);
	while (run.area->head.losses[CALL_LOSS_FULL] < 1000) {
		for (uint64_t depth = 1; depth <= 2000; depth++)
			call_automaton_enter(run.area, below(&run, MANY_PROCEDURES),
					     STACK_TOP - 16 * depth);
		calls += 2000;
		run.area->head.instructions += 1;
		call_automaton_resume(run.area, UINT32_MAX, STACK_TOP);
		call_automaton_leave(run.area, STACK_TOP - 16);
	}
	assert_int_equal(call_thread_read(&thread, run.fd, 0, MANY_PROCEDURES, 0), 0);
	for (size_t i = 0; i < thread.transition_count; i++)
		known += thread.transitions[i].calls;
	assert_int_equal(known + thread.losses[CALL_LOSS_FULL], calls);
	assert_true(thread.states[CALL_LAYOUT_OTHER].metric > 0);
	assert_int_equal(thread.losses[CALL_LOSS_UNMATCHED], 0);
	call_thread_deinit(&thread);
	run_end(&run);
}

/* Each call and each return ends a part of a state's metric, and adds the time of an event to it.
 */
static void test_subtracts_events(void **state)
{
	const uint64_t caller = STACK_TOP - 16, callee = STACK_TOP - 32;
	struct call_thread thread;
	struct run run;

	(void)state;
	run_begin(&run, 8, CALL_POLICY_CALLS);
	call_automaton_enter(run.area, 0, caller);
	for (unsigned int i = 0; i < 2; i++) {
		call_automaton_enter(run.area, 1, callee);
		call_automaton_leave(run.area, callee);
	}
	call_automaton_leave(run.area, caller);
	assert_int_equal(run.area->head.state_count, CALL_LAYOUT_OTHER + 3);
	run.area->head.metric = CALL_METRIC_CYCLES;
	run.area->head.event_cycles = 10;
	run.area->states[CALL_LAYOUT_ROOT].metric = 100;
	run.area->states[CALL_LAYOUT_OTHER + 1].metric = 100;
	run.area->states[CALL_LAYOUT_OTHER + 2].metric = 15;
	assert_int_equal(call_thread_read(&thread, run.fd, 0, PROCEDURES, 0), 0);
	assert_int_equal(thread.states[CALL_LAYOUT_ROOT].metric, 90);
	assert_int_equal(thread.states[CALL_LAYOUT_OTHER + 1].metric, 70);
	assert_int_equal(thread.states[CALL_LAYOUT_OTHER + 2].metric, 0);
	call_thread_deinit(&thread);
	run.area->head.event_cycles = UINT64_MAX; /* damaged */
	assert_int_equal(call_thread_read(&thread, run.fd, 0, PROCEDURES, 0), 0);
	assert_int_equal(thread.states[CALL_LAYOUT_OTHER + 1].metric, 0);
	call_thread_deinit(&thread);
	run_end(&run);
}

/* Threads measure an event when they start. */
static void test_measures_events(void **state)
{
	struct call_area *area = calloc(1, sizeof(*area));

	(void)state;
	assert_non_null(area);
	call_automaton_begin(area, 0, CALL_POLICY_CALLS, CALL_METRIC_CYCLES);
	assert_true(area->head.event_cycles > 0);
	assert_int_equal(area->states[CALL_LAYOUT_ROOT].metric, 0);
	free(area);
}

#define TRAP_FLAG 0x100

static const struct run *watched;
static unsigned int looks, unreadable;

static void look(int number)
{
	struct call_thread thread;

	(void)number;
	looks++;
	if (call_thread_read(&thread, watched->fd, 0, PROCEDURES, 0) < 0)
		unreadable++;
	call_thread_deinit(&thread);
}

/* The area is readable at any instruction: a program may be killed, and read while it runs. */
static void test_any_time(void **state)
{
	const struct sigaction action = {.sa_handler = look}, usual = {.sa_handler = SIG_DFL};
	struct run run;

	(void)state;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	for (int policy = CALL_POLICY_CALLS; policy <= CALL_POLICY_CONTEXT; policy++) {
		run_begin(&run, 9, (enum call_policy)policy);
		watched = &run;
		looks = unreadable = 0;
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
		for (uint64_t depth = 1; depth <= PROCEDURES; depth++)
			call_automaton_enter(run.area, (uint32_t)(depth * 5 % PROCEDURES),
					     STACK_TOP - 16 * depth);
		call_automaton_leave(run.area, STACK_TOP - 16);
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
		assert_true(looks > 1000);
		assert_int_equal(unreadable, 0);
		run_end(&run);
	}
	assert_int_equal(sigaction(SIGTRAP, &usual, NULL), 0);
}

/* With too many frames, the surplus calls are lost, and their returns are recognized. */
static void test_deep(void **state)
{
	const uint64_t depth = CALL_LAYOUT_FRAMES + 1000;
	struct call_thread thread;
	struct run run;

	(void)state;
	run_begin(&run, 8, CALL_POLICY_CALLS);
	for (uint64_t d = 1; d <= depth; d++)
		call_automaton_enter(run.area, 1, STACK_TOP - 16 * d);
	for (uint64_t d = depth; d > 0; d--)
		call_automaton_leave(run.area, STACK_TOP - 16 * d);
	assert_int_equal(run.area->head.depth, AREA_AT + offsetof(struct call_area, frames));
	assert_int_equal(call_thread_read(&thread, run.fd, 0, PROCEDURES, 0), 0);
	assert_int_equal(thread.losses[CALL_LOSS_DEEP], 1001);
	assert_int_equal(thread.losses[CALL_LOSS_UNMATCHED], 1001);
	assert_int_equal(thread.state_count, CALL_LAYOUT_OTHER + 2);
	call_thread_deinit(&thread);
	run_end(&run);
}

static void read_contexts(const struct call_thread *thread)
{
	uint64_t sites[SITES] = {1, 2, 3};
	const struct call_map map = {.sites = sites, .site_count = SITES};
	struct context_statistics statistics;
	struct context_tree tree;

	assert_int_equal(context_tree_init(&tree, PROCEDURES), 0);
	if (context_tree_add(&tree, &map, thread) == 0) {
		context_tree_sum(&tree);
		assert_int_equal(context_tree_statistics(&tree, &map, &statistics), 0);
	}
	context_tree_deinit(&tree);
}

/* Damaged files are refused, or their contents satisfy the invariants of the readers. */
static void test_damaged(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct call_thread thread;
		struct call_profile profile;
		struct run run;
		int r;

		run_begin(&run, seed, seed % 2 ? CALL_POLICY_CALLS : CALL_POLICY_CONTEXT);
		for (int i = 0; i < 30; i++)
			step(&run);
		for (int i = 0; i < 3; i++) {
			uint8_t *at = below(&run, 2) ? (uint8_t *)run.area + below(&run, 120)
				      : below(&run, 2)
					      ? (uint8_t *)&run.area->states[below(&run, 40)]
					      : (uint8_t *)&run.area->history[below(&run, 90)];

			at[below(&run, 24)] = (uint8_t)(below(&run, 2) ? 255 : below(&run, 256));
		}
		assert_int_equal(call_profile_init(&profile, PROCEDURES), 0);
		r = call_thread_read(&thread, run.fd, 0, PROCEDURES, 0);
		assert_true(r == 0 || r == -EBADMSG);
		if (r == 0)
			r = call_profile_add(&profile, &thread);
		assert_true(r == 0 || r == -EBADMSG);
		call_profile_deinit(&profile);
		read_contexts(&thread);
		call_thread_deinit(&thread);
		run_end(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arcs),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_subtracts_events),
		cmocka_unit_test(test_measures_events),
		cmocka_unit_test(test_any_time),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
