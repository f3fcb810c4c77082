// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes of branches, in a process with branches of known directions. If the kernel has no such
 * probes or does not permit them, the test checks that all requests are refused.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/branch_probes.h"
#include "daemon/source/branch_snapshots.h"
#include "daemon/source/file_mapping.h"
#include "daemon/source/source.h"
#include "lib/clock.h"
#include "tests/lib/patience.h"

#define WAIT_NS (patience_s() * NS_PER_SECOND)
#define ENOUGH 400

/*
 * One iteration of the child: the first branch is taken in one iteration of four, the second never,
 * the third by its condition of signed numbers in one of eight. Then follow a call and its return.
 */
void turn(uint64_t number);
void seldom(void);
extern const char branch_seldom[];
extern const char branch_quarter[], branch_never[], branch_signed[], branch_return[], no_branch[];
__asm__(".text\n"
	".globl turn, branch_quarter, branch_never, branch_signed, branch_return, no_branch\n"
	".type turn, @function\n"
	"turn:\n"
	"	mov %rdi, %rax\n"
	"	and $7, %eax\n"
	"no_branch:\n"
	"	test $3, %dil\n"
	"branch_quarter:\n"
	"	jz 1f\n"
	"	nop\n"
	"1:	cmp $8, %eax\n"
	"branch_never:\n"
	"	jae 2f\n"
	"	lea -1(%rax), %ecx\n"
	"	test %ecx, %ecx\n"
	"branch_signed:\n"
	"	.byte 0x0f, 0x8c, 1, 0, 0, 0 # jl 2f, with four bytes\n"
	"	nop\n"
	"2:\n"
	"branch_return:\n"
	"	ret\n"
	".size turn, . - turn\n"
	".globl seldom, branch_seldom\n"
	".type seldom, @function\n"
	"seldom:\n"
	"	test %eax, %eax\n"
	"branch_seldom:\n"
	"	jz 1f\n"
	"1:	ret\n"
	".size seldom, . - seldom\n");

/* Iterations between two executions of branch_seldom. */
#define RARE 4096

struct scene {
	struct branch_snapshots *snapshots;
	struct branch_probes *probes;
	volatile uint64_t *iterations;
	pid_t child;
	uint64_t returns;
	bool returns_elsewhere;
};

static _Noreturn void child_run(volatile uint64_t *iterations)
{
	for (uint64_t i = 0;; i++) {
		turn(i);
		__builtin_ia32_pause();
		if (i % RARE == 0)
			seldom();
		*iterations = i;
	}
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct branch_probe_program program;
	void *shared;

	assert_non_null(scene);
	*state = scene;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	scene->iterations = shared;
	/*
	 * Windows are compared by their times: on a busy machine the child would be interrupted in
	 * nearly every one. Without the privilege the test takes longer.
	 */
	setpriority(PRIO_PROCESS, 0, -20);
	if (branch_snapshots_open(&scene->snapshots, 1, NULL) < 0)
		return 0;
	program = branch_snapshots_probe(scene->snapshots);
	scene->child = fork();
	if (scene->child == 0)
		child_run(scene->iterations);
	return branch_probes_open(&scene->probes, &program, 100, NULL);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	branch_probes_close(scene->probes);
	branch_snapshots_close(scene->snapshots);
	if (scene->child > 0) {
		kill(scene->child, SIGKILL);
		waitpid(scene->child, NULL, 0);
	}
	munmap((void *)(uintptr_t)scene->iterations, 4096);
	free(scene);
	return 0;
}

/* struct seen - the number of executions of a branch in each direction */
struct seen {
	const char *address;
	uint64_t directions[2];
	bool elsewhere;
};

struct collection {
	struct seen *seen;
	size_t count;
	pid_t pid;
	uint64_t beside[2];
	uint64_t windows;
	uint64_t moments;
	uint64_t squares;
};

static size_t number_of(const struct collection *collection, uint64_t address)
{
	size_t i = 0;

	while (i < collection->count && (uintptr_t)collection->seen[i].address != address)
		i++;
	assert_true(i < collection->count);
	return i;
}

/* All branches are executed once per iteration: two that are probed together have equal counts. */
static void take_beside(struct collection *collection, const struct branch_probe_result *result)
{
	size_t from = number_of(collection, result->from), to = number_of(collection, result->to);

	assert_true(from != to);
	collection->beside[from < to] += result->count;
}

