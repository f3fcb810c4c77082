/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample store against a reference model, in both its compilations.
 *
 * Compiled into the unit tests and into a kernel module (tests/qemu), so it
 * uses nothing but the core's own environment.
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
 * @expected: by key, samples that the store took and has not handed out yet
 * @expected_edges: likewise, of edges
 * @seed:     state of the random numbers
 * @taken, @lost, @delivered: samples so far
 * @edges, @edges_lost, @edges_delivered: likewise
 * @failure:  what was found to be wrong, NULL while all is well
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
 * store_model_run() - one round: random operations on a store of one geometry
 * @model:      zeroed by the caller before its first round, then only @seed
 *              carries over
 * @operations: how many
 *
 * After each operation the store's own counters must agree with what it
 * returned; now and then, and at the end, every key's count must be found
 * exactly once over table, buffers and what was handed out.
 *
 * Return: whether all invariants held; if not, @model->failure says which.
 */
bool store_model_run(struct store_model *model, u64 operations);

#endif
