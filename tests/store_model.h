/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test of the sample store against a reference model, in both its compilations.
 *
 * It is compiled into the unit tests and into a kernel module (tests/qemu), and therefore uses only
 * the environment of the core.
 */
#ifndef DCPI_TESTS_STORE_MODEL_H
#define DCPI_TESTS_STORE_MODEL_H

#include "kmod/core/sample_store.h"

/* Different (PC, process, generation, event) keys that the model counts. */
#define STORE_MODEL_KEYS 2048
/* Different edges. */
#define STORE_MODEL_EDGES 1024
#define STORE_MODEL_TABLE_MAX 1024
#define STORE_MODEL_BUFFER_MAX 512

/**
 * struct store_model - the model and the store under test
 * @store:    under test
 * @memory:   its memory
 * @expected: by key, samples that the store took and has not delivered yet
 * @expected_edges: the same for edges
 * @seed:     state of the random numbers
 * @taken, @lost, @delivered: samples so far
 * @edges, @edges_lost, @edges_delivered: edges so far
 * @failure:  the violated invariant, or NULL
 */
struct store_model {
	struct sample_store store __attribute__((aligned(64)));
	struct dcpi_sample memory[STORE_MODEL_TABLE_MAX + 2 * STORE_MODEL_BUFFER_MAX]
		__attribute__((aligned(64)));
	u64 expected[STORE_MODEL_KEYS];
	u64 expected_edges[STORE_MODEL_EDGES];
	u64 seed;
	u64 taken;
	u64 lost;
	u64 delivered;
	u64 edges;
	u64 edges_lost;
	u64 edges_delivered;
	const char *failure;
};

/**
 * store_model_run() - run random operations on a store of one geometry
 * @model:      zeroed by the caller before the first call; afterwards only @seed
 *              is kept
 * @operations: number of operations
 *
 * After each operation the store's counters must agree with its return values. Occasionally, and at
 * the end, the count of every key must be found exactly once in the table, the buffers and the
 * delivered samples.
 *
 * Return: true if all invariants held; otherwise @model->failure describes the violation.
 */
bool store_model_run(struct store_model *model, u64 operations);

#endif
