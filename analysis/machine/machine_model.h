/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Behaviour of a processor without dynamic stalls: issue width, units, slotting, latencies,
 * bypasses. A model consists of tables, which schedule.c reads.
 */
#ifndef DCPI_MACHINE_MODEL_H
#define DCPI_MACHINE_MODEL_H

#include "analysis/insn/insn.h"

struct machine_issue; /* machine_issue.h: tables of in-order machines */
struct machine_bound; /* machine_bound.h: tables of out-of-order machines */

/** struct machine_cache - properties of a cache or TLB for the culprit rules. */
struct machine_cache {
	uint32_t bytes;		  /* caches: size; TLBs: entries */
	uint32_t line_bytes;	  /* caches: of a line; TLBs: of a page */
	uint32_t miss_cycles_min; /* least cost of a miss */
	uint32_t miss_cycles_max; /* cost of an access to memory */
	uint32_t ways;		  /* caches: associativity; 0: unknown */
};

#define MACHINE_CPU_ANY UINT16_MAX

/** struct machine_cpu - an x86-64 processor, numbered as in /proc/cpuinfo; @model may be any */
struct machine_cpu {
	uint16_t family;
	uint16_t model;
};

/**
 * struct machine_model - a processor
 * @name:        "alpha21164", "cortex-a53", "cortex-a55", "x86-64", ... (machine_model.c)
 * @cpu:         its name in lib/host.h if /proc/cpuinfo has none; NULL: /proc/cpuinfo has a name
 * @cpus:        x86-64 processors that it describes, terminated by family 0; NULL: see @cpu
 * @in_order:    samples fall on the instruction at the head of the issue queue
 * @issue:       for in-order machines, else NULL
 * @bound:       for out-of-order machines, else NULL
 * @issue_width: greatest number of instructions per cycle
 * @skid_insns:  a sample may be this many instructions late, 0 in order
 * @icache, @dcache, @itb, @dtb: first levels
 * @branch_mispredict_cycles: greatest cost
 * @load_misses: greatest number of misses in progress, the next one waits; 0: unlimited
 * @write_buffer_entries: 0: stores never wait for it
 * @write_retire_cycles: greatest time of an entry in the write buffer
 * @imul_cycles: greatest wait for an integer multiply or divide
 * @fdiv_cycles: greatest wait for an FP divide or square root
 */
struct machine_model {
	const char *name;
	const char *cpu;
	const struct machine_cpu *cpus;
	enum insn_isa isa;
	bool in_order;
	const struct machine_issue *issue;
	const struct machine_bound *bound;
	unsigned int issue_width;
	unsigned int skid_insns;
	struct machine_cache icache;
	struct machine_cache dcache;
	struct machine_cache itb;
	struct machine_cache dtb;
	unsigned int branch_mispredict_cycles;
	unsigned int load_misses;
	unsigned int write_buffer_entries;
	unsigned int write_retire_cycles;
	unsigned int imul_cycles;
	unsigned int fdiv_cycles;
};

/** machine_model_find() - find a model by name. Return: NULL if there is none. */
const struct machine_model *machine_model_find(const char *name);

/**
 * machine_model_default() - return the model for an image profiled on a processor
 * @cpu_model: as in host.cpu_model and the epoch; NULL: unknown
 *
 * Return: never NULL.
 */
const struct machine_model *machine_model_default(enum insn_isa isa, const char *cpu_model);

/** machine_model_list() - return all models, terminated by NULL. */
const struct machine_model *const *machine_model_list(void);

#endif
