// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/statistics/distribution.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846
#define ROUNDS 100000

/* x^a e^-x / gamma(a) */
static double gamma_factor(double a, double x)
{
	return exp(a * log(x) - x - lgamma(a));
}

/* P(a, x) by its series (Abramowitz and Stegun 6.5.29): fast where x < a + 1. */
static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < ROUNDS && term > sum * DBL_EPSILON; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * gamma_factor(a, x);
}

/* Q(a, x) by its continued fraction (6.5.31, evaluated by Lentz's method): fast elsewhere. */
static double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, value = d;

	for (int i = 1; i < ROUNDS; i++) {
		double numerator = i * (a - i), factor;

		b += 2;
		d = numerator * d + b;
		d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
		c = b + numerator / c;
		c = fabs(c) < DBL_MIN ? DBL_MIN : c;
		factor = c * d;
		value *= factor;
		if (fabs(factor - 1) < DBL_EPSILON)
			break;
	}
	return value * gamma_factor(a, x);
}

double distribution_chi_square_tail(double x, double df)
{
	double a = df / 2;

	if (!(x > 0))
		return 1;
	x /= 2;
	return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

double distribution_chi_square_quantile(double tail, double df)
{
	double low = 0, high = df + 1;

	while (distribution_chi_square_tail(high, df) > tail)
		high *= 2;
	for (int i = 0; i < 200 && high - low > high * DBL_EPSILON; i++) {
		double middle = low + (high - low) / 2;

		if (distribution_chi_square_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * P(-t < T < t) by finite sums, for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and
 * 26.7.4).
 */
static double student_inside(double t, unsigned int df)
{
	double theta = atan(t / sqrt(df)), cosine = cos(theta), sum = 0, term;
	unsigned int odd = df % 2;

	term = odd ? cosine : 1;
	for (unsigned int i = odd; i + 2 <= df; i += 2) {
		sum += term;
		term *= cosine * cosine * (i + 1) / (i + 2);
	}
	return odd ? 2 / PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double distribution_student_tail(double t, unsigned int df)
{
	double tail = (1 - student_inside(fabs(t), df)) / 2;

	return t < 0 ? 1 - tail : tail;
}

double distribution_student_quantile(double tail, unsigned int df)
{
	double low = 0, high = 1;

	while (distribution_student_tail(high, df) > tail && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > high * DBL_EPSILON; i++) {
		double middle = low + (high - low) / 2;

		if (distribution_student_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}
