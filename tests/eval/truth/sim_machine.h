/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of in-order machines to simulate. Each number can be changed by name, so that an
 * analyser can be tested on machines that differ from its model.
 *
 * Sources: alpha21164: Alpha 21164 Microprocessor Hardware Reference Manual (EC-QAEQD-TE), chapter
 * 2; the memory system is roughly that of an AlphaStation. cortex-a53: Cortex-A53 Technical
 * Reference Manual for the geometry; latencies as Arm gave them to GCC (cortex-a53.md) and LLVM
 * (AArch64SchedA53.td), the rest as commonly measured.
 */
#ifndef DCPI_TESTS_SIM_MACHINE_H
#define DCPI_TESTS_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/eval/truth/sim_insn.h"

/** struct sim_geometry - geometry of a cache; bytes 0: there is none. */
struct sim_geometry {
	uint32_t bytes;
	uint32_t line;
	uint32_t ways;
};

/* Pipes that an instruction may use, as bits; their meaning depends on the machine. */
#define SIM_PIPES 6

#define SIM_FETCH_AHEAD_MAX 8
#define SIM_WRITES_MAX 16
#define SIM_MISSES_MAX 16
#define SIM_RETURNS_MAX 32

/**
 * struct sim_machine - a machine; latencies and penalties in cycles
 * @width:        maximum number of instructions issued in a cycle
 * @group_bytes:  instructions issue together only from one aligned group of this size; 0: from any
 *                adjacent addresses
 * @fetch_bytes:  size of the aligned block fetched in a cycle; @fetch_ahead: blocks buffered at
 *                most
 * @taken_bubble: cycles lost after a correctly predicted taken branch
 * @mispredict:   cycles lost by a mispredicted branch
 * @latency:      minimum of each kind, until an operand can be used in a computation; @latency_max:
 *                maximum of kinds with variable latency
 * @needs:        cycles by which integer operands are needed earlier; negative: later
 * @busy:         cycles between two instructions of a kind
 * @pipes:        pipes that can execute a kind
 * @l1i, @l1d, @l2, @l3: geometry
 * @l2_cycles, ...: cycles of a hit there, in addition to those of an L1 hit
 * @write_allocate: stores bring lines into L1D
 * @misses:       maximum number of outstanding misses
 * @dtb_traps:    a DTB miss delays the instruction itself, not the users of its result
 * @store_load:   number of cycles after a store when no load can issue; 0: no such cycle
 * @write_linger: cycles that a lone entry waits for further stores; other @write_*: cycles to write
 *                an entry out, by the level that has its line
 * @history:      bits of branch history that select a counter
 * @hints:        indirect jumps are predicted by their hint, not by their last target
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

/** sim_machine_get() - find a machine by name. Return: 0 or -ENOENT. */
int sim_machine_get(struct sim_machine *ret, const char *name);

/** sim_machine_default() - return the name of the machine for a QEMU target, or NULL. */
const char *sim_machine_default(const char *target);

/**
 * sim_machine_set() - change a number
 * @name: a field ("mispredict", "l1d.bytes"), or the latency of a kind ("latency.load")
 *
 * Return: 0, -ENOENT if there is no such field, -EINVAL if @value is not a number.
 */
int sim_machine_set(struct sim_machine *machine, const char *name, const char *value);

/** sim_machine_check() - check that a changed machine is valid. Return: 0 or -EINVAL. */
int sim_machine_check(const struct sim_machine *machine);

#endif
