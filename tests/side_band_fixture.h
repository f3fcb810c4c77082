/* SPDX-License-Identifier: GPL-2.0-only */
/* A side band of this machine's. */
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

#endif
