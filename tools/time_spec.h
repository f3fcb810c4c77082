/* SPDX-License-Identifier: GPL-2.0-only */
/* Points in time as people write them. */
#ifndef DCPI_TIME_SPEC_H
#define DCPI_TIME_SPEC_H

#include <stdint.h>

struct error;

/**
 * time_spec_parse() - understand a point in time
 * @text: "now"; "90s", "10m", "2h", "3d", "1w": so long before now;
 *        "@1700000000": seconds since the Unix epoch;
 *        "2026-11-20", "2026-11-20 14:30", "2026-11-20T14:30:15", local time
 *        or, with "Z", "+01:00" or "-0500" at the end, not
 * @now_ns: nanoseconds since the Unix epoch
 * @ret:    out: likewise, > 0
 *
 * Return: 0 or -EINVAL.
 */
int time_spec_parse(const char *text, int64_t now_ns, int64_t *ret, struct error *err);

#endif
