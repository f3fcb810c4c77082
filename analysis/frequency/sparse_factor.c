// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/sparse_factor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <suitesparse/amd.h>
#include <suitesparse/ldl.h>

/*
 * struct sparse_factor - the whole matrix by columns, as LDL needs it for a permutation
 *
 * Element 0 of each column is the diagonal's.
 */
struct sparse_factor {
	int size;
	size_t entry_count;
	int *first;	/* of each column */
	int *rows;	/* row of each element */
	double *values; /* value of each element */
	int *place[2];	/* of each entry, in @values: on both sides of the diagonal. */
	int *order;	/* elimination: column order[k] is the k-th */
	int *position;	/* inverse permutation of @order */
	int *l_first;	/* L, by columns, rows ascending */
	int *l_rows;
	double *l_values;
	double *d;
	double *inverse; /* elements of the inverse where L is not zero */
	double *y;	 /* scratch, as are the members below */
	int *parent;
	int *count;
	int *flag;
	int *pattern;
	double *sums;
};

void sparse_factor_destroy(struct sparse_factor *f)
{
	if (f == NULL)
		return;
	free(f->first);
	free(f->rows);
	free(f->values);
	free(f->place[0]);
	free(f->place[1]);
	free(f->order);
	free(f->position);
	free(f->l_first);
	free(f->l_rows);
	free(f->l_values);
	free(f->d);
	free(f->inverse);
	free(f->y);
	free(f->parent);
	free(f->count);
	free(f->flag);
	free(f->pattern);
	free(f->sums);
	free(f);
}

static int allocate(struct sparse_factor *f)
{
	size_t n = (size_t)f->size + 1;
	size_t elements = (size_t)f->size + 2 * f->entry_count + 1;

	f->first = calloc(n + 1, sizeof(int));
	f->rows = malloc(elements * sizeof(int));
	f->values = malloc(elements * sizeof(double));
	f->place[0] = malloc((f->entry_count + 1) * sizeof(int));
	f->place[1] = malloc((f->entry_count + 1) * sizeof(int));
	f->order = malloc(n * sizeof(int));
	f->position = malloc(n * sizeof(int));
	f->l_first = malloc(n * sizeof(int));
	f->d = malloc(n * sizeof(double));
	f->y = malloc(n * sizeof(double));
	f->parent = malloc(n * sizeof(int));
	f->count = malloc(n * sizeof(int));
	f->flag = malloc(n * sizeof(int));
	f->pattern = malloc(n * sizeof(int));
	f->sums = malloc(n * sizeof(double));
	return f->first == NULL || f->rows == NULL || f->values == NULL || f->place[0] == NULL ||
			       f->place[1] == NULL || f->order == NULL || f->position == NULL ||
			       f->l_first == NULL || f->d == NULL || f->y == NULL ||
			       f->parent == NULL || f->count == NULL || f->flag == NULL ||
			       f->pattern == NULL || f->sums == NULL
		       ? -ENOMEM
		       : 0;
}

static void lay_out(struct sparse_factor *f, const struct sparse_entry *entries)
{
	int *next = f->count;

	for (size_t e = 0; e < f->entry_count; e++) {
		f->first[entries[e].row + 1]++;
		f->first[entries[e].column + 1]++;
	}
	for (int k = 0; k < f->size; k++) {
		f->first[k + 1] += f->first[k] + 1;
		f->rows[f->first[k]] = k;
		next[k] = f->first[k] + 1;
	}
	for (size_t e = 0; e < f->entry_count; e++) {
		int row = (int)entries[e].row;
		int column = (int)entries[e].column;

		f->rows[next[column]] = row;
		f->rows[next[row]] = column;
		f->place[0][e] = next[column]++;
		f->place[1][e] = next[row]++;
	}
}

