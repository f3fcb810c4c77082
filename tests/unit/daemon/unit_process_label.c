// SPDX-License-Identifier: GPL-2.0-only
/* Labels of processes, compared with a model in which /proc changes. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cgroup.h"
#include "daemon/base/counter_set.h"
#include "daemon/collect/label_table.h"
#include "daemon/collect/process_label.h"
#include "lib/error.h"
#include "loader-hook/image_event.h"

#define SECOND UINT64_C(1000000000)

/* Simulated /proc: unit of each process, 0: no such process, 1: no unit. */
static unsigned int unit_of[100000];
static unsigned int reads;
static struct process_labels *labels;
static uint64_t now;
/* True if the last result will not change. */
static bool settled;

static int read_model(struct cgroup *ret, uint32_t pid)
{
	reads++;
	if (unit_of[pid] == 0)
		return -ENOENT;
	memset(ret, 0, sizeof(*ret));
	if (unit_of[pid] > 1)
		snprintf(ret->unit, sizeof(ret->unit), "%u.service", unit_of[pid]);
	return 0;
}

static void begin(void)
{
	struct error err;

	memset(unit_of, 0, sizeof(unit_of));
	reads = 0;
	now = SECOND;
	assert_int_equal(process_labels_create(&labels, read_model, &err), 0);
}

static void end(void)
{
	process_labels_destroy(labels);
	labels = NULL;
}

static void event(enum image_event_type type, uint32_t pid, uint32_t parent, bool scanned)
{
	const struct image_event event = {
		.type = type,
		.pid = pid,
		.parent = parent,
		.time_ns = now,
		.path = "",
		.scanned = scanned,
	};

	process_labels_event(labels, &event);
}

/* Return the unit of a label, 0: LABEL_NONE. */
static unsigned int unit_now(uint32_t pid)
{
	uint32_t number = process_labels_get(labels, pid, now, &settled);
	unsigned int unit = 0;

	if (number != LABEL_NONE)
		sscanf(label_table_get(process_labels_table(labels), number).unit, "%u", &unit);
	return unit;
}

static uint64_t counter(const char *name)
{
	struct counter_set tally = {.count = 0};

	process_labels_counters(labels, &tally);
	return counter_set_get(&tally, "stat", name);
}

