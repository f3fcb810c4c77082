// SPDX-License-Identifier: GPL-2.0-only
/* Suggestions of symbols in demangled form. */
#include "tests/lib/unit.h"

#include "analysis/image/near_symbols.h"
#include "lib/near_names.h"

static void assert_near(const char *wanted, const char *text)
{
	struct near_names near;
	char got[256];

	near_names_init(&near, wanted);
	near_symbols_add(&near, "_ZN3Zed5otherEi");
	near_symbols_add(&near, "_ZN3Zed5drainEv");
	near_symbols_add(&near, "drain_all");
	near_names_text(&near, got, sizeof(got));
	assert_string_equal(got, text);
	near_names_deinit(&near);
}

static void test_suggestions(void **state)
{
	(void)state;
	assert_near("drain", " (did you mean 'Zed::drain()', 'drain_all'?)");
	assert_near("Zed::drain", " (did you mean 'Zed::drain()'?)");
	assert_near("Zed::drian", "");
	assert_near("drain_lal", " (did you mean 'drain_all'?)");
	assert_near("nothing", "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suggestions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
