/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often a loop's branch is executed until what it compares has got far enough. Internal to
 * trip_count.c and trip_mean.c.
 */
#ifndef DCPI_TRIP_SERIES_H
#define DCPI_TRIP_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/insn/insn_effect.h"

#define TRIP_SERIES_MAX INT64_C(0x7fffffff)

/**
 * struct trip_series - what is compared: @start, @start + @step .. against @end
 * @relation: if it holds, the loop is gone round again
 * @bytes:    of the comparison
 * @known:    how many of these the values have; the others are an extension
 * @constant: @start and @end are values, and not only as far from each other as values are
 */
struct trip_series {
	enum insn_relation relation;
	int64_t start;
	int64_t step;
	int64_t end;
	uint8_t bytes;
	uint8_t known;
	bool constant;
};

/**
 * trip_series_turns() - executions of the branch, the one that leaves among them
 *
 * Return: 1 .. TRIP_SERIES_MAX; 0: not known, too many, or values go round and come back.
 */
int64_t trip_series_turns(const struct trip_series *series);

/**
 * trip_series_is_skipped() - whether a loop that is tested at its end would not be entered
 *
 * Compilers test before it what they test in it: the value one step before the first.
 */
bool trip_series_is_skipped(const struct trip_series *series);

/** trip_series_mirror() - the same relation with the sides changed. */
enum insn_relation trip_series_mirror(enum insn_relation relation);

#endif
