// SPDX-License-Identifier: GPL-2.0-only
/* Reference values: mpmath, 30 digits. */
#include <math.h>

#include "analysis/statistics/distribution.h"
#include "tests/lib/unit.h"

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance * fabs(want)))
		fail_msg("got %.15g, want %.15g", got, want);
}

static void test_chi_square_tails(void **state)
{
	static const struct {
		double x, df, tail;
	} table[] = {
		{0.001, 1, 0.97477287936996039},    {3.84, 1, 0.050043521248705099},
		{0.5, 7, 0.99944648139042497},	    {14.067, 7, 0.050002444680797642},
		{40, 7, 1.2587903873713088e-6},	    {500, 7, 8.016791001349302e-104},
		{1200, 7, 7.0619247466332937e-255}, {95, 93, 0.42291980457589324},
		{30, 31, 0.51729654931489578},	    {0.3, 0.5, 0.33317180231535664},
		{900, 1000, 0.98928276190871026},   {1300, 1000, 3.8897364994868525e-10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		near(distribution_chi_square_tail(table[i].x, table[i].df), table[i].tail, 1e-10);
	assert_true(distribution_chi_square_tail(0, 3) == 1);
	assert_true(distribution_chi_square_tail(-1, 3) == 1);
}

static void test_student_tails(void **state)
{
	static const struct {
		double t;
		unsigned int df;
		double tail;
	} table[] = {
		{0.5, 1, 0.35241638234956673},	  {12.7, 1, 0.025012163844672079},
		{1, 2, 0.21132486540518712},	  {4.3, 2, 0.025028577058545794},
		{1, 3, 0.19550110947788532},	  {2.36, 7, 0.025170644137277842},
		{5, 7, 0.00078263897658641229},	  {0.1, 30, 0.46050480589513558},
		{2.04, 30, 0.025119787369543441}, {1.96, 1000, 0.025136592477874357},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		near(distribution_student_tail(table[i].t, table[i].df), table[i].tail, 1e-10);
		near(distribution_student_tail(-table[i].t, table[i].df), 1 - table[i].tail, 1e-10);
	}
}

static void test_quantiles_are_the_inverse(void **state)
{
	(void)state;
	for (int i = 0; i < 58; i++) {
		double tail = 0.999 * pow(0.7, i);

		for (unsigned int df = 1; df < 200; df = df * 3 / 2 + 1) {
			double x = distribution_chi_square_quantile(tail, df);

			near(distribution_chi_square_tail(x, df), tail, 1e-9);
			if (tail > 0.5 || tail < 1e-5)
				continue;
			x = distribution_student_quantile(tail, df);
			near(distribution_student_tail(x, df), tail, 1e-7);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chi_square_tails),
		cmocka_unit_test(test_student_tails),
		cmocka_unit_test(test_quantiles_are_the_inverse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
