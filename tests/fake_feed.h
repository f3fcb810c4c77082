/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replacement of loader-hook/image_feed.h for programs that simulate their own processes. Link
 * fake_feed.c; the feed reports the events in struct fake_feed.
 */
#ifndef DCPI_FAKE_FEED_H
#define DCPI_FAKE_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

#define FAKE_FEED_EVENTS 64

/**
 * struct fake_feed - the results of the next drain
 * @events: @count events to report at the next drain, once
 * @until_ns: the drain's return value; initially, all events are known
 */
struct fake_feed {
	struct image_event events[FAKE_FEED_EVENTS];
	size_t count;
	uint64_t until_ns;
};

extern struct fake_feed fake_feed;

#endif
