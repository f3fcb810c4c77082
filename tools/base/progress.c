// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "tools/base/text.h"

/* Short work prints no line; a line is not updated more often than the eye can follow. */
#define FIRST_NS 500000000U
#define EVERY_NS 100000000U
/* A line that the terminal has wrapped could not be cleared. */
#define WHAT_WIDTH 48

void progress_start(struct progress *progress, const char *tool)
{
	*progress = (struct progress){0};
	if (!isatty(STDERR_FILENO))
		return;
	progress->tool = tool;
	progress->next_ns = clock_monotonic_ns() + FIRST_NS;
}

void progress_say(struct progress *progress, size_t done, size_t all, const char *what)
{
	_cleanup_free_ char *clean = NULL;
	uint64_t now;

	if (progress->tool == NULL)
		return;
	now = clock_monotonic_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + EVERY_NS;
	progress->shown = true;
	clean = what != NULL ? text_clean(what) : NULL;
	fprintf(stderr, "\r\033[K%s: %zu of %zu", progress->tool, done, all);
	if (clean != NULL && text_width(clean) > WHAT_WIDTH)
		fprintf(stderr, ": ...%s", text_skip(clean, text_width(clean) - WHAT_WIDTH));
	else if (clean != NULL)
		fprintf(stderr, ": %s", clean);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
