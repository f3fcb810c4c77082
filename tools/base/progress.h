/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far long work has got, on standard error: one line that is written over, only if
 * that is a terminal and the work takes long enough for somebody to wonder.
 */
#ifndef DCPI_PROGRESS_H
#define DCPI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct progress - all zero: says nothing. Fields are private. */
struct progress {
	const char *tool;
	bool shown;
	uint64_t next_ns;
};

/** progress_start() - begin; @tool is printed first. */
void progress_start(struct progress *progress, const char *tool);

/**
 * progress_say() - "TOOL: 12 of 345: what", if it is time
 * @what: from outside, may be NULL
 */
void progress_say(struct progress *progress, size_t done, size_t all, const char *what);

/** progress_clear() - wipe the line, before anything else is printed, and at the end. */
void progress_clear(struct progress *progress);

#endif
