/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that code stays in a cache or in a set of one: internal to code_footprint.c, set_pressure.c.
 */
#ifndef DCPI_CACHE_RESIDENCY_H
#define DCPI_CACHE_RESIDENCY_H

/** cache_residency_fn() - amount of different code executed within a time; increases with it. */
typedef double (*cache_residency_fn)(const void *code, double time);

/**
 * cache_residency() - find the time in which @capacity units of different code are executed
 * @executed: returns the amount of code in the unit of @capacity
 *
 * Return: with a relative error of 10^-4, in the unit of @executed's time; INFINITY if all code
 * fits.
 */
double cache_residency(cache_residency_fn executed, const void *code, double capacity);

#endif
