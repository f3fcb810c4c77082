/* SPDX-License-Identifier: GPL-2.0-only */
/* What a tally is to add up. */
#ifndef DCPI_TALLY_CONFIG_H
#define DCPI_TALLY_CONFIG_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"

struct event_scale;
struct u64_map;

/** enum tally_by - what a row is. */
enum tally_by {
	TALLY_BY_PROCEDURE,
	TALLY_BY_IMAGE,
	TALLY_BY_INSTRUCTION,
	TALLY_BY_LINE, /* of a source file, in one image */
	TALLY_BY_FILE, /* of source, likewise */
	TALLY_BY_NR,
};

/** tally_by_name() - "procedure", "image", "instruction", "line", "file". */
const char *tally_by_name(enum tally_by by);

/**
 * struct tally_config - what to add up
 * @events:      names of events, one count each
 * @sets:        NULL, or by number of the epoch the set that it is in, 0 ..: then there
 *               are counts by set, and in each by event, and epochs in no set are left out
 * @set_count:   how many
 * @filter:      which profiles; its event and pid are looked at here, so that
 *               all samples are counted in tally_samples()
 * @image:       only rows of images whose path, or its last part, matches this
 *               pattern (fnmatch(3)); NULL: of all. Totals are of all images.
 * @by:          what a row is
 * @lines:       rows of instructions say which source line they are from
 * @scale:       of events that took turns
 * @demangle:    names as the source has them, not as linkers do
 * @debug:       where symbols may be
 * @include_profiler: rows of samples that profiling causes are as the others are
 * @tool:        name of the program, which says on a terminal how far it has got, or NULL
 */
struct tally_config {
	const char *const *events;
	size_t event_count;
	const struct u64_map *sets;
	size_t set_count;
	struct profile_filter filter;
	const char *image;
	enum tally_by by;
	bool lines;
	const struct event_scale *scale;
	bool demangle;
	struct debug_file_options debug;
	bool include_profiler;
	const char *tool;
};

#endif
