/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the models of x86-64 processors.
 *
 * Ports are numbered as Intel's. Other manufacturers' names are not relevant, only which operations
 * share a port. Ports beyond Intel's are floating-point units of other manufacturers.
 */
#ifndef DCPI_MODEL_X86_H
#define DCPI_MODEL_X86_H

#include <Zydis/Zydis.h>

#include "analysis/machine/machine_bound.h"
#include "analysis/machine/machine_models.h"

#define P(n) (1U << (n))
#define ALU_PORTS (P(0) | P(1) | P(5) | P(6))
#define SHIFT_PORTS (P(0) | P(6))
#define VECTOR_PORTS (P(0) | P(1) | P(5))
#define FP_PORTS (P(0) | P(1))
#define LOAD_PORTS (P(2) | P(3))
#define STORE_PORTS P(4)

/** machine_bound_x86 - "x86-64", the base of the other models */
extern const struct machine_bound machine_bound_x86;

/* Caches and TLBs of recent server cores; they differ, but the bounds need not be tight. */
#define MODEL_X86_COMMON                                                                           \
	.isa = INSN_ISA_X86_64, .skid_insns = 1,                                                   \
	.icache = {.bytes = 32768,                                                                 \
		   .line_bytes = 64,                                                               \
		   .miss_cycles_min = 8,                                                           \
		   .miss_cycles_max = 500},                                                        \
	.itb = {.bytes = 64, .line_bytes = 4096, .miss_cycles_min = 7, .miss_cycles_max = 1000},   \
	.branch_mispredict_cycles = 20, .write_retire_cycles = 500, .imul_cycles = 90,             \
	.fdiv_cycles = 20

/* Size of the data cache in KB, and of the TLB in pages. */
#define MODEL_X86_DCACHE(kilobytes)                                                                \
	.dcache = {.bytes = (kilobytes)*1024,                                                      \
		   .line_bytes = 64,                                                               \
		   .miss_cycles_min = 8,                                                           \
		   .miss_cycles_max = 500}
#define MODEL_X86_DTB(pages)                                                                       \
	.dtb = {.bytes = (pages), .line_bytes = 4096, .miss_cycles_min = 7, .miss_cycles_max = 1000}

#endif
