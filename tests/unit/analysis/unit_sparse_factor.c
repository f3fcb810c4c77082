// SPDX-License-Identifier: GPL-2.0-only
/* Comparison with dense elimination, on random quasi-definite matrices. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/frequency/sparse_factor.h"

#define SIZE_LIMIT 40

struct problem {
	uint32_t size;
	size_t entry_count;
	struct sparse_entry entries[SIZE_LIMIT * SIZE_LIMIT];
	double values[SIZE_LIMIT * SIZE_LIMIT];
	double diagonal[SIZE_LIMIT];
	double dense[SIZE_LIMIT][SIZE_LIMIT];
};

static double random_unit(uint64_t *seed)
{
	return (double)(unit_random(seed) >> 11) / 0x1p53;
}

/*
 * Make a matrix: its last rows are constraints, with a negative diagonal and no entries among them.
 */
static void make_problem(struct problem *p, uint64_t *seed)
{
	uint32_t constraints;

	memset(p, 0, sizeof(*p));
	p->size = 1 + (uint32_t)(unit_random(seed) % SIZE_LIMIT);
	constraints = (uint32_t)(unit_random(seed) % (p->size + 1) / 2);
	for (uint32_t i = 0; i < p->size; i++) {
		p->diagonal[i] =
			(0.1 + random_unit(seed)) * (i < p->size - constraints ? 1 : -0.01);
		p->dense[i][i] = p->diagonal[i];
		for (uint32_t j = 0; j < i && j < p->size - constraints; j++) {
			double value = 2 * random_unit(seed) - 1;

			if (unit_random(seed) % 5 != 0)
				continue;
			/* Small enough to keep the first part positive definite. */
			if (i < p->size - constraints)
				value *= 0.1 / p->size;
			p->entries[p->entry_count] = (struct sparse_entry){i, j};
			p->values[p->entry_count++] = value;
			p->dense[i][j] = p->dense[j][i] = value;
		}
	}
}

/* Replace @a with its inverse, by Gauss-Jordan elimination with pivots. */
static void invert(double a[SIZE_LIMIT][SIZE_LIMIT], uint32_t n)
{
	static double b[SIZE_LIMIT][SIZE_LIMIT];

	memset(b, 0, sizeof(b));
	for (uint32_t i = 0; i < n; i++)
		b[i][i] = 1;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t pivot = k;

		for (uint32_t i = k; i < n; i++)
			pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
		for (uint32_t j = 0; j < n; j++) {
			double t = a[k][j], u = b[k][j];

			a[k][j] = a[pivot][j], a[pivot][j] = t;
			b[k][j] = b[pivot][j], b[pivot][j] = u;
		}
		for (uint32_t i = 0; i < n; i++) {
			double scale = i == k ? 1 - 1 / a[k][k] : a[i][k] / a[k][k];

			for (uint32_t j = 0; j < n; j++) {
				double ak = a[k][j], bk = b[k][j];

				a[i][j] -= scale * ak;
				b[i][j] -= scale * bk;
			}
		}
	}
	memcpy(a, b, sizeof(b));
}

static void test_against_dense(void **state)
{
	static struct problem p;
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 500; round++) {
		double x[SIZE_LIMIT], right[SIZE_LIMIT] = {0}, diagonal[SIZE_LIMIT];
		struct sparse_factor *factor;

		make_problem(&p, &seed);
		for (uint32_t i = 0; i < p.size; i++)
			x[i] = right[i] = random_unit(&seed);
		assert_int_equal(
			sparse_factor_create(&factor, p.size, p.entries, p.entry_count, 1e6), 0);
		assert_int_equal(sparse_factor_compute(factor, p.diagonal, p.values), 0);
		sparse_factor_solve(factor, x);
		sparse_factor_inverse_diagonal(factor, diagonal);
		invert(p.dense, p.size);
		for (uint32_t i = 0; i < p.size; i++) {
			double expected = 0;

			for (uint32_t j = 0; j < p.size; j++)
				expected += p.dense[i][j] * right[j];
			assert_true(fabs(x[i] - expected) < 1e-8 * (1 + fabs(expected)));
			assert_true(fabs(diagonal[i] - p.dense[i][i]) <
				    1e-8 * (1 + fabs(p.dense[i][i])));
		}
		sparse_factor_destroy(factor);
	}
}

static void test_limits(void **state)
{
	static const struct sparse_entry entries[] = {{1, 0}, {2, 0}, {2, 1}};
	const double ones[3] = {1, 1, 1};
	struct sparse_factor *factor;

	(void)state;
	assert_int_equal(sparse_factor_create(&factor, 3, entries, 3, 4), -E2BIG);
	assert_int_equal(sparse_factor_create(&factor, 3, entries, 3, 5), 0);
	assert_int_equal(sparse_factor_compute(factor, ones, ones), -EDOM);
	sparse_factor_destroy(factor);
	sparse_factor_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_dense),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
