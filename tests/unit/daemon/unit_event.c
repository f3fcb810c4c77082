// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/event/event.h"
#include "lib/error.h"

#define GHZ 1000000000ULL

static const char *const names[] = {
	"cycles",	    "instructions", "cache-references",
	"cache-misses",	    "branches",	    "branch-misses",
	"cpu-clock",	    "task-clock",   "page-faults",
	"context-switches", "rc0",	    "r1a2b3c4d5e6f7890",
};

static uint64_t shortest_of(const char *name)
{
	return strstr(name, "-clock") != NULL ? DCPI_CLOCK_PERIOD_MIN : DCPI_PERIOD_MIN;
}

/* A formatted list parses to the same list, for all lengths and windows. */
static void lists_round_trip(void **state)
{
	uint64_t seed = 1;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size_t known = sizeof(names) / sizeof(names[0]);
		size_t most = known < DCPI_EVENTS_MAX ? known : DCPI_EVENTS_MAX;
		size_t count = 1 + unit_random(&seed) % most;
		size_t first = unit_random(&seed) % known, i;
		uint64_t min[DCPI_EVENTS_MAX], max[DCPI_EVENTS_MAX];
		struct event_list list;
		char spec[1024] = "";

		for (i = 0; i < count; i++) {
			const char *name = names[(first + i) % known];
			uint64_t shortest = shortest_of(name);
			char word[128];

			min[i] = shortest +
				 (unit_random(&seed) >> 1) % (DCPI_PERIOD_MAX - shortest + 1);
			max[i] = min[i] + unit_random(&seed) % (DCPI_PERIOD_MAX - min[i] + 1);
			if (unit_random(&seed) % 4 == 0)
				max[i] = min[i];
			snprintf(word, sizeof(word),
				 max[i] == min[i] ? "%s%s:%llu" : "%s%s:%llu-%llu",
				 i > 0 ? "," : "", name, (unsigned long long)min[i],
				 (unsigned long long)max[i]);
			strcat(spec, word);
		}
		assert_int_equal(event_list_parse(&list, spec, GHZ, NULL), 0);
		assert_int_equal(list.count, count);
		for (i = 0; i < count; i++) {
			assert_string_equal(list.event[i].name, names[(first + i) % known]);
			assert_int_equal(list.event[i].period_min, min[i]);
			assert_int_equal(list.event[i].period_max, max[i]);
		}
	}
}

static void codes_are_perf_s(void **state)
{
	struct event_list list;

	(void)state;
	assert_int_equal(event_list_parse(&list, "cycles,cpu-clock,r00ff,page-faults", GHZ, NULL),
			 0);
	assert_int_equal(list.event[0].type, 0);
	assert_int_equal(list.event[0].config, 0);
	assert_string_equal(list.event[0].unit, "cycles");
	assert_int_equal(list.event[1].type, 1);
	assert_int_equal(list.event[1].config, 0);
	assert_string_equal(list.event[1].unit, "ns");
	assert_int_equal(list.event[2].type, 4);
	assert_int_equal(list.event[2].config, 0xff);
	assert_string_equal(list.event[2].unit, "events");
	assert_int_equal(list.event[3].type, 1);
	assert_int_equal(list.event[3].config, 2);
}

static void errors_name_the_word(void **state)
{
	static const struct {
		const char *spec, *word;
	} bad[] = {
		{"", "''"},
		{"cycels", "'cycels'"},
		{"cycles,", "''"},
		{"cycles,,cpu-clock", "''"},
		{"cycles,nonsense:70000", "'nonsense'"},
		{"cycles:", "''"},
		{"cycles:x", "'x'"},
		{"cycles:-5", "'-5'"},
		{"cycles:60000-", "'60000-'"},
		{"cycles: 60000", "' 60000'"},
		{"cycles:+60000", "'+60000'"},
		{"cycles:60000-64000-70000", "'60000-64000-70000'"},
		{"cycles:64000-60000", "'64000-60000'"},
		{"cycles:999", "'999'"},
		{"cycles:0", "'0'"},
		{"cycles:1099511627777", "'1099511627777'"},
		{"cycles:99999999999999999999999", "99999999999999999999999"},
		{"cpu-clock:60000:70000", "'60000'"},
		{"cycles:u:k", "'u:k'"},
		{"faults,page-faults", "'page-faults' is given twice, also as faults"},
		{"cpu-clock:49999", "'49999'"},
		{"task-clock:1000-60000", "'1000-60000'"},
		{"cpu-clock:49999", "50000-1099511627776"},
		{"r", "'r'"},
		{"rxyz", "'rxyz'"},
		{"r11112222333344445", "'r11112222333344445'"},
		{"cycles,cycles", "'cycles'"},
		{"r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10,r11", "'r11'"},
	};
	struct event_list list = {.count = 77};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(event_list_parse(&list, bad[i].spec, GHZ, &err), -EINVAL);
		assert_non_null(strstr(err.message, bad[i].word));
		assert_null(strchr(err.message, '\n'));
		assert_int_equal(list.count, 77);
	}
}

