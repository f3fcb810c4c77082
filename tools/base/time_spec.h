/* SPDX-License-Identifier: GPL-2.0-only */
/* Points in time as users write them. */
#ifndef DCPI_TIME_SPEC_H
#define DCPI_TIME_SPEC_H

#include <stdint.h>

struct error;

/**
 * time_spec_parse() - parse a point in time
 * @text:   one of:
 * - "now"
 * - "90s", "10m", "2h", "3d", "1w": this long before now
 * - "@1700000000": seconds since the Unix epoch
 * - "2026-11-20", "2026-11-20 14:30", "2026-11-20T14:30:15": local time, or in the given zone if
 *   "Z", "+01:00" or "-0500" follows
 * @now_ns: nanoseconds since the Unix epoch
 * @ret:    out: nanoseconds since the Unix epoch, > 0
 *
 * Return: 0 or -EINVAL.
 */
int time_spec_parse(const char *text, int64_t now_ns, int64_t *ret, struct error *err);

#define TIME_SPEC_BYTES 64

/** time_spec_local() - format as "2026-11-20 14:30:00", local time; "" if there is no such date */
void time_spec_local(char text[TIME_SPEC_BYTES], int64_t time_ns);

/** time_spec_utc() - format as "2026-11-20T13:30:00Z", independent of the time zone */
void time_spec_utc(char text[TIME_SPEC_BYTES], int64_t time_ns);

#endif
