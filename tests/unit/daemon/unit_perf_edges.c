// SPDX-License-Identifier: GPL-2.0-only
/* Edges of the perf and BPF sources: attribution to a process after they were found. */
#include "tests/lib/unit.h"

#include <unistd.h>

#include "daemon/source/perf_edges.h"
#include "daemon/source/perf_registers.h"
#include "daemon/source/perf_slot.h"
#include "daemon/source/source.h"

/* The registers in samples, in the order of perf's numbers. */
enum {
	REGISTER_PC = 8,
	REGISTERS = 18
};

struct record {
	struct perf_sample sample;
	uint64_t abi;
	uint64_t registers[REGISTERS];
};

/* Current state of the map; @pending: its state after the pending events have been read */
struct told {
	uint32_t generation;
	uint64_t since_ns;
	const struct told *pending;
};

static uint32_t generation_now(void *context, uint32_t pid, uint64_t time_ns)
{
	const struct told *told = context;

	(void)pid;
	assert_true(time_ns == UINT64_MAX);
	return told->generation;
}

static uint32_t no_changes(void *context, uint32_t pid, uint64_t *since_ns)
{
	const struct told *told = context;

	(void)pid;
	*since_ns = told->since_ns;
	return 0;
}

static void pending_apply(void *context)
{
	struct told *told = context;

	if (told->pending != NULL)
		*told = *told->pending;
}

/* struct found - @edges: after samples; @unknown: samples without remaining executions */
struct found {
	uint32_t edges;
	uint64_t unknown;
};

static void behind_count(void *context, uint32_t cpu, const struct interpret_edge *edges,
			 uint32_t count, uint64_t tag)
{
	(void)cpu;
	(void)edges;
	(void)tag;
	((struct found *)context)->edges += count;
}

/* The branch is no loop, so its remaining executions are unknown. */
static void remaining_count(void *context, const struct source_edge *edge)
{
	assert_true(edge->from == edge->to);
	((struct found *)context)->unknown += edge->count;
}

#define SAMPLED_NS 1000

/*
 * A process is read for a sample only if it is known to be unchanged since. The result is used only
 * if this is still true after the read.
 */
static void reads_what_is_known_to_be_there(void **state)
{
	static const uint8_t code[] = {0x85, 0xc0, 0x75, 0x00}; /* test; jne */
	static const struct told execed = {.generation = 2}, moved = {1, SAMPLED_NS + 1, NULL},
				 mapped = {1, SAMPLED_NS, NULL};
	static const struct {
		uint32_t then;
		struct told now;
		bool read, believed;
	} cases[] = {{1, {1, 0, NULL}, true, true},
		     {1, {2, 0, NULL}, false, false},
		     {0, {0, 0, NULL}, false, false},
		     {1, {DCPI_GENERATION_MAX, 0, NULL}, false, false},
		     {DCPI_GENERATION_MAX, {DCPI_GENERATION_MAX, 0, NULL}, false, false},
		     {1, {1, SAMPLED_NS, NULL}, true, true},
		     {1, {1, SAMPLED_NS + 1, NULL}, false, false},
		     {1, {1, 0, &mapped}, true, true},
		     {1, {1, 0, &execed}, true, false},
		     {1, {1, 0, &moved}, true, false}};
	struct record record = {
		.sample = {.header = {.size = sizeof(record)}, .pid = (uint32_t)getpid()},
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.registers = {[REGISTER_PC] = (uintptr_t)code},
	};

	(void)state;
	/* Code that is not in memory is not read. */
	(void)*(const volatile uint8_t *)code;
	record.sample.time_ns = SAMPLED_NS;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct told now = cases[i].now;
		struct found found = {0};
		const struct source_config config = {.branch_every = 1,
						     .generation = generation_now,
						     .changes = no_changes,
						     .sync = pending_apply,
						     .context = &now};
		const struct perf_edges_sink sink = {
			.behind = behind_count, .probed = remaining_count, .context = &found};
		struct perf_edges edges = {.config = &config};
		struct dcpi_snapshot snapshot;

		assert_true(perf_registers_read(&snapshot, &record.sample));
		snapshot.generation = cases[i].then;
		perf_edges_record(&edges, &snapshot, &sink);
		perf_edges_settle(&edges, &sink);
		assert_int_equal(edges.branch.tried > 0, cases[i].read);
		assert_int_equal(found.edges > 0, cases[i].believed);
		assert_int_equal(found.unknown, cases[i].believed);
		assert_int_equal(found.edges + edges.gone, edges.branch.edges);
		perf_edges_settle(&edges, &sink);
		assert_int_equal(found.edges + edges.gone, edges.branch.edges);
		perf_edges_close(&edges);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_known_to_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
