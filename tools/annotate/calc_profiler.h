/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the samples in an image that shares exclude: of the profiler, and of waiting for work. */
#ifndef DCPI_CALC_PROFILER_H
#define DCPI_CALC_PROFILER_H

#include "tools/report/profiler_class.h"

struct calc_events;
struct debug_file_options;

/** struct calc_profiler - sources of the data; pointers are owned by the caller */
struct calc_profiler {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	const struct calc_events *events;
	const struct debug_file_options *debug;
	enum profiler_probes probes;
	struct included_samples include;
};

/**
 * struct calc_profiler_samples - samples that shares exclude
 * @own:     of all events, of the profiler; @idle: in which a CPU has no work
 * @samples: of time
 * @cycles:  that @samples stand for
 */
struct calc_profiler_samples {
	uint64_t own;
	uint64_t idle;
	uint64_t samples;
	double cycles;
};

/**
 * calc_profiler_count() - count the samples of an image for which profiler_class_excluded() is
 * true, without those of PROFILE_PID_PROFILER
 * @id:    its number
 * @image: its path and kind
 * @ret:   zero-initialised; out
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int calc_profiler_count(const struct calc_profiler *profiler, int64_t id,
			const struct profile_image *image, struct calc_profiler_samples *ret,
			struct error *err);

#endif
