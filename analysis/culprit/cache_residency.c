// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/cache_residency.h"

#include <math.h>

/* Bisection steps on the logarithm of time, for a relative error of 10^-4. */
#define HALVINGS 24
/* Range of the logarithm (base 2) of the result. */
#define LOG_TIME_MIN (-64.0)
#define LOG_TIME_MAX 64.0

double cache_residency(cache_residency_fn executed, const void *code, double capacity)
{
	double low = LOG_TIME_MIN, high = LOG_TIME_MAX;

	if (executed(code, INFINITY) <= capacity)
		return INFINITY;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (executed(code, exp2(middle)) < capacity)
			low = middle;
		else
			high = middle;
	}
	return exp2((low + high) / 2);
}
