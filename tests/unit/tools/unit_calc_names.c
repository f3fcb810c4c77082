// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "tools/annotate/calc_names.h"

static bool means(const char *wanted, const char *name)
{
	struct calc_name made = calc_name_make(wanted);

	return calc_name_means(&made, name);
}

/* Linker symbols, with the names that users may write for them. */
static const struct {
	const char *name;
	const char *wanted[6];
} meant[] = {
	{"_Z3dotPKdS0_m",
	 {"dot(double const*, double const*, unsigned long)", "dot",
	  "dot(double const*,double const*)"}},
	{"_Z3addRK1S", {"add(S const&)", "add"}},
	{"_ZSt16__introsort_loopIPilN9__gnu_cxx5__ops15_Iter_less_iterEEvT_S4_T0_T1_",
	 {"std::__introsort_loop", "std::__introsort_loop<int*, long, "
				   "__gnu_cxx::__ops::_Iter_less_iter>"}},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi",
	 {"std::vector::push_back", "std::vector<int, std::allocator<int> >::push_back"}},
	{"_ZNSsC1Ev", {"std::basic_string::basic_string"}},
	{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_",
	 {"std::__cxx11::basic_string::basic_string"}},
	{"_ZNSolsEi", {"std::ostream::operator<<", "std::ostream::operator<<(int)"}},
	{"_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKSbIS4_S5_T1_E",
	 {"std::operator<<"}},
	{"_ZltRK1SS1_", {"operator<", "operator<(S const&, S const&)"}},
	{"_ZN1SclEi", {"S::operator()", "S::operator()(int)"}},
	{"_ZN1SixEm", {"S::operator[]"}},
	{"_ZN1SptEv", {"S::operator->"}},
	{"_ZNK1ScvbEv", {"S::operator bool"}},
	{"_Znwm", {"operator new", "operator new(unsigned long)"}},
	{"_ZN12_GLOBAL__N_11fEi", {"(anonymous namespace)::f", "(anonymous namespace)::f(int)"}},
	{"_ZZ4mainENKUliE_clEi", {"main::{lambda(int)#1}::operator()"}},
	{"_ZZ1fiEN5local1gEd", {"f(int)::local::g", "f(int)::local::g(double)"}},
	{"_ZN1SD2Ev", {"S::~S"}},
	{"_Z4nameB5cxx11i", {"name", "name[abi:cxx11]", "name[abi:cxx11](int)"}},
	{"_Z1fi.cold", {"f(int) [clone .cold]", "f", "f(int)"}},
	{"_Z1fi@plt", {"f(int)@plt"}},
	{"spin.constprop.0", {"spin"}},
	{"_RINvCs6xxl1lAjzDf_1a5applyNCNvB2_4mains_0EB2_",
	 {"a::apply", "a::apply::<a::main::{closure#1}>"}},
	{"_RINvCs6xxl1lAjzDf_1a3mapFhEhNtB2_1TEB2_", {"a::map", "a::map::<fn(u8) -> u8, a::T>"}},
	{"_RNvMs3_Cs10IfIv1x7TG_1pINtB5_6MatrixdKj40_E3mulB5_",
	 {"<p::Matrix<f64, 64>>::mul", "<p::Matrix>::mul", "p::Matrix<f64, 64>::mul",
	  "p::Matrix::mul"}},
	{"_ZN34_$LT$a..Sq$u20$as$u20$a..Shape$GT$4area17h40b5e2a844e7575aE",
	 {"<a::Sq as a::Shape>::area"}},
	{"__shapes_mod_MOD_area", {"shapes_mod::area"}},
	{"__shapes_mod_MOD_area.cold", {"shapes_mod::area", "shapes_mod::area [clone .cold]"}},
	{"camlStdlib__List__map_236", {"Stdlib.List.map_236"}},
	{"camlX__$24_87", {"X.$_87"}},
	{"camlX__$3c$3d$3e_87", {"X.<=>_87"}},
	{"camlX__$3c_87", {"X.<_87"}},
	{"camlX__anon_fn$5bx$2eml$3a3$2c0$2d$2d54$5d_14", {"X.anon_fn[x.ml:3,0--54]_14"}},
};

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(meant) / sizeof(*meant); i++) {
		char *readable = demangle(meant[i].name);

		if (readable == NULL)
			assert_string_equal(meant[i].name, "spin.constprop.0");
		else if (!means(readable, meant[i].name))
			fail_msg("\"%s\"", readable);
		free(readable);
		for (size_t k = 0; k < 6 && meant[i].wanted[k] != NULL; k++) {
			/* The last name is of a dot() with other parameters. */
			bool wrong = i == 0 && k == 2;

			if (means(meant[i].wanted[k], meant[i].name) == wrong)
				fail_msg("\"%s\" for %s", meant[i].wanted[k], meant[i].name);
		}
	}
}

