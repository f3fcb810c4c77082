// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/source/source_chunk.h"
#include "kmod/core/sample_store.h"

struct counts {
	uint64_t samples, edges;
	struct source_edge last;
};

static void samples_add(void *context, const struct dcpi_sample *sample, size_t count)
{
	assert_true(count > 0);
	for (; count > 0; count--, sample++) {
		assert_true(dcpi_tag_event(sample->tag) < DCPI_EVENT_SPECIAL);
		((struct counts *)context)->samples += dcpi_tag_count(sample->tag);
	}
}

static void edge_add(void *context, const struct source_edge *edge)
{
	struct counts *counts = context;

	assert_true(dcpi_tag_event(edge->tag) == DCPI_EVENT_BRANCH ||
		    dcpi_tag_event(edge->tag) == DCPI_EVENT_DOUBLE);
	assert_true(edge->count > 0);
	counts->edges += edge->count;
	counts->last = *edge;
}

/* All samples and edges counted by a store are handed over, by kind. */
static void hands_over_what_a_store_counted(void **state)
{
	static struct dcpi_sample memory[64 + 2 * 64] __attribute__((aligned(64)));
	static struct sample_store store __attribute__((aligned(64)));
	const struct source_sink all = {.samples = samples_add, .edge = edge_add};
	uint64_t seed = 1, samples = 0, edges = 0;
	struct counts counts = {0};
	struct source_sink sink = all;
	struct sample_chunk chunk;
	int step, buffer;

	(void)state;
	sink.context = &counts;
	assert_int_equal(sample_store_init(&store, memory, 64, 64), 0);
	for (step = 0; step < 100000; step++) {
		uint64_t r = unit_random(&seed);

		if (r % 3 != 0)
			samples += sample_store_count(&store, r % 4096, dcpi_tag(1, 2, 3)) !=
				   SAMPLE_LOST;
		else
			edges += sample_store_count_edge(&store, r % 4096, r % 4096 << (r >> 60),
							 dcpi_tag(1, 2, DCPI_EVENT_DOUBLE)) !=
				 SAMPLE_LOST;
		buffer = sample_store_full(&store, &chunk);
		if (buffer < 0)
			continue;
		source_chunk_walk(chunk.entries, chunk.count, &sink);
		sample_store_release(&store, buffer);
	}
	assert_true(counts.edges > 1000 && counts.samples > 1000);
	assert_int_equal(counts.samples + sample_store_pending_totals(&store).samples, samples);
	assert_int_equal(counts.edges + sample_store_pending_totals(&store).edges, edges);
}

static void puts_edges_together(void **state)
{
	const uint64_t tag = dcpi_tag(7, 8, DCPI_EVENT_BRANCH);
	const uint64_t far = dcpi_tag(7, 8, DCPI_EVENT_BRANCH_FAR);
	struct counts counts = {0};
	const struct source_sink sink = {
		.samples = samples_add, .edge = edge_add, .context = &counts};
	struct dcpi_sample entries[2] = {{.tag = tag + 5}};

	(void)state;
	assert_true(dcpi_edge_pack(0xffffffff81000100, 0xffffffff81000000, &entries[0].pc));
	source_chunk_walk(entries, 1, &sink);
	assert_int_equal(counts.last.from, 0xffffffff81000100);
	assert_int_equal(counts.last.to, 0xffffffff81000000);
	assert_int_equal(counts.last.tag, tag + 5);
	entries[0] = (struct dcpi_sample){.pc = 0x1000, .tag = far + 1};
	entries[1] = (struct dcpi_sample){.pc = 0xffffffff81000000, .tag = far};
	source_chunk_walk(entries, 2, &sink);
	assert_int_equal(counts.last.from, 0x1000);
	assert_int_equal(counts.last.to, 0xffffffff81000000);
	assert_int_equal(counts.last.tag, tag + 1);
	assert_int_equal(counts.edges, 6);
}

/* For any entries, nothing is read past the end, checked by ASan, and half an edge is ignored. */
static void survives_any_entries(void **state)
{
	static const uint32_t events[] = {0,
					  1,
					  0xef,
					  0xf0,
					  0xfb,
					  DCPI_EVENT_BRANCH,
					  DCPI_EVENT_BRANCH_FAR,
					  DCPI_EVENT_DOUBLE,
					  DCPI_EVENT_DOUBLE_FAR};
	uint64_t seed = 2;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size_t count = unit_random(&seed) % 9, i;
		struct dcpi_sample *entries = malloc(count * sizeof(*entries) + 1);
		struct counts counts = {0};
		struct source_sink sink = {.samples = samples_add, .context = &counts};

		assert_non_null(entries);
		sink.edge = round % 2 ? edge_add : NULL;
		for (i = 0; i < count; i++) {
			entries[i].pc = unit_random(&seed);
			entries[i].tag = dcpi_tag(1, 1, events[unit_random(&seed) % 9]) +
					 unit_random(&seed) % 2;
		}
		source_chunk_walk(entries, count, &sink);
		assert_true(counts.samples + counts.edges <= count);
		free(entries);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_over_what_a_store_counted),
		cmocka_unit_test(puts_edges_together),
		cmocka_unit_test(survives_any_entries),
	};

	return cmocka_run_group_tests_name("source_chunk", tests, NULL, NULL);
}
