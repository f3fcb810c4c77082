/* SPDX-License-Identifier: GPL-2.0-only */
/* A side band of this machine, and counts of its events. */
#ifndef DCPI_TESTS_SIDE_BAND_FIXTURE_H
#define DCPI_TESTS_SIDE_BAND_FIXTURE_H

#include <errno.h>

#include "lib/error.h"
#include "loader-hook/side_band.h"
#include "tests/unit.h"

static inline struct side_band *open_or_skip(uint32_t target)
{
	struct side_band *band = NULL;
	struct error err;
	int result = side_band_open(&band, target, &err);

	if (result == -EACCES || result == -EPERM || result == -ENOSYS) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	if (result < 0)
		fail_msg("%s", err.message);
	return band;
}

struct counts {
	size_t forks;
	size_t exits;
	size_t execs;
	uint64_t lost_from;
	uint64_t lost_until;
};

static inline void count(void *context, const struct image_event *event)
{
	struct counts *counts = context;

	counts->forks += event->type == IMAGE_EVENT_FORK;
	counts->exits += event->type == IMAGE_EVENT_EXIT;
	counts->execs += event->type == IMAGE_EVENT_EXEC;
	if (event->type == IMAGE_EVENT_LOST) {
		counts->lost_from = event->time_ns;
		counts->lost_until = event->until_ns;
	}
}

/* Count the events of one drain, starting from zero. */
static inline uint64_t drain(struct side_band *band, struct counts *counts)
{
	*counts = (struct counts){0};
	return side_band_drain(band, count, counts);
}

#endif
