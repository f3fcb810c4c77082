// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"
#include "tests/lib/unit.h"
#include "tools/base/time_spec.h"
#include "tools/report/cli.h"
#include "tools/report/epoch_list.h"

#define SECOND 1000000000LL
#define NOW (1700000000LL * SECOND) /* 2023-11-14 22:13:20 UTC */

static void test_valid_times(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} times[] = {
		{"now", 1700000000},
		{"90s", 1700000000 - 90},
		{"10m", 1700000000 - 600},
		{"2h", 1700000000 - 7200},
		{"3d", 1700000000 - 259200},
		{"1w", 1700000000 - 604800},
		{"0s", 1700000000},
		{"@1", 1},
		{"@1700000000", 1700000000},
		{"2023-11-14T22:13:20Z", 1700000000},
		{"2023-11-14 22:13:20Z", 1700000000},
		{"2023-11-14T23:13:20+01:00", 1700000000},
		{"2023-11-14T17:13:20-0500", 1700000000},
		{"2023-11-14T22:13Z", 1700000000 - 20},
		{"2023-11-14 22:13:20", 1700000000 - 3600}, /* local time: UTC + 1 hour */
		{"2023-11-14 22:13", 1700000000 - 3620},
		{"2023-11-14", 1699920000 - 3600},
		{"2024-02-29", 1709164800 - 3600},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		int64_t ns = 0;

		if (time_spec_parse(times[i].text, NOW, &ns, NULL) < 0)
			fail_msg("refused: %s", times[i].text);
		if (ns != times[i].seconds * SECOND)
			fail_msg("%s is %lld", times[i].text, (long long)(ns / SECOND));
	}
}

static void test_invalid_times(void **state)
{
	static const char *const times[] = {
		"",
		"yesterday",
		"10",
		"10x",
		"m",
		"-5m",
		"1h30m",
		"@",
		"@x",
		"@-1",
		"@0",
		"@99999999999999999999",
		"2023-13-01",
		"2023-02-30",
		"2023-02-29",
		"2023-11-14 25:00",
		"2023-11-14T",
		"2023-11-14junk",
		"2023-11-14T10:00+99",
		"99999999999w",
		"1970-01-01T00:00:00Z",
		"5000000000s",
		"2023-11-14T10:00:00Zulu",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct error err = {0};
		int64_t ns = -7;

		if (time_spec_parse(times[i], NOW, &ns, &err) != -EINVAL)
			fail_msg("taken: \"%s\" is %lld", times[i], (long long)(ns / SECOND));
		assert_true(err.message[0] != '\0');
	}
}

/* A formatted time is parsed to the same time, in every time zone. */
static void test_times_round_trip(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		time_t seconds = (time_t)(1 + unit_random(&seed) % 4000000000ULL);
		char text[64];
		struct tm parts;
		int64_t ns;

		gmtime_r(&seconds, &parts);
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
		assert_int_equal(time_spec_parse(text, NOW, &ns, NULL), 0);
		assert_true(ns == seconds * SECOND);
		localtime_r(&seconds, &parts);
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S%z", &parts);
		assert_int_equal(time_spec_parse(text, NOW, &ns, NULL), 0);
		assert_true(ns == seconds * SECOND);
	}
}

static void test_epoch_lists(void **state)
{
	struct epoch_list list = {0};

	(void)state;
	assert_true(epoch_list_empty(&list));
	assert_true(epoch_list_selects(&list, 5, false));
	assert_int_equal(epoch_list_parse(&list, "2,5-7,last", NULL), 0);
	assert_false(epoch_list_empty(&list));
	for (int64_t id = 1; id < 20; id++) {
		assert_int_equal(epoch_list_selects(&list, id, false),
				 id == 2 || (id >= 5 && id <= 7));
		assert_true(epoch_list_selects(&list, id, true));
	}
	epoch_list_deinit(&list);
	/* A list without "last" consists of the numbers only. */
	assert_int_equal(epoch_list_parse(&list, "1-9223372036854775807", NULL), 0);
	assert_true(epoch_list_selects(&list, INT64_MAX, false));
	epoch_list_deinit(&list);
	assert_int_equal(epoch_list_parse(&list, "3", NULL), 0);
	assert_false(epoch_list_selects(&list, 4, true));
	epoch_list_deinit(&list);
}

static void test_invalid_epoch_lists(void **state)
{
	static const char *const lists[] = {
		"",  "0",  "-1",     "1-",    "5-2", "1,,2", "1,",
		"a", "1a", "last-3", "1-2-3", " 1",  "+1",   "9223372036854775808"};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct epoch_list list = {0};
		struct error err = {0};

		if (epoch_list_parse(&list, lists[i], &err) != -EINVAL)
			fail_msg("taken: \"%s\"", lists[i]);
		assert_true(err.message[0] != '\0');
		epoch_list_deinit(&list);
	}
}

static void test_numbers(void **state)
{
	static const char *const wrong[] = {
		"", "0", "-1", "+1", " 1", "1 ", "0x10", "1e3", "99999999999999999999"};
	int64_t number;

	(void)state;
	assert_int_equal(cli_number("9223372036854775807", "number", &number, NULL), 0);
	assert_true(number == INT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(cli_number(wrong[i], "number", &number, NULL), -EINVAL);
}

static int use_zone(void **state)
{
	(void)state;
	/* One hour east, without daylight saving: needs no time zone file. */
	setenv("TZ", "XXX-1", 1);
	tzset();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid_times),	    cmocka_unit_test(test_invalid_times),
		cmocka_unit_test(test_times_round_trip),    cmocka_unit_test(test_epoch_lists),
		cmocka_unit_test(test_invalid_epoch_lists), cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, use_zone, NULL);
}
