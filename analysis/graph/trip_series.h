/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executions of a loop's branch until the compared value passes its bound. Internal to trip_count.c
 * and trip_mean.c.
 */
#ifndef DCPI_TRIP_SERIES_H
#define DCPI_TRIP_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/insn/insn_effect.h"

#define TRIP_SERIES_MAX INT64_C(0x7fffffff)

/**
 * struct trip_series - compared values: @start, @start + @step .. against @end
 * @relation: the loop continues while it holds
 * @bytes:    width of the comparison
 * @known:    number of low bytes that are known; the others are an extension
 * @constant: @start and @end are values; otherwise only their distance is known
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
 * trip_series_trips() - return the executions of the branch, including the final one
 *
 * Return: 1 .. TRIP_SERIES_MAX; 0 if unknown or too many, or if the values wrap around.
 */
int64_t trip_series_trips(const struct trip_series *series);

/**
 * trip_series_is_skipped() - return true if a loop with its test at the end would not be entered
 *
 * Before such a loop, compilers apply the same test to the value one step before the first.
 */
bool trip_series_is_skipped(const struct trip_series *series);

/** trip_series_mirror() - return the relation with exchanged sides. */
enum insn_relation trip_series_mirror(enum insn_relation relation);

#endif
