/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that code stays in a cache or in a set of one: internal to code_footprint.c, code_sets.c.
 */
#ifndef DCPI_CODE_STAY_H
#define DCPI_CODE_STAY_H

/** code_stay_fn() - amount of different code executed within a time; increases with it. */
typedef double (*code_stay_fn)(const void *code, double time);

/**
 * code_stay() - find the time in which @room units of different code are executed
 * @executed: returns the amount of code in the unit of @room
 *
 * Return: with a relative error of 10^-4, in the unit of @executed's time; INFINITY if all code
 * fits.
 */
double code_stay(code_stay_fn executed, const void *code, double room);

#endif