static void take(struct collection *collection, const struct branch_probe_result *result)
{
	assert_int_equal(result->pid, collection->pid);
	assert_true(result->count > 0);
	if (result->event == SOURCE_EVENT_SAME_WINDOW && result->from != result->to)
		take_beside(collection, result);
	else if (result->event == SOURCE_EVENT_SAME_WINDOW)
		collection->windows++;
	if (result->event == SOURCE_EVENT_SECOND_MOMENT)
		collection->moments += result->count;
	if (result->event == SOURCE_EVENT_WEIGHTED && result->from != result->to)
		collection->squares += result->count * result->count;
	if (result->event != SOURCE_EVENT_PROBE)
		return;
	assert_true(result->time_ns <= clock_monotonic_ns());
	for (size_t i = 0; i < collection->count; i++) {
		struct seen *seen = &collection->seen[i];
		uint64_t next = (uintptr_t)seen->address + (*seen->address == 0x0f ? 6 : 2);

		if (result->from != (uintptr_t)seen->address)
			continue;
		if (result->to == next)
			seen->directions[0] += result->count;
		else if (result->to == next + 1 || result->to == (uintptr_t)branch_return)
			seen->directions[1] += result->count;
		else
			seen->elsewhere = true;
	}
}

static bool take_return(void *context, const struct dcpi_snapshot *snapshot)
{
	struct scene *scene = context;

	if (snapshot->kind != DCPI_SNAPSHOT_PROBE)
		return true;
	if (snapshot->pc != (uintptr_t)branch_return || snapshot->pid != (uint32_t)scene->child)
		scene->returns_elsewhere = true;
	scene->returns++;
	return true;
}

/* Take the time of the first snapshot, and leave it in the buffer. */
static bool leave(void *context, const struct dcpi_snapshot *snapshot)
{
	uint64_t *time_ns = context;

	assert_int_equal(*time_ns, 0);
	*time_ns = snapshot->time_ns;
	return false;
}

/* Take the time of the first snapshot, and the number of snapshots. */
static bool take_all(void *context, const struct dcpi_snapshot *snapshot)
{
	uint64_t *taken = context;

	if (taken[1]++ == 0)
		taken[0] = snapshot->time_ns;
	return true;
}

/* Return true if one execution in @of was taken, within the error of cut-off windows and chance. */
static bool is_part(const uint64_t directions[2], double of)
{
	double all = (double)(directions[0] + directions[1]),
	       off = fabs((double)directions[1] - all / of);

	return off < 0.1 * all / of + 3 * sqrt(all / of);
}

static uint64_t refused(struct scene *scene)
{
	struct branch_probes_stats stats;

	branch_probes_stats(scene->probes, &stats);
	return stats.refused;
}

/* The child is a fork of this process, so the place is the same. */
static struct file_place place_of(const void *address)
{
	struct file_place place = {.inode = 0};
	struct file_mapping mapping;

	if (file_mapping_find(&mapping, (uint32_t)getpid(), (uintptr_t)address) < 0)
		return place;
	place = file_mapping_place(&mapping, (uintptr_t)address);
	file_mapping_close(&mapping);
	return place;
}

static void branch_add(struct scene *scene, const char *address)
{
	struct file_place place = place_of(address);

	branch_probes_add(scene->probes, (uint32_t)scene->child, (uintptr_t)address, &place);
}

static bool can_probe(struct scene *scene)
{
	struct branch_probes_stats stats;
	uint64_t until = clock_monotonic_ns() + WAIT_NS;

	if (scene->probes == NULL)
		return false;
	do {
		branch_add(scene, branch_quarter);
		branch_probes_take(scene->probes);
		usleep(1000);
		branch_probes_stats(scene->probes, &stats);
	} while (stats.opened + stats.refused == 0 && clock_monotonic_ns() < until);
	assert_true(stats.opened + stats.refused > 0);
	return stats.opened > 0;
}

