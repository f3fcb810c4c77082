/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a processor does with an instruction stream when nothing goes wrong: issue
 * width, units, slotting, latencies, bypasses. A model is tables; schedule.c is the
 * one that reads them.
 */
#ifndef DCPI_MACHINE_MODEL_H
#define DCPI_MACHINE_MODEL_H

#include "analysis/insn/insn.h"

struct machine_issue; /* machine_issue.h: tables of in-order machines */
struct machine_bound; /* machine_bound.h: tables of out-of-order machines */

/** struct machine_cache - what culprit rules need to know of a cache or TLB. */
struct machine_cache {
	uint32_t bytes;		  /* caches: size; TLBs: entries */
	uint32_t line_bytes;	  /* caches: of a line; TLBs: of a page */
	uint32_t miss_cycles_min; /* a miss costs at least */
	uint32_t miss_cycles_max; /* and all the way to memory */
	uint32_t ways;		  /* caches: lines of a set; 0: not known */
};

#define MACHINE_CPU_ANY UINT16_MAX

/** struct machine_cpu - an x86-64 processor, as /proc/cpuinfo has it; @model may be any */
struct machine_cpu {
	uint16_t family;
	uint16_t model;
};

/**
 * struct machine_model - a processor
 * @name:        "alpha21164", "cortex-a53", "cortex-a55", "x86-64", ... (machine_model.c)
 * @cpu:         what lib/host.h calls it where /proc/cpuinfo has no name; NULL: it has one
 * @cpus:        of x86-64, processors it is for, ended by one of family 0; NULL: see @cpu
 * @in_order:    samples fall on the instruction at the head of the issue queue
 * @issue:       of in-order machines, else NULL
 * @bound:       of out-of-order machines, else NULL
 * @issue_width: instructions a cycle at most
 * @skid_insns:  a sample may be this many instructions late, 0 in order
 * @icache, @dcache, @itb, @dtb: first levels
 * @branch_mispredict_cycles: at most
 * @load_misses: that can be under way, the next one waits; 0: as many as there are
 * @write_buffer_entries: 0: stores never wait for it
 * @write_retire_cycles: an entry of the write buffer leaves it after this long at most
 * @imul_cycles: an integer multiply or divide makes a later instruction wait at most
 * @fdiv_cycles: FP divide and square root, likewise
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

/** machine_model_find() - by name. Return: NULL if there is none. */
const struct machine_model *machine_model_find(const char *name);

/**
 * machine_model_default() - for an image profiled on a processor
 * @cpu_model: as in host.cpu_model and the epoch; NULL: not known
 *
 * Return: never NULL.
 */
const struct machine_model *machine_model_default(enum insn_isa isa, const char *cpu_model);

/** machine_model_list() - all of them, ended by NULL. */
const struct machine_model *const *machine_model_list(void);

#endif
