// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/event/multiplex.h"
#include "lib/clock.h"

static char root[64];

static void put(const char *pmu, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, pmu);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static unsigned int interval(const char *pmu)
{
	unsigned int value = 0;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/perf_event_mux_interval_ms", root, pmu);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &value), 1);
	fclose(file);
	return value;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static void intervals_are_put_back(void **state)
{
	struct event_list events = {.count = 3};
	struct multiplex multiplex;

	(void)state;
	snprintf(root, sizeof(root), "/tmp/dcpi-mux-XXXXXX");
	assert_non_null(mkdtemp(root));
	put("cpu", "type", "4\n");
	put("cpu", "perf_event_mux_interval_ms", "4\n");
	put("other", "type", "9\n");
	put("other", "perf_event_mux_interval_ms", "7\n");
	put("none", "type", "11\n");
	events.event[0].type = 0;
	events.event[1].type = 3;
	events.event[2].type = 11;
	multiplex_open(&multiplex, root, &events, 0);
	assert_int_equal(interval("cpu"), 4);
	multiplex_close(&multiplex);
	multiplex_open(&multiplex, root, &events, 1);
	assert_int_equal(interval("cpu"), 1);
	assert_int_equal(interval("other"), 7);
	assert_int_equal(multiplex.count, 1);
	multiplex_close(&multiplex);
	assert_int_equal(interval("cpu"), 4);
	/* A value that another program has set in the meantime is kept. */
	multiplex_open(&multiplex, root, &events, 1);
	put("cpu", "perf_event_mux_interval_ms", "20\n");
	multiplex_close(&multiplex);
	assert_int_equal(interval("cpu"), 20);
	multiplex_close(&multiplex);
	multiplex_open(&multiplex, "/nonexistent", &events, 5);
	assert_int_equal(multiplex.count, 0);
	assert_int_equal(nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void turns_are_told(void **state)
{
	struct event_list events = {.count = 2};
	struct source_time times[2] = {{1000, 995}, {1000, 1000}};
	char text[256], tiny[8];

	(void)state;
	snprintf(events.event[0].name, sizeof(events.event[0].name), "cycles");
	snprintf(events.event[1].name, sizeof(events.event[1].name), "imiss");
	assert_false(multiplex_describe(&events, times, text, sizeof(text)));
	times[1].running_ns = 500;
	assert_true(multiplex_describe(&events, times, text, sizeof(text)));
	assert_non_null(strstr(text, "imiss 50%"));
	assert_true(multiplex_describe(&events, times, tiny, sizeof(tiny)));
	assert_true(strlen(tiny) < sizeof(tiny));
	times[0] = times[1] = (struct source_time){0, 0};
	assert_false(multiplex_describe(&events, times, text, sizeof(text)));
}

static void looks_once(void **state)
{
	struct event_list events = {.count = 0};
	uint64_t now = clock_monotonic_ns();
	struct multiplex multiplex;

	(void)state;
	multiplex_open(&multiplex, "/nonexistent", &events, 0);
	assert_false(multiplex_due(&multiplex, now + 59 * NS_PER_SECOND));
	assert_true(multiplex_due(&multiplex, now + 70 * NS_PER_SECOND));
	assert_false(multiplex_due(&multiplex, now + 80 * NS_PER_SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_put_back),
		cmocka_unit_test(turns_are_told),
		cmocka_unit_test(looks_once),
	};

	return cmocka_run_group_tests_name("multiplex", tests, NULL, NULL);
}