static int find_fill(struct sparse_factor *f, double work_max)
{
	double work = 0;
	size_t fill = 0;
	int r = amd_order(f->size, f->first, f->rows, f->order, NULL, NULL);

	if (r != AMD_OK && r != AMD_OK_BUT_JUMBLED)
		return r == AMD_OUT_OF_MEMORY ? -ENOMEM : -E2BIG;
	ldl_symbolic(f->size, f->first, f->rows, f->l_first, f->parent, f->count, f->flag, f->order,
		     f->position);
	/* l_first may have overflowed: count again. */
	for (int k = 0; k < f->size; k++) {
		fill += (size_t)f->count[k];
		work += (double)f->count[k] * f->count[k];
	}
	if (work > work_max || fill > INT_MAX / 2)
		return -E2BIG;
	f->l_rows = malloc((fill + 1) * sizeof(int));
	f->l_values = malloc((fill + 1) * sizeof(double));
	f->inverse = malloc((fill + 1) * sizeof(double));
	return f->l_rows == NULL || f->l_values == NULL || f->inverse == NULL ? -ENOMEM : 0;
}

int sparse_factor_create(struct sparse_factor **ret, uint32_t size,
			 const struct sparse_entry *entries, size_t entry_count, double work_max)
{
	struct sparse_factor *f;
	int r;

	if (size > INT_MAX / 4 || entry_count > INT_MAX / 4)
		return -E2BIG;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	f->size = (int)size;
	f->entry_count = entry_count;
	r = allocate(f);
	if (r == 0) {
		lay_out(f, entries);
		r = find_fill(f, work_max);
	}
	if (r < 0) {
		sparse_factor_destroy(f);
		return r;
	}
	*ret = f;
	return 0;
}

int sparse_factor_compute(struct sparse_factor *f, const double *diagonal, const double *values)
{
	for (int k = 0; k < f->size; k++)
		f->values[f->first[k]] = diagonal[k];
	for (size_t e = 0; e < f->entry_count; e++)
		f->values[f->place[0][e]] = f->values[f->place[1][e]] = values[e];
	return ldl_numeric(f->size, f->first, f->rows, f->values, f->l_first, f->parent, f->count,
			   f->l_rows, f->l_values, f->d, f->y, f->pattern, f->flag, f->order,
			   f->position) == f->size
		       ? 0
		       : -EDOM;
}

void sparse_factor_solve(struct sparse_factor *f, double *x)
{
	ldl_perm(f->size, f->y, x, f->order);
	ldl_lsolve(f->size, f->y, f->l_first, f->l_rows, f->l_values);
	ldl_dsolve(f->size, f->y, f->d);
	ldl_ltsolve(f->size, f->y, f->l_first, f->l_rows, f->l_values);
	ldl_permt(f->size, x, f->y, f->order);
}

/*
 * Compute column j of the inverse from the columns after it: Z_ij = -sum over k of Z_ik L_kj. All
 * elements needed are at positions where L has an element. flag[i] is j + 1 if column j of L has an
 * element in row i.
 */
static double invert_column(struct sparse_factor *f, int j, const double *diagonal)
{
	int begin = f->l_first[j];
	int end = f->l_first[j + 1];
	double sum = 1 / f->d[j];

	for (int p = begin; p < end; p++) {
		f->flag[f->l_rows[p]] = j + 1;
		f->y[f->l_rows[p]] = f->l_values[p];
		f->sums[f->l_rows[p]] = 0;
	}
	for (int p = begin; p < end; p++) {
		int k = f->l_rows[p];

		f->sums[k] += diagonal[k] * f->y[k];
		for (int q = f->l_first[k]; q < f->l_first[k + 1]; q++) {
			int i = f->l_rows[q];

			if (f->flag[i] != j + 1)
				continue;
			f->sums[k] += f->inverse[q] * f->y[i];
			f->sums[i] += f->inverse[q] * f->y[k];
		}
	}
	for (int p = begin; p < end; p++) {
		f->inverse[p] = -f->sums[f->l_rows[p]];
		sum -= f->l_values[p] * f->inverse[p];
	}
	return sum;
}

void sparse_factor_inverse_diagonal(struct sparse_factor *f, double *ret)
{
	double *diagonal = ret; /* in order of elimination until the end */

	memset(f->flag, 0, (size_t)f->size * sizeof(int));
	for (int j = f->size; j-- > 0;)
		diagonal[j] = invert_column(f, j, diagonal);
	memcpy(f->y, diagonal, (size_t)f->size * sizeof(double));
	ldl_permt(f->size, ret, f->y, f->order);
}
