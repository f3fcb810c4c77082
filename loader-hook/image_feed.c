// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/image_feed.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/error.h"
#include "loader-hook/audit_feed.h"
#include "loader-hook/bpf_hook.h"
#include "loader-hook/process_scan.h"
#include "loader-hook/side_band.h"

/* After a loss all of /proc is read, again only when so many times as long has passed. */
#define SCAN_REST 20
/* Or this: what happens meanwhile is not known. */
#define SCAN_REST_MAX_NS NS_PER_SECOND

/*
 * One of @hook, @audit and @band is open.
 *
 * @code: of the kernel; NULL: of one command, or perf is not permitted
 * @losses:  of the side band, when /proc was read last
 * @scan_ns: when it may be read again
 */
struct image_feed {
	struct bpf_hook *hook;
	struct audit_feed *audit;
	struct side_band *band;
	struct side_band *code;
	uint64_t losses;
	uint64_t scan_ns;
	char reason[2 * ERROR_MESSAGE_BYTES + 32];
};

bool image_feed_name_valid(const char *name)
{
	return strcmp(name, "auto") == 0 || strcmp(name, "bpf") == 0 || strcmp(name, "perf") == 0 ||
	       strcmp(name, "audit") == 0;
}

static int hook_open(struct image_feed *feed, struct error *err)
{
	int rc = bpf_hook_open(&feed->hook, err);

	if (rc == 0)
		snprintf(feed->reason, sizeof(feed->reason), "%s", bpf_hook_attached(feed->hook));
	return rc;
}

/* Perf's error is the one that tells why nobody can be asked. */
static int best_open(struct image_feed *feed, const char *socket, struct error *err)
{
	struct error hook = {.message = ""}, band = {.message = ""}, audit;
	int rc;

	if (hook_open(feed, &hook) == 0)
		return 0;
	snprintf(feed->reason, sizeof(feed->reason), "not bpf: %s", hook.message);
	rc = side_band_open(&feed->band, 0, &band);
	if (rc == 0)
		return 0;
	snprintf(feed->reason, sizeof(feed->reason), "not bpf: %s; not perf: %s", hook.message,
		 band.message);
	if (audit_feed_open(&feed->audit, socket, &audit) == 0)
		return 0;
	return error_set(err, -rc, "%s", band.message);
}

static int target_open(struct image_feed *feed, const char *name, uint32_t target_pid,
		       struct error *err)
{
	if (strcmp(name, "auto") != 0 && strcmp(name, "perf") != 0)
		return error_set(err, EINVAL, "%s follows the whole machine only",
				 strcmp(name, "bpf") == 0 ? "BPF" : "the loader hook");
	snprintf(feed->reason, sizeof(feed->reason), "follows one command");
	return side_band_open(&feed->band, target_pid, err);
}

static int named_open(struct image_feed *feed, const char *name, const char *socket,
		      struct error *err)
{
	struct error failure = {.message = ""};
	int rc;

	snprintf(feed->reason, sizeof(feed->reason), "asked for");
	if (strcmp(name, "audit") == 0)
		return audit_feed_open(&feed->audit, socket, err);
	if (strcmp(name, "perf") == 0)
		return side_band_open(&feed->band, 0, err);
	rc = hook_open(feed, &failure);
	return rc < 0 ? error_set(err, -rc, "image events by BPF: %s", failure.message) : 0;
}

int image_feed_open(struct image_feed **ret, const char *name, const char *socket,
		    uint32_t target_pid, struct error *err)
{
	struct image_feed *feed;
	int rc;

	if (!image_feed_name_valid(name))
		return error_set(err, EINVAL, "unknown producer of image events \"%s\"", name);
	feed = calloc(1, sizeof(*feed));
	if (feed == NULL)
		return error_set(err, ENOMEM, "out of memory");
	/* First, so that the programs of the hook are known. */
	if (target_pid == 0)
		side_band_open_kernel_code(&feed->code, NULL);
	if (target_pid != 0)
		rc = target_open(feed, name, target_pid, err);
	else if (strcmp(name, "auto") == 0)
		rc = best_open(feed, socket, err);
	else
		rc = named_open(feed, name, socket, err);
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

/* Of a scan: whom it is for. */
struct feed_scan {
	struct image_feed *feed;
	image_event_fn handle;
	void *context;
};

static void event_pass(void *context, const struct image_event *event)
{
	struct feed_scan *scan = context;

	scan->handle(scan->context, event);
}

/* What is lost meanwhile is left to the next drain. */
static void rings_relieve(void *context)
{
	struct feed_scan *scan = context;
	struct image_feed *feed = scan->feed;
	struct pollfd waiting = {.fd = image_feed_poll_fd(feed), .events = POLLIN};

	/* The thread that empties the side band's rings may be late. */
	if (poll(&waiting, 1, 0) <= 0 && (feed->band == NULL || !side_band_is_waiting(feed->band)))
		return;
	if (feed->hook != NULL)
		bpf_hook_drain(feed->hook, scan->handle, scan->context);
	else if (feed->audit == NULL)
		side_band_drain(feed->band, scan->handle, scan->context);
}

int image_feed_scan(struct image_feed *feed, image_event_fn handle, void *context,
		    struct error *err)
{
	struct feed_scan scan = {.feed = feed, .handle = handle, .context = context};

	return process_scan_all(event_pass, rings_relieve, &scan, err);
}

/* Reading what many processes have takes long: not all the time. */
static void scan_after_loss(struct image_feed *feed, image_event_fn handle, void *context)
{
	uint64_t began = clock_monotonic_ns(), ended, rest;

	if (began < feed->scan_ns)
		return;
	feed->losses = side_band_lost(feed->band) + side_band_doubts(feed->band);
	image_feed_scan(feed, handle, context, NULL);
	ended = clock_monotonic_ns();
	rest = SCAN_REST * (ended - began);
	feed->scan_ns = ended + (rest < SCAN_REST_MAX_NS ? rest : SCAN_REST_MAX_NS);
}

/* What the side band tells, and after a loss what /proc says. */
static uint64_t band_drain(struct image_feed *feed, image_event_fn handle, void *context)
{
	uint64_t now = side_band_drain(feed->band, handle, context);

	if (side_band_lost(feed->band) + side_band_doubts(feed->band) != feed->losses)
		scan_after_loss(feed, handle, context);
	return now;
}

uint64_t image_feed_drain(struct image_feed *feed, image_event_fn handle, void *context)
{
	if (feed->code != NULL)
		side_band_drain(feed->code, handle, context);
	if (feed->band != NULL)
		return band_drain(feed, handle, context);
	if (feed->audit != NULL)
		return audit_feed_drain(feed->audit, handle, context);
	return bpf_hook_drain(feed->hook, handle, context);
}

uint64_t image_feed_lost(const struct image_feed *feed)
{
	if (feed->hook != NULL)
		return bpf_hook_lost(feed->hook);
	return feed->audit != NULL ? audit_feed_lost(feed->audit) : side_band_lost(feed->band);
}
