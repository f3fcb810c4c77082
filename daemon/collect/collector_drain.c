// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/collector_drain.h"

#include <string.h>

#include "daemon/collect/accumulate.h"
#include "daemon/collect/data_spaces.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/matcher.h"
#include "daemon/collect/pair_store.h"
#include "daemon/collect/region_store.h"
#include "daemon/collect/stack_unwinder.h"
#include "daemon/collect/thread_store.h"
#include "daemon/image/image_table.h"
#include "daemon/source/off_cpu.h"
#include "daemon/source/source_stack.h"
#include "daemon/source/register_pairs.h"
#include "lib/clock.h"
#include "loader-hook/proc/process_command.h"

/* Return the bin of the first sample of its kind. */
static struct accumulate_bin *bin_of(struct collector *collector, const struct match *match,
				     const struct dcpi_sample *sample)
{
	const struct accumulate_key key = {
		.image = match->image,
		.event = dcpi_tag_event(sample->tag),
		.pid = match->owner,
	};
	const char *command = NULL;

	/* A per-process profile has the name of its process. */
	if (match->owner >= 0)
		command = matcher_command(collector->matcher, (uint32_t)match->owner);
	return accumulate_bin(collector->accumulate, &key, command);
}

/* Match a sample that is not in the cache, or has no bin yet. */
static __attribute__((noinline)) struct match *match_new(struct collector *collector,
							 const struct dcpi_sample *sample)
{
	struct match *match = matcher_match(collector->matcher, sample);

	if (match->bin == NULL)
		match->bin = bin_of(collector, match, sample);
	return match;
}

/* Return the label of a sample; matches in the kernel contain none. */
static inline uint32_t collector_drain_label_of(struct collector *collector,
						struct match_cache *cache,
						const struct match *match,
						const struct dcpi_sample *sample)
{
	uint32_t pid = dcpi_tag_pid(sample->tag);
	const struct match_label *known = match_cache_label(cache, pid);

	if (match->label != MATCH_LABEL_OF_PROCESS)
		return match->label;
	return match_label_is(known, pid) ? known->label : matcher_label(collector->matcher, pid);
}

/* Return the number of samples added so far, including refused ones. */
static uint64_t added(const struct accumulate *accumulate)
{
	return accumulate_held(accumulate) + accumulate_refused(accumulate);
}

/* Per-entry work; most entries need no function call. */
static void samples_take(void *context, const struct dcpi_sample *samples, size_t n)
{
	struct collector *collector = context;
	struct accumulate *accumulate = collector->accumulate;
	struct match_cache *cache = matcher_cache(collector->matcher);
	const struct dcpi_sample *sample, *end = samples + n;
	uint64_t before = added(accumulate);

	collector->entries += n;
	for (sample = samples; sample < end; sample++) {
		uint32_t count = dcpi_tag_count(sample->tag);
		struct match *match;

		if (count == 0) {
			collector->entries--;
			continue;
		}
		match = match_cache_find(cache, sample);
		if (match == NULL || match->bin == NULL)
			match = match_new(collector, sample);
		accumulate_add(accumulate, match->bin,
			       collector_drain_label_of(collector, cache, match, sample),
			       sample->pc + match->delta, count);
	}
	collector->handed += added(accumulate) - before;
}

static enum profile_edge_kind collector_drain_kind_of(uint64_t tag)
{
	switch (dcpi_tag_event(tag)) {
	case DCPI_EVENT_DOUBLE:
		return PROFILE_EDGE_DOUBLE;
	case SOURCE_EVENT_PROBE:
		return PROFILE_EDGE_PROBE;
	case SOURCE_EVENT_SECOND_MOMENT:
		return PROFILE_EDGE_SECOND_MOMENT;
	case SOURCE_EVENT_SAME_WINDOW:
		return PROFILE_EDGE_SAME_WINDOW;
	case SOURCE_EVENT_WEIGHTED:
		return PROFILE_EDGE_WEIGHTED;
	case SOURCE_EVENT_INTERVALS:
		return PROFILE_EDGE_INTERVALS;
	case SOURCE_EVENT_INTERVAL_NS:
		return PROFILE_EDGE_INTERVAL_NS;
	case SOURCE_EVENT_REFERENCE_INTERVAL:
		return PROFILE_EDGE_REFERENCE_INTERVAL;
	case SOURCE_EVENT_REMAINING:
		return PROFILE_EDGE_REMAINING;
	default:
		return PROFILE_EDGE_BRANCH;
	}
}