/* Directions of branches are measured by temporary probes; a window may cut an iteration off. */
static void all_executions_count(void **state)
{
	struct scene *scene = *state;
	struct seen seen[] = {
		{.address = branch_quarter}, {.address = branch_never}, {.address = branch_signed}};
	struct collection collection = {.seen = seen, .count = 3, .pid = scene->child};
	uint64_t until = clock_monotonic_ns() + WAIT_NS;
	const struct probe_results *results;

	if (!can_probe(scene)) {
		print_message("# no probes here\n");
		return;
	}
	do {
		for (size_t i = 0; i < 3; i++)
			branch_add(scene, seen[i].address);
		usleep(1000);
		results = branch_probes_take(scene->probes);
		for (uint32_t i = 0; i < results->count; i++)
			take(&collection, &results->item[i]);
	} while ((seen[0].directions[0] < ENOUGH || seen[1].directions[0] < ENOUGH ||
		  seen[2].directions[0] < ENOUGH || collection.beside[0] < ENOUGH) &&
		 clock_monotonic_ns() < until);
	for (size_t i = 0; i < 3; i++) {
		assert_false(seen[i].elsewhere);
		assert_true(seen[i].directions[0] >= ENOUGH);
	}
	assert_true(is_part(seen[0].directions, 4));
	assert_int_equal(seen[1].directions[1], 0);
	assert_true(is_part(seen[2].directions, 8));
	assert_true(collection.windows >= 3);
	assert_true(collection.moments > collection.squares);
	assert_true(collection.beside[0] >= ENOUGH);
	assert_true(collection.beside[1] > collection.beside[0] * 9 / 10);
	assert_true(collection.beside[1] < collection.beside[0] * 11 / 10);
}

static double cpu_ns(pid_t child)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(child, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (double)time.tv_sec * NS_PER_SECOND + (double)time.tv_nsec;
}

/*
 * The time between two executions of branch_seldom is that of a fixed number of iterations. It is
 * compared with the child's own count of iterations in its CPU time, with a tolerance of 2: other
 * processes slow both.
 */
static void gaps_are_measured(void **state)
{
	struct scene *scene = *state;
	uint64_t until = clock_monotonic_ns() + WAIT_NS, iterations;
	double gaps = 0, gap_ns = 0, own_ns;

	if (!can_probe(scene))
		return;
	iterations = *scene->iterations;
	own_ns = cpu_ns(scene->child);
	while (gaps < ENOUGH && clock_monotonic_ns() < until) {
		const struct probe_results *results;

		branch_add(scene, branch_seldom);
		usleep(1000);
		results = branch_probes_take(scene->probes);
		for (uint32_t i = 0; i < results->count; i++) {
			const struct branch_probe_result *result = &results->item[i];
			bool mine = result->from == (uintptr_t)branch_seldom;

			if (mine && result->event == SOURCE_EVENT_INTERVALS)
				gaps += (double)result->count;
			if (mine && result->event == SOURCE_EVENT_INTERVAL_NS)
				gap_ns += (double)result->count;
		}
	}
	assert_true(gaps >= ENOUGH);
	own_ns = (cpu_ns(scene->child) - own_ns) / (double)(*scene->iterations - iterations) * RARE;
	assert_true(gap_ns / gaps > own_ns / 2 && gap_ns / gaps < own_ns * 2);
}

/*
 * Executions of a branch that is executed once per iteration are counted exactly between executions
 * of the rare branch, however much probes slow the child down. Few samples lead to the rare branch,
 * so this measurement seems cheap.
 */
static void rounds_are_counted(void **state)
{
	struct scene *scene = *state;
	uint64_t until = clock_monotonic_ns() + WAIT_NS, often = 0, rounds = 0;
	uint64_t quarter = (uintptr_t)branch_quarter, mark = (uintptr_t)branch_seldom;

	if (!can_probe(scene))
		return;
	while (rounds < 3 && clock_monotonic_ns() < until) {
		const struct probe_results *results;

		for (int i = 0; i < 16; i++)
			branch_add(scene, branch_seldom);
		branch_add(scene, branch_quarter);
		usleep(1000);
		results = branch_probes_take(scene->probes);
		for (uint32_t i = 0; i < results->count; i++) {
			const struct branch_probe_result *result = &results->item[i];

			if (result->event != SOURCE_EVENT_REFERENCE_INTERVAL)
				continue;
			if (result->from == quarter && result->to == mark)
				often += result->count;
			if (result->from == mark && result->to == quarter)
				rounds += result->count;
		}
	}
	assert_true(rounds >= 3);
	assert_in_range(often, rounds * (RARE - 1), rounds * (RARE + 1));
}

