/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration of a tally. */
#ifndef DCPI_TALLY_CONFIG_H
#define DCPI_TALLY_CONFIG_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"
#include "tools/report/profiler_class.h"

struct event_scale;
struct u64_map;

/** enum tally_by - kind of the rows */
enum tally_by {
	TALLY_BY_PROCEDURE,
	TALLY_BY_IMAGE,
	TALLY_BY_INSTRUCTION,
	TALLY_BY_LINE, /* of a source file, in one image */
	TALLY_BY_FILE, /* source file, in one image */
	TALLY_BY_NR,
};

/** tally_by_name() - return "procedure", "image", "instruction", "line" or "file" */
const char *tally_by_name(enum tally_by by);

/**
 * struct tally_config - configuration of a tally
 * @events:    names of events, with one count each
 * @sets:      NULL, or by number of the epoch its set, 0 ..: then there are counts by set and
 *             event, and epochs in no set are left out
 * @set_count: number of sets
 * @times:     NULL, or starts of columns of time, ascending: then there are counts by column and
 *             event. A slice belongs to the last column that starts at or before it; samples before
 *             the first column, and of epochs without slices, are left out. Not together with @sets
 * @time_count: number of columns of time
 * @filter:    selects profiles; its event and pid are applied by the tally itself, so that
 *             tally_samples() counts all samples
 * @image:     only rows of images whose path, or its last part, matches this pattern (fnmatch(3));
 *             NULL: all. Totals include all images.
 * @by:        kind of the rows
 * @lines:     rows of instructions have their source line
 * @scale:     factors of multiplexed events
 * @demangle:  names as in the source, not as linkers use
 * @debug:     where symbols may be found
 * @include:   classes of samples that are not excluded
 * @tool:      name of the program, which prints its progress on a terminal, or NULL
 */
struct tally_config {
	const char *const *events;
	size_t event_count;
	const struct u64_map *sets;
	size_t set_count;
	const int64_t *times;
	size_t time_count;
	struct profile_filter filter;
	const char *image;
	enum tally_by by;
	bool lines;
	const struct event_scale *scale;
	bool demangle;
	struct debug_file_options debug;
	struct included_samples include;
	const char *tool;
};

#endif
