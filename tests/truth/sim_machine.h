/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-order machines to simulate: numbers, each of which can be changed by name, so
 * that an analyser can be tried on machines that differ from what it believes.
 *
 * Sources: alpha21164: Alpha 21164 Microprocessor Hardware Reference Manual
 * (EC-QAEQD-TE), chapter 2; the memory system is an AlphaStation's, roughly.
 * cortex-a53: Cortex-A53 Technical Reference Manual for the geometry; latencies as Arm gave
 * them to GCC (cortex-a53.md) and LLVM (AArch64SchedA53.td), the rest as commonly measured.
 */
#ifndef DCPI_TESTS_SIM_MACHINE_H
#define DCPI_TESTS_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/truth/sim_insn.h"

/** struct sim_geometry - of a cache; bytes 0: there is none. */
struct sim_geometry {
	uint32_t bytes;
	uint32_t line;
	uint32_t ways;
};

/* Pipes an instruction may use, as bits; which is which is the machine's. */
#define SIM_PIPES 6

#define SIM_FETCH_AHEAD_MAX 8
#define SIM_WRITES_MAX 16
#define SIM_MISSES_MAX 16
#define SIM_RETURNS_MAX 32

/**
 * struct sim_machine - a machine; latencies and penalties in cycles
 * @width:        instructions issued in a cycle at most
 * @group_bytes:  only those of one aligned group go together; 0: any neighbours
 * @fetch_bytes:  aligned, fetched in a cycle; @fetch_ahead: groups buffered at most
 * @taken_bubble: behind a branch that was foreseen to be taken
 * @mispredict:   cycles lost by a branch that was not foreseen
 * @latency:      of each kind, at best, until an operand can be computed with;
 *                @latency_max: of those that take longer at times
 * @needs:        cycles that integer operands must be there earlier; negative: later
 * @busy:         cycles between two of a kind
 * @pipes:        that can do it
 * @l1i, @l1d, @l2, @l3: geometry; @l2_cycles and so on: added to what L1 takes, to find
 *                it there
 * @write_allocate: stores bring lines into L1D
 * @misses:       that can be under way
 * @dtb_traps:    a miss delays the instruction itself, not what waits for its result
 * @store_load:   cycles behind a store when no load can issue; 0: no such cycle
 * @write_*:      cycles to write an entry out, by where its line is; @write_linger:
 *                a lone entry waits so long for company
 * @history:      bits of branch history that choose a counter
 * @hints:        indirect jumps are foreseen by their hint, not by their last target
 * @system:       cycles of a system call that the program sees
 */
struct sim_machine {
	const char *name;
	const char *target;
	const char *cpu_model;
	struct sim_op (*decode)(uint32_t word);
	uint32_t width;
	uint32_t group_bytes;
	uint32_t fetch_bytes;
	uint32_t fetch_ahead;
	uint32_t taken_bubble;
	uint32_t mispredict;
	uint32_t latency[SIM_KINDS];
	uint32_t latency_max[SIM_KINDS];
	int32_t needs[SIM_NEEDS];
	uint32_t busy[SIM_KINDS];
	uint32_t pipes[SIM_KINDS];
	struct sim_geometry l1i;
	struct sim_geometry l1d;
	struct sim_geometry l2;
	struct sim_geometry l3;
	uint32_t l2_cycles;
	uint32_t l3_cycles;
	uint32_t memory_cycles;
	uint32_t write_allocate;
	uint32_t misses;
	uint32_t page_bytes;
	uint32_t itb_entries;
	uint32_t itb_cycles;
	uint32_t dtb_entries;
	uint32_t dtb_cycles;
	uint32_t dtb_traps;
	uint32_t store_load;
	uint32_t write_entries;
	uint32_t write_block;
	uint32_t write_l1;
	uint32_t write_l2;
	uint32_t write_l3;
	uint32_t write_memory;
	uint32_t write_linger;
	uint32_t counters;
	uint32_t history;
	uint32_t return_stack;
	uint32_t targets;
	uint32_t hints;
	uint32_t system;
};

/** sim_machine_get() - by name. Return: 0 or -ENOENT. */
int sim_machine_get(struct sim_machine *ret, const char *name);

/** sim_machine_default() - the name of the machine for a target of QEMU's, or NULL. */
const char *sim_machine_default(const char *target);

/**
 * sim_machine_set() - change a number
 * @name: of a field ("mispredict", "l1d.bytes"), or of a kind's latency ("latency.load")
 *
 * Return: 0, -ENOENT if there is no such number, -EINVAL if @value is none.
 */
int sim_machine_set(struct sim_machine *machine, const char *name, const char *value);

/** sim_machine_check() - whether a changed machine can be. Return: 0 or -EINVAL. */
int sim_machine_check(const struct sim_machine *machine);

#endif
