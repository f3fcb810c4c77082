// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/source_chunk.h"

#define COUNT_MASK ((uint64_t)DCPI_COUNT_MAX)

static void edge_near(const struct dcpi_sample *entry, const struct source_sink *sink)
{
	struct source_edge edge = {.tag = entry->tag, .count = dcpi_tag_count(entry->tag)};
	__u64 from, to;

	dcpi_edge_unpack(entry->pc, &from, &to);
	edge.from = from;
	edge.to = to;
	sink->edge(sink->context, &edge);
}

/* Return: true if the second entry belongs to the first. */
static bool edge_far(const struct dcpi_sample *entry, const struct source_sink *sink)
{
	/* The number of the near event is one less than that of the far one. */
	const struct source_edge edge = {
		.from = entry[0].pc,
		.to = entry[1].pc,
		.tag = entry->tag - (1ULL << DCPI_COUNT_BITS),
		.count = dcpi_tag_count(entry->tag),
	};

	if (entry[1].tag != (entry[0].tag & ~COUNT_MASK))
		return false;
	if (sink->edge != NULL)
		sink->edge(sink->context, &edge);
	return true;
}

static bool is_sample(const struct dcpi_sample *entry)
{
	return dcpi_tag_event(entry->tag) < DCPI_EVENT_SPECIAL;
}

/*
 * Return true if all four entries are samples, by a quick test. Otherwise some of them may still
 * be.
 */
static bool are_samples(const struct dcpi_sample *entry)
{
	return dcpi_tag_event(entry[0].tag | entry[1].tag | entry[2].tag | entry[3].tag) <
	       DCPI_EVENT_SPECIAL;
}

/* Return: the end of the run of samples that starts at @entry. */
static const struct dcpi_sample *samples_end(const struct dcpi_sample *entry,
					     const struct dcpi_sample *end)
{
	while (end - entry >= 4 && are_samples(entry))
		entry += 4;
	while (entry < end && is_sample(entry))
		entry++;
	return entry;
}

/* Process an entry that is not a sample. Return: the next entry. */
static const struct dcpi_sample *special_take(const struct dcpi_sample *entry,
					      const struct dcpi_sample *end,
					      const struct source_sink *sink)
{
	uint32_t event = dcpi_tag_event(entry->tag);

	if (dcpi_tag_count(entry->tag) == 0)
		return entry + 1;
	if (event == DCPI_EVENT_BRANCH || event == DCPI_EVENT_DOUBLE) {
		if (sink->edge != NULL)
			edge_near(entry, sink);
	} else if (event == DCPI_EVENT_BRANCH_FAR || event == DCPI_EVENT_DOUBLE_FAR) {
		if (entry + 1 < end && edge_far(entry, sink))
			return entry + 2;
	}
	return entry + 1;
}

void source_chunk_walk(const struct dcpi_sample *entries, size_t count,
		       const struct source_sink *sink)
{
	const struct dcpi_sample *entry = entries, *end = entries + count, *run;

	while (entry < end) {
		run = entry;
		entry = samples_end(run, end);
		if (entry > run)
			sink->samples(sink->context, run, (size_t)(entry - run));
		else
			entry = special_take(entry, end, sink);
	}
}