/* Edges are useful only if both ends are in known images. */
static void edge_take(void *context, const struct source_edge *edge)
{
	struct collector *collector = context;
	struct image_place from = matcher_place(collector->matcher, edge->tag, edge->from);
	struct image_place to = matcher_place(collector->matcher, edge->tag, edge->to);
	struct edge_key key = {
		.image = from.image,
		.to_image = to.image,
		.kind = collector_drain_kind_of(edge->tag),
	};
	uint64_t edges;

	edges = profile_edge_is_edge(key.kind) ? edge->count : 0;
	collector->edges_handed += edges;
	if (from.image == IMAGE_UNKNOWN || to.image == IMAGE_UNKNOWN ||
	    from.offset > PROFILE_EDGE_OFFSET_MAX || to.offset > PROFILE_EDGE_OFFSET_MAX)
		collector->edges_unknown += edges;
	else
		edge_accumulate_add(collector->edges, &key, from.offset, to.offset, edge->count);
}

/* A pair is of use within one image only. */
static void pair_take(void *context, const struct source_pair *pair)
{
	struct collector *collector = context;
	struct image_place from = matcher_place(collector->matcher, pair->tag, pair->from);
	struct image_place to = matcher_place(collector->matcher, pair->tag, pair->to);
	struct stored_pair stored = {
		.from = from.offset, .to = to.offset, .samples = pair->samples};

	if (from.image == IMAGE_UNKNOWN || from.image != to.image) {
		collector->pairs_unplaced++;
		return;
	}
	memcpy(stored.delta, pair->delta, sizeof(stored.delta));
	stored.word_count = pair->word_count;
	memcpy(stored.words, pair->words, sizeof(stored.words));
	pair_store_add(collector->pairs, from.image, &stored);
}

/* @image: of the instruction. In a replay, the processes of the samples no longer exist. */
static void region_add(struct collector *collector, const struct source_access *access,
		       uint32_t image)
{
	struct region_access added = {
		.image = image,
		.region = PROFILE_REGION_STACK,
		.address = access->address,
		.space = dcpi_tag_pid(access->tag),
		.nearest = access->nearest,
	};
	struct data_place data;
	struct image_place code;

	if (collector->config.replay != NULL)
		return;
	if (!access->stack) {
		data = data_spaces_find(collector->spaces, access->tag, access->address);
		added.region = data.region;
	}
	if (added.region == PROFILE_REGION_IMAGE) {
		code = matcher_place(collector->matcher, access->tag, data.code);
		if (code.image == IMAGE_UNKNOWN || code.offset > PROFILE_EDGE_OFFSET_MAX)
			added.region = PROFILE_REGION_FILE;
		else
			added.image = code.image;
		/* The number of an image without samples may be reclaimed. */
		image_table_sampled(matcher_images(collector->matcher), added.image);
		added.position = (int64_t)(code.offset + (access->address - data.code));
	}
	region_store_add(collector->regions, &added);
}

