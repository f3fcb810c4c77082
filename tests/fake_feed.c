// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fake_feed.h"

#include "loader-hook/image_feed.h"

struct fake_feed fake_feed = {.until_ns = UINT64_MAX};

int image_feed_open(struct image_feed **ret, const char *name, const char *socket,
		    uint32_t target_pid, struct error *err)
{
	(void)name;
	(void)socket;
	(void)target_pid;
	(void)err;
	*ret = NULL;
	return 0;
}

const char *image_feed_name(const struct image_feed *feed)
{
	(void)feed;
	return "none";
}

const char *image_feed_reason(const struct image_feed *feed)
{
	(void)feed;
	return "a test's";
}

void image_feed_close(struct image_feed *feed)
{
	(void)feed;
}

int image_feed_poll_fd(struct image_feed *feed)
{
	(void)feed;
	return -1;
}

uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context)
{
	(void)feed;
	for (size_t i = 0; i < fake_feed.count; i++)
		handle(context, &fake_feed.events[i]);
	fake_feed.count = 0;
	return fake_feed.until_ns;
}

bool image_feed_must_scan(struct image_feed *feed)
{
	(void)feed;
	return false;
}

uint64_t image_feed_lost(const struct image_feed *feed)
{
	(void)feed;
	return 0;
}
