// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/image_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/audit_feed.h"
#include "loader-hook/bpf/bpf_hook.h"
#include "loader-hook/perf/side_band.h"

/*
 * Exactly one of @hook, @audit and @band is open.
 *
 * @code:   recorder of kernel code; NULL if one command is followed, or perf is not permitted
 * @losses: side_band_lost() + side_band_gaps() at the last image_feed_must_scan()
 */
struct image_feed {
	struct bpf_hook *hook;
	struct audit_feed *audit;
	struct side_band *band;
	struct side_band *code;
	uint64_t losses;
	char reason[2 * ERROR_MESSAGE_BYTES + 32];
};

bool image_feed_name_valid(const char *name)
{
	return strcmp(name, "auto") == 0 || strcmp(name, "bpf") == 0 || strcmp(name, "perf") == 0 ||
	       strcmp(name, "audit") == 0;
}

static int hook_open(struct image_feed *feed, struct error *err)
{
	int r = bpf_hook_open(&feed->hook, err);

	if (r == 0)
		snprintf(feed->reason, sizeof(feed->reason), "%s", bpf_hook_attached(feed->hook));
	return r;
}

/* If no producer can be opened, perf's error is the one to report. */
static int best_open(struct image_feed *feed, const char *socket, struct error *err)
{
	struct error hook = {.message = ""}, band = {.message = ""}, audit;
	int r;

	if (hook_open(feed, &hook) == 0)
		return 0;
	snprintf(feed->reason, sizeof(feed->reason), "not bpf: %s", hook.message);
	r = side_band_open(&feed->band, 0, &band);
	if (r == 0)
		return 0;
	snprintf(feed->reason, sizeof(feed->reason), "not bpf: %s; not perf: %s", hook.message,
		 band.message);
	if (audit_feed_open(&feed->audit, socket, &audit) == 0)
		return 0;
	return error_set(err, -r, "%s", band.message);
}

static int target_open(struct image_feed *feed, const char *name, uint32_t target_pid,
		       struct error *err)
{
	if (strcmp(name, "auto") != 0 && strcmp(name, "perf") != 0)
		return error_set(err, EINVAL, "%s supports only the whole machine",
				 strcmp(name, "bpf") == 0 ? "BPF" : "the loader hook");
	snprintf(feed->reason, sizeof(feed->reason), "follows one command");
	return side_band_open(&feed->band, target_pid, err);
}

static int named_open(struct image_feed *feed, const char *name, const char *socket,
		      struct error *err)
{
	struct error failure = {.message = ""};
	int r;

	snprintf(feed->reason, sizeof(feed->reason), "selected by the user");
	if (strcmp(name, "audit") == 0)
		return audit_feed_open(&feed->audit, socket, err);
	if (strcmp(name, "perf") == 0)
		return side_band_open(&feed->band, 0, err);
	r = hook_open(feed, &failure);
	return r < 0 ? error_set(err, -r, "image events by BPF: %s", failure.message) : 0;
}

int image_feed_open(struct image_feed **ret, const char *name, const char *socket,
		    uint32_t target_pid, struct error *err)
{
	struct image_feed *feed;
	int r;

	if (!image_feed_name_valid(name))
		return error_set(err, EINVAL, "unknown producer of image events '%s'", name);
	feed = calloc(1, sizeof(*feed));
	if (feed == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	/*
	 * Open the recorder of kernel code first, so that it records the hook's own BPF programs.
	 */
	if (target_pid == 0)
		side_band_open_kernel_code(&feed->code, NULL);
	if (target_pid != 0)
		r = target_open(feed, name, target_pid, err);
	else if (strcmp(name, "auto") == 0)
		r = best_open(feed, socket, err);
	else
		r = named_open(feed, name, socket, err);
	if (r < 0) {
		image_feed_close(feed);
		return r;
	}
	*ret = feed;
	return 0;
}

void image_feed_close(struct image_feed *feed)
{
	if (feed == NULL)
		return;
	bpf_hook_close(feed->hook);
	audit_feed_close(feed->audit);
	side_band_close(feed->band);
	side_band_close(feed->code);
	free(feed);
}

const char *image_feed_name(const struct image_feed *feed)
{
	if (feed->hook != NULL)
		return "bpf";
	return feed->audit != NULL ? "audit" : "perf";
}

const char *image_feed_reason(const struct image_feed *feed)
{
	return feed->reason;
}

int image_feed_poll_fd(struct image_feed *feed)
{
	if (feed->hook != NULL)
		return bpf_hook_poll_fd(feed->hook);
	return feed->audit != NULL ? audit_feed_poll_fd(feed->audit)
				   : side_band_poll_fd(feed->band);
}

void image_feed_refuse(struct image_feed *feed, image_event_refuse_fn refuses, void *context)
{
	if (feed->band != NULL)
		side_band_refuse(feed->band, refuses, context);
	else if (feed->hook != NULL)
		bpf_hook_refuse(feed->hook, refuses, context);
}

uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context)
{
	if (feed->code != NULL)
		side_band_drain(feed->code, handle, context);
	if (feed->band != NULL)
		return side_band_drain(feed->band, handle, context);
	if (feed->audit != NULL)
		return audit_feed_drain(feed->audit, handle, context);
	return bpf_hook_drain(feed->hook, handle, context);
}

bool image_feed_must_scan(struct image_feed *feed)
{
	uint64_t losses;

	if (feed->hook != NULL)
		return bpf_hook_must_scan(feed->hook);
	if (feed->band == NULL)
		return false;
	losses = side_band_lost(feed->band) + side_band_gaps(feed->band);
	if (losses == feed->losses)
		return false;
	feed->losses = losses;
	return true;
}

uint64_t image_feed_lost(const struct image_feed *feed)
{
	if (feed->hook != NULL)
		return bpf_hook_lost(feed->hook);
	return feed->audit != NULL ? audit_feed_lost(feed->audit) : side_band_lost(feed->band);
}