/* Instructions of unknown images have no row that a footprint could belong to. */
static void access_take(void *context, const struct source_access *access)
{
	struct collector *collector = context;
	struct image_place place = matcher_place(collector->matcher, access->tag, access->pc);
	const struct footprint_access footprint = {
		.offset = place.offset,
		.address = access->address,
		.space = dcpi_tag_pid(access->tag),
		.stride = access->stride,
		.has_stride = access->has_stride,
		.stack = access->stack,
		.time_ns = access->time_ns,
		.thread = access->thread,
		.cpu = access->cpu,
	};

	if (place.image == IMAGE_UNKNOWN || place.offset > PROFILE_EDGE_OFFSET_MAX)
		return;
	footprint_store_add(collector->footprints, place.image, &footprint);
	region_add(collector, access, place.image);
}

/* Some sources do not know names. A thread that has ended meanwhile has none. */
static void thread_add(struct collector *collector, const struct source_stack *stack)
{
	uint32_t pid = dcpi_tag_pid(stack->tag);
	const char *name = stack->thread, *command;
	char current[PROCESS_COMMAND_BYTES];
	struct thread_key key;
	uint64_t off_cpu_ns = 0;

	if (name[0] == '\0' && collector->config.replay == NULL) {
		process_command_read(pid, stack->tid, current);
		name = current;
	}
	command = matcher_command(collector->matcher, pid);
	/* Threads of the kernel are processes without mappings, which are not in the image map. */
	key = thread_key_make(pid, stack->tid, command[0] != '\0' ? command : name, name);
	for (int i = 0; i < OFF_CPU_STATES; i++)
		off_cpu_ns += stack->off_cpu_ns[i];
	thread_store_add(collector->threads, &key, !stack->is_off_cpu, off_cpu_ns);
}

static void stack_take(void *context, const struct source_stack *stack)
{
	struct collector *collector = context;

	thread_add(collector, stack);
	stack_unwinder_add(collector->stacks, stack);
}

/* Record how long events have waited: rings hold about a second's events. */
static void gap_note(struct collector *collector)
{
	uint64_t now = clock_monotonic_ns();

	if (collector->drained_ns != 0 && now - collector->drained_ns > collector->drain_gap_ns)
		collector->drain_gap_ns = now - collector->drained_ns;
	collector->drained_ns = now;
}

/*
 * Image events are read first. A source with times leaves later samples for the next drain. A
 * source without times reads the events again itself (events_sync), between taking samples and
 * passing them on.
 */
static int drain(struct collector *collector, bool all, struct error *err)
{
	const struct source_sink sink = {
		.samples = samples_take,
		.edge = edge_take,
		.pair = pair_take,
		.access = access_take,
		.stack = collector->stacks != NULL ? stack_take : NULL,
		.context = collector,
	};
	uint64_t until;
	int rc;

	gap_note(collector);
	until = matcher_events(collector->matcher);
	if (collector->stacks != NULL)
		stack_unwinder_settle(collector->stacks);
	if (!collector->sampling)
		return 0;
	rc = collector->source->ops->drain(collector->source, all,
					   collector->stopped ? UINT64_MAX : until, &sink, err);
	if (rc == 0)
		off_cpu_drain(collector->off_cpu, all, all && collector->stopped, &sink);
	/* Pages of unwind tables that the new stacks need are requested at once. */
	if (rc == 0 && collector->stacks != NULL)
		stack_unwinder_settle(collector->stacks);
	return rc;
}

int collector_drain_ready(struct collector *collector, struct error *err)
{
	int rc = drain(collector, false, err);

	if (rc == 0 &&
	    (matcher_unsettled(collector->matcher) || matcher_crowded(collector->matcher)))
		rc = collector_drain_all(collector, err);
	return rc;
}

/* After a flush no sample of a process that exited before it can follow. */
int collector_drain_all(struct collector *collector, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = drain(collector, true, err);

	if (rc < 0)
		return rc;
	if (collector->stacks != NULL) {
		if (!collector->stopped && stack_unwinder_waits(collector->stacks, start))
			return 0;
		stack_unwinder_finish(collector->stacks, collector->stopped);
	}
	matcher_expire(collector->matcher, start);
	return 0;
}
