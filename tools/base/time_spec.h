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

#define TIME_SPEC_BYTES 64

/** time_spec_local() - "2026-11-20 14:30:00", of a time as above; "" if there is no such date. */
void time_spec_local(char text[TIME_SPEC_BYTES], int64_t time_ns);

/** time_spec_utc() - "2026-11-20T13:30:00Z": means the same everywhere. */
void time_spec_utc(char text[TIME_SPEC_BYTES], int64_t time_ns);

#endif
