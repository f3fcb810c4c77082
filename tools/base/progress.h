/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress of long work on standard error: one line that is overwritten, only if standard error is
 * a terminal and the work takes noticeably long.
 */
#ifndef DCPI_PROGRESS_H
#define DCPI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct progress - zero-initialised: prints nothing. Fields are private */
struct progress {
	const char *tool;
	bool shown;
	uint64_t next_ns;
};

/** progress_start() - begin; @tool is the first word of the line */
void progress_start(struct progress *progress, const char *tool);

/**
 * progress_say() - print "TOOL: 12 of 345: what" if the last update is old enough
 * @what: text from outside, may be NULL
 */
void progress_say(struct progress *progress, size_t done, size_t all, const char *what);

/** progress_clear() - clear the line, before other output and at the end */
void progress_clear(struct progress *progress);

#endif