static void returns_leave_snapshots(void **state)
{
	struct scene *scene = *state;
	uint64_t until = clock_monotonic_ns() + WAIT_NS;

	if (!can_probe(scene))
		return;
	do {
		branch_add(scene, branch_return);
		usleep(1000);
		branch_snapshots_drain(scene->snapshots, take_return, scene);
		branch_probes_take(scene->probes);
	} while (scene->returns == 0 && clock_monotonic_ns() < until);
	assert_true(scene->returns > 0);
	assert_false(scene->returns_elsewhere);
}

/* A snapshot that cannot be taken yet is delivered by the next drain, with all later ones. */
static void snapshots_wait_for_the_next_drain(void **state)
{
	struct scene *scene = *state;
	uint64_t until = clock_monotonic_ns() + WAIT_NS, left[2] = {0}, taken[2] = {0};

	if (!can_probe(scene))
		return;
	while (left[0] == 0 && clock_monotonic_ns() < until) {
		branch_add(scene, branch_return);
		usleep(1000);
		branch_snapshots_drain(scene->snapshots, leave, &left[0]);
		branch_probes_take(scene->probes);
	}
	assert_int_not_equal(left[0], 0);
	branch_snapshots_drain(scene->snapshots, leave, &left[1]);
	assert_int_equal(left[1], left[0]);
	/*
	 * The branch is executed all the time, and leaves many snapshots before its probe is
	 * removed.
	 */
	while (taken[1] < 2 && clock_monotonic_ns() < until) {
		usleep(1000);
		branch_snapshots_drain(scene->snapshots, take_all, taken);
		branch_probes_take(scene->probes);
	}
	assert_int_equal(taken[0], left[0]);
	assert_true(taken[1] >= 2);
}

/*
 * Requests are refused for an address without a branch, unmapped or not in a file, for a process
 * that does not exist, and for a place in another file or at another offset.
 */
static void the_rest_is_refused(void **state)
{
	struct scene *scene = *state;
	uint64_t heap = (uintptr_t)scene, before, until = clock_monotonic_ns() + WAIT_NS;
	struct file_place here = place_of(no_branch), there = place_of(branch_never);
	struct file_place other = {there.device, there.inode + 1, there.offset};
	const struct {
		pid_t pid;
		uint64_t address;
		const struct file_place *place;
	} cases[] = {
		{scene->child, (uintptr_t)no_branch, &here},
		{scene->child, heap, &there},
		{scene->child, (uintptr_t)scene->iterations, &there},
		{scene->child, 16, &there},
		{scene->child, UINT64_MAX / 4, &there},
		{0x3fffff, (uintptr_t)branch_never, &there},
		{scene->child, (uintptr_t)branch_never, &here},
		{scene->child, (uintptr_t)branch_never, &other},
	};

	if (scene->probes == NULL)
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		before = refused(scene);
		branch_probes_add(scene->probes, (uint32_t)cases[i].pid, cases[i].address,
				  cases[i].place);
		branch_probes_take(scene->probes);
		while (cases[i].address >> 47 == 0 && refused(scene) == before &&
		       clock_monotonic_ns() < until)
			usleep(1000);
		assert_int_equal(refused(scene), before + (cases[i].address >> 47 == 0));
	}
}

/* After probing, the code is the same as before, and the process continues. */
static void the_process_is_as_it_was(void **state)
{
	struct scene *scene = *state;
	uint8_t now[64];
	struct iovec here = {.iov_base = now, .iov_len = sizeof(now)};
	struct iovec there = {.iov_base = (void *)(uintptr_t)turn, .iov_len = sizeof(now)};
	uint64_t iterations, until = clock_monotonic_ns() + WAIT_NS;

	if (!can_probe(scene))
		return;
	branch_probes_close(scene->probes);
	scene->probes = NULL;
	assert_int_equal(process_vm_readv(scene->child, &here, 1, &there, 1, 0), sizeof(now));
	assert_memory_equal(now, (const void *)(uintptr_t)turn, sizeof(now));
	iterations = *scene->iterations;
	while (*scene->iterations < iterations + 1000 && clock_monotonic_ns() < until)
		usleep(1000);
	assert_true(*scene->iterations >= iterations + 1000);
	assert_int_equal(waitpid(scene->child, NULL, WNOHANG), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_executions_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gaps_are_measured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rounds_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(returns_leave_snapshots, set_up, tear_down),
		cmocka_unit_test_setup_teardown(snapshots_wait_for_the_next_drain, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_rest_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_process_is_as_it_was, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
