// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source_chunk.h"

#define COUNT_MASK ((uint64_t)DCPI_COUNT_MAX)

static void edge_near(const struct dcpi_sample *entry, const struct source_sink *sink)
{
	struct source_edge edge = {.tag = entry->tag};
	__u64 from, to;

	dcpi_edge_unpack(entry->pc, &from, &to);
	edge.from = from;
	edge.to = to;
	sink->edge(sink->context, &edge);
}

/* Return: whether the second entry belongs to the first. */
static bool edge_far(const struct dcpi_sample *entry, const struct source_sink *sink)
{
	/* The near event is the one before the far one. */
	const struct source_edge edge = {
		.from = entry[0].pc,
		.to = entry[1].pc,
		.tag = entry->tag - (1ULL << DCPI_COUNT_BITS),
	};

	if (entry[1].tag != (entry[0].tag & ~COUNT_MASK))
		return false;
	if (sink->edge != NULL)
		sink->edge(sink->context, &edge);
	return true;
}

void source_chunk_walk(const struct dcpi_sample *entries, size_t count,
		       const struct source_sink *sink)
{
	const struct dcpi_sample *entry = entries, *end = entries + count;

	for (; entry < end; entry++) {
		uint32_t event = dcpi_tag_event(entry->tag);

		if (dcpi_tag_count(entry->tag) == 0)
			continue;
		if (event < DCPI_EVENT_SPECIAL)
			sink->sample(sink->context, entry);
		else if (event == DCPI_EVENT_BRANCH || event == DCPI_EVENT_DOUBLE) {
			if (sink->edge != NULL)
				edge_near(entry, sink);
		} else if (event == DCPI_EVENT_BRANCH_FAR || event == DCPI_EVENT_DOUBLE_FAR) {
			if (entry + 1 < end && edge_far(entry, sink))
				entry++;
		}
	}
}
