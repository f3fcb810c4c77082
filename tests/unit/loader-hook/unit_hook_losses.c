// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <string.h>

#include "loader-hook/bpf/hook_losses.h"

#define SECOND 1000000000ULL

/* The last event, and the number of events. */
struct log {
	struct image_event event;
	size_t count;
};

static void note(void *context, const struct image_event *event)
{
	struct log *log = context;

	log->event = *event;
	log->count++;
}

static void test_no_loss_no_event(void **state)
{
	const struct hook_counts none = {0};
	struct hook_losses losses = {0};
	struct log log = {.count = 0};
	uint64_t now;

	(void)state;
	for (now = SECOND; now < 10 * SECOND; now += SECOND / 10)
		assert_int_equal(hook_losses_check(&losses, &none, now, now + 5, note, &log), 0);
	assert_int_equal(log.count, 0);
}

/* The kernel skipped a run: the window is from the previous look to the end of this one. */
static void test_missed_run_opens_interval(void **state)
{
	struct hook_counts counts = {0};
	struct hook_losses losses = {0};
	struct log log = {.count = 0};

	(void)state;
	hook_losses_check(&losses, &counts, 3 * SECOND, 3 * SECOND + 10, note, &log);
	counts.runs = 1;
	assert_int_equal(
		hook_losses_check(&losses, &counts, 4 * SECOND, 4 * SECOND + 10, note, &log),
		HOOK_LOSSES_ALL);
	assert_int_equal(log.count, 1);
	assert_int_equal(log.event.type, IMAGE_EVENT_LOST);
	assert_int_equal(log.event.pid, 0);
	assert_int_equal(log.event.time_ns, 3 * SECOND);
	assert_int_equal(log.event.until_ns, 4 * SECOND + 10);
	assert_int_equal(
		hook_losses_check(&losses, &counts, 5 * SECOND, 5 * SECOND + 10, note, &log), 0);
	assert_int_equal(log.count, 1);
}

static void test_reads_named_processes_only(void **state)
{
	struct hook_counts counts = {.records = 7};
	struct hook_losses losses = {0};
	struct log log = {.count = 0};

	(void)state;
	assert_int_equal(hook_losses_check(&losses, &counts, SECOND, SECOND, note, &log),
			 HOOK_LOSSES_NAMED);
	assert_int_equal(log.count, 0);
	counts = (struct hook_counts){.records = 8, .unnamed = 1};
	assert_int_equal(hook_losses_check(&losses, &counts, 2 * SECOND, 2 * SECOND, note, &log),
			 HOOK_LOSSES_NAMED | HOOK_LOSSES_ALL);
	assert_int_equal(log.count, 1);
}

/*
 * For any order of events, each loss is in a window that is reported at the next look and begins
 * before the loss. All processes are scanned after it, less than a second and a look later, but at
 * most once a second.
 */
static void test_reports_and_rescans_each_loss(void **state)
{
	struct hook_losses losses = {0};
	struct hook_counts counts = {0};
	struct log log = {.count = 0};
	uint64_t random = 1, now = SECOND, scanned = 0, first_loss = 0;
	int round;

	(void)state;
	hook_losses_check(&losses, &counts, now, now, note, &log);
	for (round = 0; round < 100000; round++) {
		bool lost = unit_random(&random) % 8 == 0;
		uint64_t at = now + unit_random(&random) % (SECOND / 4), end;
		unsigned int read;

		if (lost && unit_random(&random) % 2)
			counts.runs += 1 + unit_random(&random) % 3;
		else if (lost)
			counts.unnamed++;
		if (lost && first_loss == 0)
			first_loss = at;
		now = at + unit_random(&random) % (SECOND / 4);
		end = now + unit_random(&random) % 1000;
		memset(&log, 0, sizeof(log));
		read = hook_losses_check(&losses, &counts, now, end, note, &log);
		assert_int_equal(log.count, lost);
		if (lost)
			assert_true(log.event.time_ns <= at && log.event.until_ns >= at);
		if (read & HOOK_LOSSES_ALL) {
			assert_true(first_loss != 0);
			assert_true(end - scanned >= SECOND);
			scanned = end;
			first_loss = 0;
		}
		assert_true(first_loss == 0 || end < scanned + SECOND);
	}
}

/* Named processes, which arrive as fast as they are read. */
struct named {
	unsigned int waiting;
	unsigned int coming;
	unsigned int read;
	uint64_t since_ns;
};

static bool named_take(void *context, uint32_t *pid)
{
	struct named *named = context;

	if (named->waiting == 0)
		return false;
	named->waiting--;
	*pid = 77;
	return true;
}

static void named_read(void *context, uint32_t pid, uint64_t since_ns)
{
	struct named *named = context;

	assert_int_equal(pid, 77);
	named->read++;
	named->since_ns = since_ns;
	if (named->coming > 0) {
		named->coming--;
		named->waiting++;
	}
}

/*
 * A drain is bounded. Processes that are left are read in the next one, with the time since then.
 */
static void test_reads_named_processes_in_batches(void **state)
{
	struct named named = {.waiting = 10, .coming = 2000};
	struct hook_counts counts = {.records = 0};
	struct hook_losses losses = {0};
	struct log log = {.count = 0};

	(void)state;
	hook_losses_check(&losses, &counts, SECOND, SECOND, note, &log);
	counts.records = 10;
	assert_int_equal(hook_losses_check(&losses, &counts, 2 * SECOND, 2 * SECOND, note, &log),
			 HOOK_LOSSES_NAMED);
	hook_losses_named(&losses, named_take, named_read, &named);
	assert_int_equal(named.read, HOOK_LOSSES_NAMED_MAX);
	assert_int_equal(named.since_ns, SECOND);
	/* No new loss is known. */
	assert_int_equal(hook_losses_check(&losses, &counts, 3 * SECOND, 3 * SECOND, note, &log),
			 HOOK_LOSSES_NAMED);
	hook_losses_named(&losses, named_take, named_read, &named);
	assert_int_equal(named.read, 2010);
	assert_int_equal(named.since_ns, SECOND);
	assert_int_equal(hook_losses_check(&losses, &counts, 4 * SECOND, 4 * SECOND, note, &log),
			 0);
	named.waiting = 1;
	counts.records++;
	assert_int_equal(hook_losses_check(&losses, &counts, 5 * SECOND, 5 * SECOND, note, &log),
			 HOOK_LOSSES_NAMED);
	hook_losses_named(&losses, named_take, named_read, &named);
	assert_int_equal(named.since_ns, 4 * SECOND);
	assert_int_equal(log.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_loss_no_event),
		cmocka_unit_test(test_missed_run_opens_interval),
		cmocka_unit_test(test_reads_named_processes_only),
		cmocka_unit_test(test_reports_and_rescans_each_loss),
		cmocka_unit_test(test_reads_named_processes_in_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
