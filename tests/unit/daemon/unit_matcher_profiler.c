// SPDX-License-Identifier: GPL-2.0-only
/* Samples of the profiler's own processes, in any image, have a profile of their own. */
#include "tests/lib/unit.h"

#include "tests/fixtures/fake_machine.h"

#include "daemon/collect/matcher.h"

enum {
	LIBRARY = 1, /* number of an image of the fake machine */
	DCPID = 3,
	WORK = 4, /* processes */
	PROFILER = 5,
	CHILD = 6,
};

static const uint64_t kernel_pc = MACHINE_MODULES + 5;

static int64_t owner_of(struct matcher *matcher, uint32_t pid, uint64_t pc)
{
	const struct dcpi_sample sample = {
		.pc = pc, .tag = dcpi_tag(pid, fake_machine.generation[pid], 0) | 1};

	return matcher_match(matcher, &sample)->owner;
}

static uint64_t page_pc(uint64_t page)
{
	return MACHINE_BASE + page * MACHINE_STRIDE + 9;
}

/* A process executes a program in page 0, with a library in page 1. */
static void execute(uint32_t pid, int image)
{
	struct image_event *exec;

	fake_machine_tell_exec(pid);
	exec = &fake_feed.events[fake_feed.count - 1];
	exec->has_generation = true;
	exec->generation = fake_machine.generation[pid];
	fake_machine_tell_map(pid, 0, 1, image);
	fake_machine_tell_map(pid, 1, 1, LIBRARY);
}

static struct matcher *machine_open(void)
{
	static const struct matcher_config config = {.source = &fake_machine_source, .units = true};
	struct matcher *matcher = fake_machine_open(&config);

	execute(WORK, LIBRARY + 1);
	execute(PROFILER, DCPID);
	matcher_events(matcher);
	fake_machine.module_loads = MACHINE_PAGES;
	matcher_refresh(matcher);
	return matcher;
}

static void samples_in_any_image(void **state)
{
	struct matcher *matcher = machine_open();
	const struct dcpi_sample sample = {
		.pc = page_pc(1), .tag = dcpi_tag(PROFILER, fake_machine.generation[PROFILER], 0)};

	(void)state;
	/* In both orders: one's match must not serve the other. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(owner_of(matcher, WORK, kernel_pc), PROFILE_PID_ALL);
		assert_int_equal(owner_of(matcher, PROFILER, kernel_pc), PROFILE_PID_PROFILER);
		assert_int_equal(owner_of(matcher, WORK, page_pc(1)), PROFILE_PID_ALL);
		assert_int_equal(owner_of(matcher, PROFILER, page_pc(1)), PROFILE_PID_PROFILER);
	}
	/* The profiler's own image needs no mark: reports recognise it. */
	assert_int_equal(owner_of(matcher, PROFILER, page_pc(0)), PROFILE_PID_ALL);
	/* Unknown places have no image, so that reasons for them are complete. */
	assert_int_equal(owner_of(matcher, PROFILER, page_pc(3)), PROFILE_PID_ALL);
	/* Shares of units do not distinguish them. */
	assert_int_equal(matcher_match(matcher, &sample)->label, 0);
	matcher_close(matcher);
}

/* A child is the profiler's until it executes another program. */
static void programs_follow_one_another(void **state)
{
	struct matcher *matcher = machine_open();

	(void)state;
	fake_machine_tell(IMAGE_EVENT_FORK, CHILD)->parent = PROFILER;
	fake_machine.generation[CHILD] = fake_machine.generation[PROFILER];
	matcher_events(matcher);
	assert_int_equal(owner_of(matcher, CHILD, kernel_pc), PROFILE_PID_PROFILER);
	assert_int_equal(owner_of(matcher, CHILD, page_pc(1)), PROFILE_PID_PROFILER);
	execute(CHILD, LIBRARY + 1);
	execute(WORK, DCPID);
	matcher_events(matcher);
	assert_int_equal(owner_of(matcher, CHILD, kernel_pc), PROFILE_PID_ALL);
	assert_int_equal(owner_of(matcher, CHILD, page_pc(1)), PROFILE_PID_ALL);
	assert_int_equal(owner_of(matcher, WORK, kernel_pc), PROFILE_PID_PROFILER);
	fake_machine.generation[CHILD]--;
	fake_machine.generation[WORK]--;
	assert_int_equal(owner_of(matcher, CHILD, page_pc(1)), PROFILE_PID_PROFILER);
	assert_int_equal(owner_of(matcher, WORK, page_pc(1)), PROFILE_PID_ALL);
	matcher_close(matcher);
}

/* The flush after a process has ended releases its number, and keeps those of others. */
static void numbers_are_released(void **state)
{
	struct matcher *matcher = machine_open();

	(void)state;
	fake_machine_tell(IMAGE_EVENT_EXIT, PROFILER);
	execute(WORK, DCPID);
	matcher_events(matcher);
	matcher_expire(matcher, UINT64_MAX);
	assert_false(match_cache_is_divided(matcher_cache(matcher), PROFILER));
	assert_true(match_cache_is_divided(matcher_cache(matcher), WORK));
	assert_int_equal(owner_of(matcher, WORK, kernel_pc), PROFILE_PID_PROFILER);
	matcher_close(matcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_in_any_image),
		cmocka_unit_test(programs_follow_one_another),
		cmocka_unit_test(numbers_are_released),
	};

	return cmocka_run_group_tests_name("matcher_profiler", tests, NULL, NULL);
}
