// SPDX-License-Identifier: GPL-2.0-only
/* Samples and edges: from the source to the bins that wait for a merge. */
#include "daemon/collector_internal.h"

#include "daemon/accumulate.h"
#include "daemon/clock.h"
#include "daemon/edge_accumulate.h"
#include "daemon/image_table.h"
#include "daemon/matcher.h"

static void sample_take(void *context, const struct dcpi_sample *sample)
{
	struct collector *collector = context;
	struct match match = matcher_match(collector->matcher, sample);
	uint32_t count = dcpi_tag_count(sample->tag);
	struct accumulate_key key = {
		.image = match.place.image,
		.event = dcpi_tag_event(sample->tag),
		.pid = match.by_process ? (int64_t)dcpi_tag_pid(sample->tag) : PROFILE_PID_ALL,
	};

	collector->handed += count;
	collector->entries++;
	accumulate_add(collector->accumulate, &key, match.command,
		       match.place.image == IMAGE_UNKNOWN ? (uint64_t)match.place.unknown
							  : match.place.offset,
		       count);
}

/* Edges begin and end in images that are known, or they are of no use. */
static void edge_take(void *context, const struct source_edge *edge)
{
	struct collector *collector = context;
	struct image_place from = matcher_place(collector->matcher, edge->tag, edge->from);
	struct image_place to = matcher_place(collector->matcher, edge->tag, edge->to);
	uint32_t count = dcpi_tag_count(edge->tag);
	struct edge_key key = {
		.image = from.image,
		.to_image = to.image,
		.kind = dcpi_tag_event(edge->tag) == DCPI_EVENT_DOUBLE ? PROFILE_EDGE_DOUBLE
								       : PROFILE_EDGE_BRANCH,
	};

	collector->edges_handed += count;
	if (from.image == IMAGE_UNKNOWN || to.image == IMAGE_UNKNOWN ||
	    from.offset > PROFILE_EDGE_OFFSET_MAX || to.offset > PROFILE_EDGE_OFFSET_MAX)
		collector->edges_unknown += count;
	else
		edge_accumulate_add(collector->edges, &key, from.offset, to.offset, count);
}

/*
 * Events first. A source with times leaves what is later than the events for
 * the next drain; one without has them read again itself (events_sync) between
 * taking samples and handing them over.
 */
static int drain(struct collector *collector, bool all, struct error *err)
{
	const struct source_sink sink = {
		.sample = sample_take,
		.edge = edge_take,
		.context = collector,
	};
	uint64_t until = matcher_events(collector->matcher);

	return collector->source->ops->drain(collector->source, all,
					     collector->stopped ? UINT64_MAX : until, &sink, err);
}

int collector_drain(struct collector *collector, struct error *err)
{
	return drain(collector, false, err);
}

/* After a flush no sample of a process that ended before it can follow. */
int collector_drain_all(struct collector *collector, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = drain(collector, true, err);

	if (rc < 0)
		return rc;
	matcher_expire(collector->matcher, start);
	return 0;
}
