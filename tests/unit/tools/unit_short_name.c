// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"
#include "tools/base/short_name.h"
#include "tools/base/text.h"

static void is_short(const char *name, size_t width, const char *want)
{
	char *got = short_name(name, width);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_names_that_fit_are_unchanged(void **state)
{
	(void)state;
	is_short("main", 4, "main");
	is_short("", 0, "");
	is_short("map<int, less<int>>::at(int)", 28, "map<int, less<int>>::at(int)");
	is_short("caf\xc3\xa9", 4, "caf\xc3\xa9");
}

static void test_shortens_template_arguments_first(void **state)
{
	static const char map[] = "map<string, pair<long, vector<char>>>::insert(string const&)";

	(void)state;
	is_short(map, 59, "map<string, pair<long, vector<...>>>::insert(string const&)");
	is_short(map, 56, "map<string, pair<...>>::insert(string const&)");
	is_short(map, 44, "map<...>::insert(string const&)");
	is_short(map, 30, "map<...>::insert(...)");
	is_short(map, 20, "map<...>:...ert(...)");
	is_short(map, 15, "map<...t(...)");
	is_short("foo<long, long> bar<long, long>(int)", 30, "foo<...> bar<...>(int)");
}

static void test_operators_are_not_brackets(void **state)
{
	(void)state;
	is_short("A<longer>::operator<<(int)", 25, "A<...>::operator<<(int)");
	is_short("A<longer>::operator->() const", 28, "A<...>::operator->() const");
	is_short("A<longer>::operator()(int) const", 31, "A<...>::operator()(int) const");
	is_short("A<longer>::operator<=>(int)", 26, "A<...>::operator<=>(int)");
	is_short("my_operator<longer>(int)", 23, "my_operator<...>(int)");
}

static void test_keeps_identifier(void **state)
{
	(void)state;
	/* The type and trait of a Rust method, an anonymous namespace, and the number of aliases.
	 */
	is_short("<core::Foo as fmt::Display>::fmt", 25, "<core::Foo ...splay>::fmt");
	is_short("<Vec<Option<u8>> as Deref>::deref", 31, "<Vec<...> as Deref>::deref");
	is_short("(anonymous namespace)::f(int, int)", 30, "(anonymous namespace)::f(...)");
	is_short("f(long, long) (+1 alias)", 22, "f(...) (+1 alias)");
}

static void test_damaged_names_are_cut(void **state)
{
	char deep[2 * 200 + 2], *got;

	(void)state;
	is_short("a<b<c>::function_of", 12, "a<b<c...n_of");
	is_short("a>b>c::function_of", 12, "a>b>c...n_of");
	is_short("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5, "\xc3\xa9...\xc3\xa9");
	is_short("abcdef", 3, "...");
	is_short("abcdef", 1, ".");
	is_short("abcdef", 0, "");
	memset(deep, 'a', sizeof(deep));
	for (size_t i = 0; i < 200; i++)
		deep[2 * i + 1] = '<';
	deep[sizeof(deep) - 1] = '\0';
	got = short_name(deep, 20);
	assert_int_equal(text_width(got), 20);
	free(got);
}

/* Random names: the result fits, is clean, and as long as possible where only the middle is cut. */
static void test_any_name_fits(void **state)
{
	static const char *const words[] = {
		"<", ">", "(",	    ")",  "::", "operator",	      "ab", "\xc3\xa9", " ",
		"-", ",", "longer", "()", "=",	"anonymous namespace"};
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char name[256] = "", *got, *clean;
		size_t count = unit_random(&random) % 16, width = unit_random(&random) % 60;

		while (count-- > 0)
			strcat(name,
			       words[unit_random(&random) % (sizeof(words) / sizeof(*words))]);
		got = short_name(name, width);
		assert_non_null(got);
		assert_true(text_width(got) <= width);
		if (text_width(name) <= width)
			assert_string_equal(got, name);
		clean = text_clean(got);
		assert_string_equal(clean, got);
		free(clean);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_that_fit_are_unchanged),
		cmocka_unit_test(test_shortens_template_arguments_first),
		cmocka_unit_test(test_operators_are_not_brackets),
		cmocka_unit_test(test_keeps_identifier),
		cmocka_unit_test(test_damaged_names_are_cut),
		cmocka_unit_test(test_any_name_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
