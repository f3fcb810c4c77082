// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/image_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "loader-hook/bpf_hook.h"
#include "loader-hook/process_scan.h"
#include "loader-hook/side_band.h"

#define NS_PER_SECOND 1000000000ULL

/*
 * One of @hook and @band is open; beside @hook also a @band of the kernel's own
 * code, which the hook does not see (unless perf is not permitted).
 *
 * @losses:     of the side band, when /proc was read last
 * @scanned_ns: when that was
 */
struct image_feed {
	struct bpf_hook *hook;
	struct side_band *band;
	uint64_t losses;
	uint64_t scanned_ns;
	char reason[ERROR_MESSAGE_BYTES + 16];
};

bool image_feed_name_valid(const char *name)
{
	return strcmp(name, "auto") == 0 || strcmp(name, "bpf") == 0 || strcmp(name, "perf") == 0;
}

static int hook_open(struct image_feed *feed, const char *name, uint32_t target_pid,
		     struct error *err)
{
	struct error failure = {.message = ""};
	int rc;

	if (target_pid != 0 && strcmp(name, "bpf") == 0)
		return error_set(err, EINVAL, "BPF follows the whole machine only");
	if (target_pid != 0) {
		snprintf(feed->reason, sizeof(feed->reason), "follows one command");
		return 0;
	}
	/* First, so that it tells of the hook's programs, too. */
	side_band_open_kernel_code(&feed->band, NULL);
	rc = bpf_hook_open(&feed->hook, &failure);
	if (rc < 0) {
		side_band_close(feed->band);
		feed->band = NULL;
	}
	if (rc == 0)
		snprintf(feed->reason, sizeof(feed->reason), "%s", bpf_hook_attached(feed->hook));
	else
		snprintf(feed->reason, sizeof(feed->reason), "not bpf: %s", failure.message);
	if (rc < 0 && strcmp(name, "bpf") == 0)
		return error_set(err, -rc, "image events by BPF: %s", failure.message);
	return 0;
}

int image_feed_open(struct image_feed **ret, const char *name, uint32_t target_pid,
		    struct error *err)
{
	struct image_feed *feed;
	int rc = 0;

	if (!image_feed_name_valid(name))
		return error_set(err, EINVAL, "unknown producer of image events \"%s\"", name);
	feed = calloc(1, sizeof(*feed));
	if (feed == NULL)
		return error_set(err, ENOMEM, "out of memory");
	if (strcmp(name, "perf") == 0)
		snprintf(feed->reason, sizeof(feed->reason), "asked for");
	else
		rc = hook_open(feed, name, target_pid, err);
	if (rc == 0 && feed->hook == NULL)
		rc = side_band_open(&feed->band, target_pid, err);
	if (rc < 0) {
		image_feed_close(feed);
		return rc;
	}
	*ret = feed;
	return 0;
}

void image_feed_close(struct image_feed *feed)
{
	if (feed == NULL)
		return;
	bpf_hook_close(feed->hook);
	side_band_close(feed->band);
	free(feed);
}

const char *image_feed_name(const struct image_feed *feed)
{
	return feed->hook != NULL ? "bpf" : "perf";
}

const char *image_feed_reason(const struct image_feed *feed)
{
	return feed->reason;
}

int image_feed_poll_fd(struct image_feed *feed)
{
	return feed->hook != NULL ? bpf_hook_poll_fd(feed->hook) : side_band_poll_fd(feed->band);
}

uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context)
{
	uint64_t now, losses;

	if (feed->hook != NULL) {
		if (feed->band != NULL)
			side_band_drain(feed->band, handle, context);
		return bpf_hook_drain(feed->hook, handle, context);
	}
	now = side_band_drain(feed->band, handle, context);
	losses = side_band_lost(feed->band) + side_band_doubts(feed->band);
	if (losses != feed->losses && now >= feed->scanned_ns + NS_PER_SECOND) {
		feed->losses = losses;
		feed->scanned_ns = now;
		process_scan_all(handle, context, NULL);
	}
	return now;
}

uint64_t image_feed_lost(const struct image_feed *feed)
{
	return feed->hook != NULL ? bpf_hook_lost(feed->hook) : side_band_lost(feed->band);
}