static void test_does_not_match(void **state)
{
	(void)state;
	assert_false(means("ad", "_Z3addRK1S"));
	assert_false(means("add(S)", "_Z3addRK1S"));
	assert_false(means("S", "_Z3addRK1S"));
	assert_false(means("operator<", "_ZlsRK1SS1_"));
	assert_false(means("operator<", "_ZleRK1SS1_"));
	assert_false(means("std::vector<long>::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi"));
	assert_false(means("std::vector", "_ZNSt6vectorIiSaIiEE9push_backERKi"));
	assert_false(means("f(int)", "_ZZ1fiEN5local1gEd"));
	assert_false(means("f", "_ZZ1fiEN5local1gEd"));
	assert_false(means("f", "_Z1fi@plt"));
	assert_false(means("S::f", "_ZThn8_N1S1fEv"));
	assert_false(means("spi", "spin.constprop.0"));
	assert_false(means("", "_Z3addRK1S"));
	assert_false(means("a::app", "_RINvCs6xxl1lAjzDf_1a5applyNCNvB2_4mains_0EB2_"));
	assert_false(means("a::apply::<a::T>", "_RINvCs6xxl1lAjzDf_1a5applyNCNvB2_4mains_0EB2_"));
	assert_false(means("a<b(", "_Z3addRK1S"));
	assert_false(means("operator", "_ZltRK1SS1_"));
	assert_false(means("area", "__shapes_mod_MOD_area"));
	assert_false(means("shapes::area", "__shapes_mod_MOD_area"));
	assert_false(means("Stdlib.List.map", "camlStdlib__List__map_236"));
}

static void assert_colon(const char *operand, long at)
{
	const char *colon = calc_name_colon(operand);

	assert_int_equal(colon != NULL ? colon - operand : -1, at);
}

static void test_colon(void **state)
{
	(void)state;
	assert_colon("main", -1);
	assert_colon("std::swap", -1);
	assert_colon("name[abi:cxx11](int)", -1);
	assert_colon("auto main::{lambda(auto:1)#1}::operator()<long>(long) const", -1);
	assert_colon("S::operator<", -1);
	assert_colon("/bin/a:main", 6);
	assert_colon("a:S::operator<", 1);
	assert_colon("perl (7e60d69b):main", 15);
	assert_colon("[bpf]:take", 5);
	assert_colon("/tmp/a(b:main", 8);
	assert_colon("a:main::{lambda(auto:1)#1}::operator()", 1);
	assert_colon("", -1);
}

/* The word of a name occurs in every matching symbol, so that few symbols must be demangled. */
static void test_word(void **state)
{
	(void)state;
	assert_string_equal(calc_name_make("dot(double const*, unsigned long)").word, "dot");
	assert_string_equal(calc_name_make("void std::swap<int>(int&, int&)").word, "swap");
	assert_string_equal(calc_name_make("S::~S").word, "S");
	assert_string_equal(calc_name_make("std::string::string").word, "");
	assert_string_equal(calc_name_make("S::operator bool").word, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_does_not_match),
		cmocka_unit_test(test_colon),
		cmocka_unit_test(test_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