/* Arbitrary text does not crash the parser, and accepted values are in range. */
static void garbage_is_refused_or_sane(void **state)
{
	static const char letters[] = "cyles:,-0123456789rx \n\xff";
	static const char *const starts[] = {"", "cycles:", "cpu-clock:"};
	uint64_t seed = 3;
	int round, accepted = 0;

	(void)state;
	for (round = 0; round < 200000; round++) {
		char spec[40] = "";
		size_t length = unit_random(&seed) % 12, i, at;
		struct event_list list;

		at = (size_t)snprintf(spec, sizeof(spec), "%s", starts[unit_random(&seed) % 3]);
		for (i = 0; i < length; i++)
			spec[at++] = letters[unit_random(&seed) % (sizeof(letters) - 1)];
		spec[at] = '\0';
		if (event_list_parse(&list, spec, GHZ, NULL) < 0)
			continue;
		accepted++;
		for (i = 0; i < list.count; i++) {
			assert_true(list.event[i].period_min >= shortest_of(list.event[i].name));
			assert_true(list.event[i].period_max <= DCPI_PERIOD_MAX);
			assert_true(list.event[i].period_min <= list.event[i].period_max);
		}
	}
	assert_true(accepted > 100);
}

static void defaults_keep_the_rate(void **state)
{
	struct event_list list;
	uint64_t hz;

	(void)state;
	/* The paper's values: 333 MHz, 60K to 64K. */
	assert_int_equal(event_list_parse(&list, "cycles", 333 * GHZ / 1000, NULL), 0);
	assert_int_equal(list.event[0].period_min, 60 * 1024);
	assert_int_equal(list.event[0].period_max, 64 * 1024);
	for (hz = GHZ / 2; hz < 8 * GHZ; hz += 77777777) {
		assert_int_equal(event_list_parse(&list, "cycles,cpu-clock", hz, NULL), 0);
		assert_int_equal(list.event[0].period_max, hz / EVENT_RATE);
		assert_int_equal(list.event[1].period_max, GHZ / EVENT_RATE);
		assert_int_equal(list.event[0].period_min,
				 list.event[0].period_max - list.event[0].period_max / 16);
	}
}

static void rates_are_limited(void **state)
{
	uint64_t seed = 5;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		uint64_t min = DCPI_CLOCK_PERIOD_MIN + unit_random(&seed) % 10000000;
		uint64_t max = min + unit_random(&seed) % 1000000;
		uint64_t rate = 1 + unit_random(&seed) % 100000,
			 hz = GHZ + unit_random(&seed) % GHZ;
		struct event_list list, before;
		unsigned int changed;
		char spec[200];

		snprintf(spec, sizeof(spec), "cycles:%llu-%llu,cpu-clock:%llu-%llu,branches:%llu",
			 (unsigned long long)min, (unsigned long long)max, (unsigned long long)min,
			 (unsigned long long)max, (unsigned long long)min);
		assert_int_equal(event_list_parse(&list, spec, hz, NULL), 0);
		before = list;
		changed = event_list_limit_rate(&list, hz, rate);
		assert_true(list.event[0].period_min * rate >= hz);
		assert_true(list.event[1].period_min * rate >= GHZ);
		assert_int_equal(list.event[2].period_min, min);
		assert_int_equal(changed & 1,
				 before.event[0].period_min != list.event[0].period_min);
		assert_int_equal(changed & 4, 0);
		assert_true(list.event[0].period_max >= list.event[0].period_min);
		assert_int_equal(event_list_limit_rate(&list, hz, rate), 0);
	}
}

static uint32_t sampled_type;

static bool sampled_some(const struct event_code *code)
{
	return code->type == sampled_type;
}

static bool sampled_all(const struct event_code *code)
{
	(void)code;
	return true;
}

static void machine_is_described(void **state)
{
	struct event_machine machine = {.devices = "/nonexistent", .sampled = sampled_some};
	struct event_list list;
	int which;

	(void)state;
	assert_in_range(event_cpu_hz(), GHZ / 20, 20 * GHZ);
	for (which = 0; which < 3; which++) {
		sampled_type = which == 1 ? 0 : which == 2 ? 3 : 99;
		event_list_default(&list, &machine, GHZ);
		/* Cache events without cycles are not sufficient. */
		assert_int_equal(list.count, 1);
		assert_string_equal(list.event[0].name, which == 1 ? "cycles" : "cpu-clock");
	}
	machine.sampled = sampled_all;
	event_list_default(&list, &machine, GHZ);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.event[0].name, "cycles");
	assert_string_equal(list.event[1].name, "imiss");
	assert_int_equal(list.event[1].type, 3);
	assert_int_equal(list.event[1].config, 0x10001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_round_trip),
		cmocka_unit_test(codes_are_perf_s),
		cmocka_unit_test(errors_name_the_word),
		cmocka_unit_test(garbage_is_refused_or_sane),
		cmocka_unit_test(defaults_keep_the_rate),
		cmocka_unit_test(rates_are_limited),
		cmocka_unit_test(machine_is_described),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
