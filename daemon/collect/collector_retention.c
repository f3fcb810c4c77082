// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_retention.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_epoch.h"
#include "daemon/collect/collector_slices.h"
#include "daemon/collect/merge.h"
#include "db/profile_write.h"
#include "lib/clock.h"
#include "lib/error.h"

/* Interval of checks for epochs to delete. */
#define LOOK_NS (60 * NS_PER_SECOND)
/* The clock was set if it moves by this amount at once. */
#define CLOCK_SET_NS (60 * (int64_t)NS_PER_SECOND)
/*
 * No epoch is deleted because of its age before the clock has run evenly for this time: at boot, or
 * by mistake, it may be years ahead.
 */
#define CLOCK_EVEN_NS (3600 * NS_PER_SECOND)
/* Slices may have this size: a new database is small. */
#define SLICES_BYTES_MIN (8U << 20)
/* Minimum length of epochs if the database is full of the current one. */
#define EPOCH_MIN_NS (3600 * NS_PER_SECOND)

/* Return true if the clock was set. The times of one epoch should be from one clock. */
static bool clock_was_set(struct collector_retention *retention, uint64_t now)
{
	int64_t ahead = clock_real_ns() - (int64_t)now, moved = ahead - retention->clock_ahead_ns;
	bool first = retention->clock_even_since_ns == 0;

	retention->clock_ahead_ns = ahead;
	if (!first && llabs(moved) < CLOCK_SET_NS)
		return false;
	retention->clock_even_since_ns = now;
	if (!first)
		log_warning("the clock was changed by %+" PRId64 " s: a new epoch starts",
			    moved / (int64_t)NS_PER_SECOND);
	return !first;
}

static bool epoch_is_old(const struct collector *collector, uint64_t now)
{
	uint64_t limit = collector->config.epoch_ns;

	if (collector->retention.stuck && (limit == 0 || limit > EPOCH_MIN_NS))
		limit = EPOCH_MIN_NS;
	return limit > 0 && now - collector->retention.epoch_begun_ns >= limit;
}

/* While merges fail, which is reported separately, samples remain in the old epoch. */
static void epoch_renew(struct collector *collector, uint64_t now)
{
	struct collector_retention *retention = &collector->retention;
	struct error err;

	if (clock_was_set(retention, now) || epoch_is_old(collector, now))
		retention->renew = true;
	if (retention->renew && !collector->merge_failing)
		retention->renew = collector_epoch_renew(collector, collector->label, &err) < 0;
}

static void expired_report(struct collector_retention *retention,
			   const struct profile_expired *expired)
{
	retention->status.samples += expired->samples;
	retention->status.used_bytes = expired->used_bytes;
	retention->status.file_bytes = expired->file_bytes;
	retention->stuck = expired->stuck;
	if (expired->epochs == 0)
		return;
	retention->status.epochs++;
	log_info("deleted the oldest epoch %s",
		 expired->full ? "to make room" : "because of its age");
}

static void expire(struct collector *collector, uint64_t now)
{
	struct collector_retention *retention = &collector->retention;
	struct profile_limits limits = {.bytes_max = collector->config.database_bytes};
	struct profile_expired expired;
	struct error err;
	int rc;

	if (collector->config.retention_ns > 0 &&
	    now - retention->clock_even_since_ns >= CLOCK_EVEN_NS)
		limits.before_ns = clock_real_ns() - (int64_t)collector->config.retention_ns;
	rc = profile_writer_expire(collector->writer, &limits, &expired, &err);
	/* One step per tick, so that merges can run between steps. */
	retention->next_look_ns = rc == 1 ? 0 : now + LOOK_NS;
	if (rc == -ESTALE)
		return; /* the next merge opens another database */
	if (rc < 0 && !retention->failing)
		log_error("cannot delete old epochs: %s", err.message);
	retention->failing = rc < 0;
	if (rc >= 0)
		expired_report(retention, &expired);
	if (rc == 1)
		merge_forget(collector->merge); /* images may have been deleted */
}

/* Merge a few slices, and then let merges of samples run. */
static void slices_merge(struct collector *collector, uint64_t now)
{
	const struct collector_config *config = &collector->config;
	struct collector_retention *retention = &collector->retention;
	struct profile_slice_limits limits = {
		.now_ns = collector_counters_now(collector),
		.before_ns = collector_slices_begin(collector),
		.percent = config->slices_percent,
		.bytes_min = SLICES_BYTES_MIN,
	};
	struct error err;
	int rc;

	for (size_t i = 0; i < PROFILE_SLICE_LENGTHS; i++)
		limits.age_ns[i] = (int64_t)config->slice_age_ns[i];
	rc = profile_writer_slices_merge(collector->writer, &limits, &err);
	retention->next_slices_ns = rc == 1 ? 0 : now + LOOK_NS;
	if (rc == -ESTALE)
		return;
	if (rc < 0 && !retention->slices_failing)
		log_error("cannot merge slices of older samples: %s", err.message);
	retention->slices_failing = rc < 0;
}

void collector_retention_tick(struct collector *collector)
{
	uint64_t now = clock_boot_ns();

	if (now >= collector->retention.next_slices_ns)
		slices_merge(collector, now);
	if (collector->config.target_pid != 0)
		return;
	epoch_renew(collector, now);
	if (now >= collector->retention.next_look_ns)
		expire(collector, now);
}
