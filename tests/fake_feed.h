/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In place of loader-hook/image_feed.h, for programs that make their own processes:
 * link fake_feed.c, and the feed tells what is in here.
 */
#ifndef DCPI_FAKE_FEED_H
#define DCPI_FAKE_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "loader-hook/image_event.h"

#define FAKE_FEED_EVENTS 64

/**
 * struct fake_feed - what the next drain does
 * @events: told then, @count of them; none after that
 * @until_ns: what it returns; at first, all is known
 */
struct fake_feed {
	struct image_event events[FAKE_FEED_EVENTS];
	size_t count;
	uint64_t until_ns;
};

extern struct fake_feed fake_feed;

#endif
