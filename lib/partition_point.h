/* SPDX-License-Identifier: GPL-2.0-only */
/* Binary search in ranges of indices. */
#ifndef DCPI_PARTITION_POINT_H
#define DCPI_PARTITION_POINT_H

/**
 * partition_point() - return the first index in [first, end) for which a condition is false
 * @first, @end: bounds of the indices, evaluated once; the result has the type of @end + 0
 * @index:       name of the index in @condition
 * @condition:   expression: true for all indices below the result, false for all others. The
 *               elements that it refers to are sorted accordingly
 *
 * O(log(@end - @first)) evaluations of @condition. Return: @end if there is no such index.
 */
#define partition_point(first, end, index, condition)                                              \
	({                                                                                         \
		__typeof__((end) + 0) partition_low_ = (first), partition_high_ = (end);           \
                                                                                                   \
		while (partition_low_ < partition_high_) {                                         \
			__typeof__((end) + 0) index =                                              \
				partition_low_ + (partition_high_ - partition_low_) / 2;           \
                                                                                                   \
			if (condition)                                                             \
				partition_low_ = index + 1;                                        \
			else                                                                       \
				partition_high_ = index;                                           \
		}                                                                                  \
		partition_low_;                                                                    \
	})

#endif