static void reads_once_an_exec(void **state)
{
	(void)state;
	begin();
	unit_of[7] = 5;
	event(IMAGE_EVENT_FORK, 7, 0, true);
	assert_int_equal(reads, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(unit_now(7), 5);
	assert_int_equal(reads, 1);
	/* A move without an exec does not change the label, even after a second scan. */
	unit_of[7] = 6;
	event(IMAGE_EVENT_FORK, 7, 0, true);
	assert_int_equal(unit_now(7), 5);
	event(IMAGE_EVENT_EXEC, 7, 0, false);
	assert_int_equal(unit_now(7), 6);
	assert_int_equal(unit_now(7), 6);
	assert_int_equal(reads, 2);
	unit_of[7] = 1;
	event(IMAGE_EVENT_EXEC, 7, 0, false);
	assert_int_equal(unit_now(7), 0);
	assert_int_equal(unit_now(0), 0);
	assert_int_equal(reads, 3);
	end();
}

/*
 * A process that ends before it can be read has its parent's label, even if it is very short-lived.
 */
static void children_inherit(void **state)
{
	(void)state;
	begin();
	unit_of[10] = 3;
	event(IMAGE_EVENT_FORK, 10, 1, true);
	for (uint32_t pid = 11; pid < 1000; pid++) {
		event(IMAGE_EVENT_FORK, pid, 10, false);
		event(IMAGE_EVENT_EXEC, pid, 0, false);
		event(IMAGE_EVENT_EXIT, pid, 0, false);
		assert_int_equal(unit_now(pid), 3);
	}
	/* Reads of the parent's own parent, which does not exist, and of the parent. */
	assert_int_equal(reads, 2);
	/* An ended process without an exit event is read once. */
	event(IMAGE_EVENT_FORK, 2000, 10, false);
	event(IMAGE_EVENT_EXEC, 2000, 0, false);
	assert_int_equal(unit_now(2000), 3);
	assert_true(settled);
	assert_int_equal(unit_now(2000), 3);
	assert_int_equal(reads, 3);
	assert_int_equal(counter("label_gone"), 2);
	end();
}

static void pids_are_used_again(void **state)
{
	size_t bytes;

	(void)state;
	begin();
	unit_of[1] = 1;
	unit_of[10] = 3;
	event(IMAGE_EVENT_FORK, 1, 0, true);
	event(IMAGE_EVENT_FORK, 10, 1, false);
	event(IMAGE_EVENT_EXEC, 10, 0, false);
	assert_int_equal(unit_now(10), 3);
	event(IMAGE_EVENT_EXIT, 10, 0, false);
	assert_int_equal(unit_now(10), 3);
	now += SECOND;
	unit_of[10] = 4;
	event(IMAGE_EVENT_FORK, 10, 1, false);
	event(IMAGE_EVENT_EXEC, 10, 0, false);
	/* The exit of the first process does not remove the second one. */
	process_labels_expire(labels, now);
	assert_int_equal(unit_now(10), 4);
	event(IMAGE_EVENT_EXIT, 10, 0, false);
	process_labels_expire(labels, now);
	assert_int_equal(unit_now(10), 4);
	process_labels_expire(labels, now + 1);
	unit_of[10] = 0;
	assert_int_equal(unit_now(10), 0);
	assert_false(settled); /* there was no event of it */
	/* With many short-lived processes, memory is that of the largest number at one time. */
	for (unsigned int round = 0; round < 50; round++) {
		now += SECOND;
		for (uint32_t pid = 100; pid < 1100; pid++) {
			event(IMAGE_EVENT_FORK, pid, 1, false);
			event(IMAGE_EVENT_EXIT, pid, 0, false);
		}
		process_labels_expire(labels, now + 1);
		if (round == 0)
			bytes = process_labels_bytes(labels);
		/*
		 * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): set in round 0
		 */
		assert_int_equal(process_labels_bytes(labels), bytes);
	}
	end();
}

/* Above the limit the parent's label is used, and the process is read at a later sample. */
static void reading_is_limited(void **state)
{
	(void)state;
	begin();
	unit_of[1] = 2;
	event(IMAGE_EVENT_FORK, 1, 0, true);
	for (uint32_t pid = 100; pid < 1100; pid++) {
		unit_of[pid] = 3;
		event(IMAGE_EVENT_FORK, pid, 1, false);
		event(IMAGE_EVENT_EXEC, pid, 0, false);
		assert_int_equal(unit_now(pid), pid < 99 + PROCESS_LABEL_READS ? 3 : 2);
		assert_int_equal(settled, pid < 99 + PROCESS_LABEL_READS);
	}
	assert_true(reads <= PROCESS_LABEL_READS + 1);
	assert_true(counter("label_put_off") > 0);
	for (unsigned int second = 0; second < 1000 / PROCESS_LABEL_READS; second++) {
		now += SECOND;
		for (uint32_t pid = 100; pid < 1100; pid++)
			unit_now(pid);
	}
	for (uint32_t pid = 100; pid < 1100; pid++)
		assert_int_equal(unit_now(pid), 3);
	assert_int_equal(reads, 1001);
	end();
}

/* A full table is cleared at the start of an epoch, and running processes are read again. */
static void numbers_begin_anew(void **state)
{
	(void)state;
	begin();
	unit_of[1] = 2;
	event(IMAGE_EVENT_FORK, 1, 0, true);
	for (uint32_t pid = 100; pid < 100 + LABEL_TABLE_MAX; pid++) {
		now += SECOND;
		unit_of[pid] = pid;
		event(IMAGE_EVENT_FORK, pid, 1, false);
		event(IMAGE_EVENT_EXEC, pid, 0, false);
		if (pid == 100 + LABEL_TABLE_MAX / 2 - 10)
			process_labels_epoch(labels);
		process_labels_get(labels, pid, now, &settled);
	}
	assert_int_equal(process_labels_get(labels, 99 + LABEL_TABLE_MAX, now, &settled),
			 LABEL_OTHER);
	assert_int_equal(unit_now(100), 100);
	process_labels_epoch(labels);
	assert_int_equal(label_table_count(process_labels_table(labels)), LABEL_OTHER);
	assert_int_equal(unit_now(99 + LABEL_TABLE_MAX), 99 + LABEL_TABLE_MAX);
	assert_int_equal(unit_now(1), 2);
	/* A process that ended before has no label, in particular not that of another one. */
	event(IMAGE_EVENT_EXIT, 100, 0, false);
	assert_int_equal(unit_now(100), 0);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_once_an_exec),  cmocka_unit_test(children_inherit),
		cmocka_unit_test(pids_are_used_again), cmocka_unit_test(reading_is_limited),
		cmocka_unit_test(numbers_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
