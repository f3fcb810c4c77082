/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made procedures with samples and frequencies, for tests of culprit rules. */
#ifndef DCPI_TESTS_CULPRIT_SCENE_H
#define DCPI_TESTS_CULPRIT_SCENE_H

#include "analysis/culprit/culprit.h"
#include "tests/cfg_fixture.h"

/**
 * struct culprit_scene - a procedure; tests modify the fields before they search for culprits
 * @model: in order; 32-byte lines and 8 KiB pages; misses take at most 80 cycles, in the
 *         I-cache 50, in TLBs 40; mispredicts 5; six writes of 60 cycles each; multiplies
 *         16, divides 30
 */
struct culprit_scene {
	struct machine_model model;
	struct cfg *cfg;
	struct schedule schedule;
	struct procedure_profile profile;
	struct frequency frequency;
	struct culprit_input input;
	struct culprits culprits;
};

/* Registers used by instructions in tests; S is the stack pointer. */
enum {
	V,
	W,
	X,
	P,
	Q,
	S = 30
};

/**
 * culprit_scene_init() - make a procedure like cfg_fixture_create()
 *
 * Every instruction takes one cycle, is executed 1000 times and has 1000 samples.
 */
void culprit_scene_init(struct culprit_scene *scene, const uint32_t *insn_counts,
			uint32_t block_count, const struct cfg_fixture_edge *edges,
			uint32_t edge_count);

/**
 * culprit_scene_straight() - make one block in which every instruction computes V from W; a short
 * block lies in the middle of a cache line
 */
void culprit_scene_straight(struct culprit_scene *scene, uint32_t insns);

/**
 * culprit_scene_loop() - make an entry of eight instructions, a loop with 100 iterations, and an
 * exit of one instruction
 * @insns: instructions in the loop
 */
void culprit_scene_loop(struct culprit_scene *scene, uint32_t insns);

void culprit_scene_deinit(struct culprit_scene *scene);

/** culprit_scene_frequency() - set the exact execution count of a block */
void culprit_scene_frequency(struct culprit_scene *scene, uint32_t block, double value);

/** culprit_scene_edge() - set the exact execution count of the first edge between two ends */
void culprit_scene_edge(struct culprit_scene *scene, uint32_t from, uint32_t to, double value);

/** culprit_scene_load() - make an instruction "load register, displacement(base)". */
void culprit_scene_load(struct culprit_scene *scene, uint32_t insn, uint8_t reg, uint8_t base,
			int64_t displacement);

/** culprit_scene_store() - make an instruction "store register, displacement(base)". */
void culprit_scene_store(struct culprit_scene *scene, uint32_t insn, uint8_t reg, uint8_t base,
			 int64_t displacement);

/** culprit_scene_compute() - make an instruction that computes @to from @from. */
void culprit_scene_compute(struct culprit_scene *scene, uint32_t insn, enum insn_class class,
			   uint8_t to, uint8_t from);

/** culprit_scene_stall() - give an instruction the samples of a stall of @cycles cycles */
void culprit_scene_stall(struct culprit_scene *scene, uint32_t insn, double cycles);

/** culprit_scene_look() - run culprits_find(); the previous result is freed */
void culprit_scene_look(struct culprit_scene *scene);

/** culprit_scene_letters() - return the letters of an instruction's culprits, in order of causes */
const char *culprit_scene_letters(const struct culprit_scene *scene, uint32_t insn);

/** culprit_scene_find() - return an instruction's culprit, or NULL if it is not listed */
const struct culprit *culprit_scene_find(const struct culprit_scene *scene, uint32_t insn,
					 enum culprit_cause cause);

#endif
