// SPDX-License-Identifier: GPL-2.0-only
/* Suggestions for a name that does not exist. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/near_names.h"

static const char *const all[] = {
	"main",		  "main.spin", "spin_lock", "queue_spin_wait",
	"compress_block", "RtlCopy",   "RtlCopi",   "unrelated",
	"backfill",	  "fill_end",  ")(",	    "Zed::fill(int (*)(int)) const",
};

static void assert_near(const char *wanted, const char *text)
{
	struct near_names near;
	char got[256];

	/* The order in which names are added makes no difference. */
	for (int backwards = 0; backwards < 2; backwards++) {
		size_t count = sizeof(all) / sizeof(all[0]);

		near_names_init(&near, wanted);
		for (size_t i = 0; i < 2 * count; i++)
			near_names_add(&near,
				       all[backwards ? (2 * count - 1 - i) % count : i % count]);
		near_names_text(&near, got, sizeof(got));
		assert_string_equal(got, text);
		near_names_deinit(&near);
	}
}

static void test_suggestions(void **state)
{
	(void)state;
	assert_near("spin", " (did you mean 'main.spin', 'spin_lock', 'queue_spin_wait'?)");
	assert_near("fill",
		    " (did you mean 'Zed::fill(int (*)(int)) const', 'backfill', 'fill_end'?)");
	assert_near("ZED::fill", " (did you mean 'Zed::fill(int (*)(int)) const'?)");
	assert_near("rtlcopy", " (did you mean 'RtlCopy'?)");
	assert_near("relcopy", " (did you mean 'RtlCopy'?)");
	assert_near("rtlcop", " (did you mean 'RtlCopi', 'RtlCopy'?)");
	assert_near("compres_block", " (did you mean 'compress_block'?)");
	assert_near("unrelaetd", " (did you mean 'unrelated'?)"); /* two letters swapped */
	assert_near("nothing", "");
	assert_near("", "");
}

/* Names from files are printed safely to terminals, and texts may be long. */
static void test_hostile_names(void **state)
{
	char name[4096], got[64];
	struct near_names near;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name[1] = '\033';
	near_names_init(&near, "aaa");
	near_names_add(&near, name);
	near_names_add(&near, "aaa\033[2J");
	near_names_text(&near, got, sizeof(got));
	assert_null(strchr(got, '\033'));
	assert_true(strlen(got) < sizeof(got));
	near_names_deinit(&near);
}

/* A choice among a few names lists them, also if they do not fit. */
static void test_choices(void **state)
{
	static const char *const few[] = {"kmod", "bpf", "perf"};
	const char *many[200];
	struct error err;

	(void)state;
	assert_int_equal(near_names_unknown(&err, "source", "pref", few, 3), -EINVAL);
	assert_string_equal(err.message, "unknown source 'pref' (did you mean 'perf'?); "
					 "known: kmod, bpf, perf");
	near_names_unknown(&err, "source", "replay", few, 1);
	assert_string_equal(err.message, "unknown source 'replay'; known: kmod");
	near_names_unknown(&err, "source", "replay", few, 0);
	assert_string_equal(err.message, "unknown source 'replay'; known: none");
	for (size_t i = 0; i < 200; i++)
		many[i] = few[i % 3];
	near_names_unknown(&err, "source", "replay", many, 200);
	assert_string_equal(strrchr(err.message, ','), ", ...");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
