/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sparse symmetric matrices, factored as L D L': solutions, and the diagonal of the inverse
 * (Takahashi's recursion; Erisman and Tinney, CACM 18, 1975). The matrices must be positive
 * definite or quasi-definite ([P A'; A -N], P and N positive definite), because these have such a
 * factor in any order (Vanderbei 1995).
 *
 * Ordering and factorization are SuiteSparse's AMD and LDL.
 */
#ifndef DCPI_SPARSE_FACTOR_H
#define DCPI_SPARSE_FACTOR_H

#include <stddef.h>
#include <stdint.h>

struct sparse_factor;

/** struct sparse_entry - an element, which also stands for its mirror image across the diagonal. */
struct sparse_entry {
	uint32_t row;
	uint32_t column;
};

/**
 * sparse_factor_create() - prepare for matrices of one pattern
 * @ret:      out; freed by sparse_factor_destroy()
 * @size:     rows
 * @entries:  off the diagonal, on one side of it; the values of duplicates add up. The diagonal is
 *            always included
 * @work_max: upper bound on the multiplications of a factorization; memory is well below that
 *
 * Return: 0; -ENOMEM; -E2BIG if a factorization would take more than @work_max.
 */
int sparse_factor_create(struct sparse_factor **ret, uint32_t size,
			 const struct sparse_entry *entries, size_t entry_count, double work_max);

void sparse_factor_destroy(struct sparse_factor *factor);

/**
 * sparse_factor_compute() - factor a matrix
 * @diagonal: @size elements
 * @values:   of the entries, in their order
 *
 * Return: 0, or -EDOM if the matrix is singular to working precision.
 */
int sparse_factor_compute(struct sparse_factor *factor, const double *diagonal,
			  const double *values);

/** sparse_factor_solve() - solve for @x: in: right-hand side; out: solution. */
void sparse_factor_solve(struct sparse_factor *factor, double *x);

/** sparse_factor_inverse_diagonal() - compute the diagonal of the inverse; @ret: @size elements. */
void sparse_factor_inverse_diagonal(struct sparse_factor *factor, double *ret);

#endif
