/* SPDX-License-Identifier: GPL-2.0-only */
/* How long code stays in a cache, or a set of one: internal to code_footprint.c, code_sets.c. */
#ifndef DCPI_CODE_STAY_H
#define DCPI_CODE_STAY_H

/** code_stay_fn() - how much different code is executed in some time; grows with it. */
typedef double (*code_stay_fn)(const void *code, double time);

/**
 * code_stay() - the time in which as much different code is executed as there is room for
 * @executed: in the unit of @room
 *
 * Return: to within one part in 10^4, in the unit of @executed's time; INFINITY: all has room.
 */
double code_stay(code_stay_fn executed, const void *code, double room);

#endif
