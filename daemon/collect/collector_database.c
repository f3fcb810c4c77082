// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_database.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/collect/accumulate.h"
#include "daemon/collect/collector_counters.h"
#include "daemon/collect/collector_epoch.h"
#include "daemon/collect/collector_merge.h"
#include "db/profile_place.h"
#include "db/profile_write.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"

/*
 * Describe the change for the log, e.g. "was moved to PATH", while the old database is still open.
 */
static void replacement_describe(struct collector *collector, enum profile_place place)
{
	struct collector_replacement *replacement = &collector->replacement;
	_cleanup_free_ char *here = realpath(collector->config.db, NULL);
	char name[PATH_MAX];

	if (place == PROFILE_MOVED && profile_writer_moved_to(collector->writer, name))
		snprintf(replacement->text, sizeof(replacement->text), "%s%s",
			 here != NULL && strcmp(here, name) == 0 ? "lost the log next to "
								 : "was moved to ",
			 name);
	else
		snprintf(replacement->text, sizeof(replacement->text), "was %s",
			 place == PROFILE_OVERWRITTEN ? "overwritten" : "removed");
}

/*
 * Merge the samples in memory into the moved database and end its epoch. A concurrent reader may
 * keep the database from being complete without its log. Then this is repeated later, with the
 * epoch still open.
 */
static int moved_finish(struct collector *collector, struct error *err)
{
	struct collector_replacement *replacement = &collector->replacement;
	struct profile_writer *writer = collector->writer;
	int rc;

	profile_writer_follow(writer, true);
	rc = collector_merge_all(collector, err);
	if (rc == 0)
		rc = profile_writer_complete(writer, err);
	if (rc == 0) {
		replacement->left_ns = collector_counters_now(collector);
		replacement->left_boot_ns = clock_boot_ns();
		rc = profile_writer_epoch_end(writer, replacement->left_ns, err);
	}
	if (rc == 0) {
		profile_writer_complete(writer, NULL);
		collector_counters_base(collector);
		replacement->ended = true;
	}
	profile_writer_follow(writer, false);
	return rc;
}

static int database_leave(struct collector *collector, struct error *err)
{
	struct collector_replacement *replacement = &collector->replacement;
	enum profile_place place = profile_writer_place(collector->writer);
	int rc;

	if (!collector->ended && profile_writer_being_copied(collector->writer))
		return error_set(err, EAGAIN, "a file is being copied to %s", collector->config.db);
	replacement_describe(collector, place);
	replacement->moved = place == PROFILE_MOVED;
	replacement->ended = false;
	replacement->renamed[0] = '\0';
	if (replacement->moved) {
		rc = moved_finish(collector, err);
		if (rc == -EBUSY && !collector->ended)
			return rc;
	}
	replacement->pending = true;
	return 0;
}

/*
 * Count the samples and losses of the epoch that are in no database.
 * @known: out: part of the epoch is in a database that still exists
 */
static int lost_count(struct collector *collector, uint64_t *lost, bool *known, struct error *err)
{
	const struct profile_epoch epoch = {
		.start_ns = collector->epoch_start_ns,
		.host = collector->host.name,
		.machine_id = collector->host.machine_id,
	};
	uint64_t accounted = collector->replacement.moved ? collector->accounted : 0;
	uint64_t interrupts, here = 0;
	struct counter_set ignored;
	int rc = profile_writer_accounted(collector->writer, &epoch, &here, err);

	if (rc < 0)
		return rc;
	if (here > accounted)
		accounted = here;
	*known = collector->replacement.moved || rc == 1;
	collector_counters_epoch(collector, &ignored, &interrupts);
	interrupts -= accumulate_held(collector->accumulate);
	*lost = interrupts > accounted ? interrupts - accounted : 0;
	return 0;
}

/*
 * Continue the epoch in the new database, from its start, or from now if part of it is in a
 * database.
 */
static int epoch_resume(struct collector *collector, uint64_t *lost, struct error *err)
{
	int64_t start_ns = collector->epoch_start_ns;
	uint64_t boot_ns = collector->retention.epoch_begun_ns;
	bool known = false;
	int rc = lost_count(collector, lost, &known, err);

	if (rc < 0)
		return rc;
	if (known) {
		start_ns = collector_counters_now(collector);
		boot_ns = clock_boot_ns();
	}
	rc = collector_epoch_begin_at(collector, start_ns, boot_ns, err);
	if (rc == 0)
		collector_counters_resume(collector, *lost, known);
	return rc;
}

static int database_enter(struct collector *collector, uint64_t *lost, struct error *err)
{
	struct collector_replacement *replacement = &collector->replacement;
	int rc = 0;

	if (profile_writer_place(collector->writer) != PROFILE_IN_PLACE)
		rc = profile_writer_reopen(collector->writer, replacement->renamed, err);
	if (rc < 0)
		return rc;
	profile_writer_wait(collector->writer, COLLECTOR_LOCKED_MS);
	return replacement->ended ? collector_epoch_begin_at(collector, replacement->left_ns,
							     replacement->left_boot_ns, err)
				  : epoch_resume(collector, lost, err);
}

int collector_database_renew(struct collector *collector, struct error *err)
{
	struct collector_replacement *replacement = &collector->replacement;
	uint64_t lost = 0;
	int rc = 0;

	if (!replacement->pending)
		rc = database_leave(collector, err);
	if (rc == 0)
		rc = database_enter(collector, &lost, err);
	if (rc < 0)
		return rc;
	replacement->pending = false;
	log_warning("database '%s' %s; epoch %" PRId64
		    " starts in the database at its path, %" PRIu64 " stored samples are lost%s%s",
		    collector->config.db, replacement->text, collector->epoch_id, lost,
		    replacement->renamed[0] != '\0' ? "; a file there was renamed to " : "",
		    replacement->renamed);
	return 0;
}
