// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD's cores: Zen 2 (2019; the first Zen is similar), Zen 3 and 4, Zen 5. Facts from AMD's
 * Software Optimization Guides for families 17h, 19h and 1Ah.
 */
#include "analysis/machine/model_x86.h"

/* Floating point has separate ports: two multiply, two add. */
#define FP0 P(7)
#define FP1 P(8)
#define FP2 P(12)
#define FP3 P(13)
#define ALL_FP_PORTS (FP0 | FP1 | FP2 | FP3)
#define MULTIPLY_PORTS (FP0 | FP1)
#define ADD_PORTS (FP2 | FP3)

/* Columns as in model_x86.c. */
static const struct bound_exception zen2_exceptions[] = {
	{ZYDIS_MNEMONIC_LEA, false, {1, 1, ALU_PORTS, 1, 1}},
	{ZYDIS_MNEMONIC_XCHG, true, {2, 0, 0, 1, 0}},
	{ZYDIS_MNEMONIC_DIVSS, false, {1, 1, FP3, 3, 10}},
	{ZYDIS_MNEMONIC_VDIVSS, false, {1, 1, FP3, 3, 10}},
	{ZYDIS_MNEMONIC_SQRTSS, false, {1, 1, FP3, 4, 14}},
	{ZYDIS_MNEMONIC_VSQRTSS, false, {1, 1, FP3, 4, 14}},
};

static const struct machine_bound zen2 =
	{
		.base = &machine_bound_x86,
		.width = 6,
		.costs =
			{
				[INSN_SHIFT] = {1, 1, ALU_PORTS, 1, 1},
				[INSN_CMOV] = {1, 1, ALU_PORTS, 1, 1},
				[INSN_DIVIDE] = {2, 1, P(6), 6, 9},
				[INSN_LOAD] = {1, 1, LOAD_PORTS, 1, 4},
				[INSN_FP_MOVE] = {1, 1, ALL_FP_PORTS, 1, 1},
				[INSN_FP_TRANSFER] = {1, 1, FP2, 1, 2},
				[INSN_FP_ADD] = {1, 1, ADD_PORTS, 1, 3},
				[INSN_FP_CONVERT] = {1, 1, ADD_PORTS, 1, 4},
				[INSN_FP_MULTIPLY] = {1, 1, MULTIPLY_PORTS, 1, 3},
				[INSN_FP_FMA] = {1, 1, MULTIPLY_PORTS, 1, 5},
				[INSN_FP_DIVIDE] = {1, 1, FP3, 5, 13},
				[INSN_FP_SQRT] = {1, 1, FP3, 8, 20},
				[INSN_VECTOR_ALU] = {1, 1, FP0 | FP1 | FP3, 1, 1},
				[INSN_VECTOR_MULTIPLY] = {1, 1, FP0, 1, 3},
				[INSN_VECTOR_SHUFFLE] = {1, 1, FP1 | FP2, 1, 1},
				[INSN_CRYPTO] = {1, 1, MULTIPLY_PORTS, 1, 4},
				[BOUND_LOAD] = {0, 1, LOAD_PORTS, 1, 4},
				[BOUND_STORE] = {0, 1, STORE_PORTS, 1, 0},
			},
		.exceptions = zen2_exceptions,
		.exception_count = sizeof(zen2_exceptions) / sizeof(zen2_exceptions[0]),
		.fuses = true,
		/* For stack accesses, by renaming. */
		.forward_latency = 0,
};

static const struct machine_cpu zen2_cpus[] = {
	{0x17, MACHINE_CPU_ANY},
	{0x18, MACHINE_CPU_ANY}, /* Hygon */
	{0, 0},
};

const struct machine_model machine_model_zen2 = {
	.name = "zen2",
	.cpus = zen2_cpus,
	.bound = &zen2,
	.issue_width = 6,
	.write_buffer_entries = 48,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(32),
	MODEL_X86_DTB(64),
};

#define THREE_LOAD_PORTS (LOAD_PORTS | P(11))
#define TWO_STORE_PORTS (P(4) | P(9))

static const struct machine_bound zen3 = {
	.base = &zen2,
	.width = 6,
	.costs =
		{
			[INSN_SHIFT] = {1, 1, P(1) | P(5), 1, 1},
			[INSN_CMOV] = {1, 1, SHIFT_PORTS, 1, 1},
			[INSN_DIVIDE] = {2, 1, P(6), 6, 10},
			[INSN_LOAD] = {1, 1, THREE_LOAD_PORTS, 1, 4},
			[INSN_STORE] = {1, 1, TWO_STORE_PORTS, 1, 0},
			/* A separate branch unit, in addition to one that also adds. */
			[INSN_CONTROL] = {1, 1, P(0) | P(14), 1, 1},
			[INSN_FP_FMA] = {1, 1, MULTIPLY_PORTS, 1, 4},
			[INSN_VECTOR_ALU] = {1, 1, ALL_FP_PORTS, 1, 1},
			[INSN_VECTOR_MULTIPLY] = {1, 1, FP0 | FP3, 1, 3},
			[BOUND_LOAD] = {0, 1, THREE_LOAD_PORTS, 1, 4},
			[BOUND_STORE] = {0, 1, TWO_STORE_PORTS, 1, 0},
		},
	.fuses = true,
	.forward_latency = 0,
};

static const struct machine_cpu zen3_cpus[] = {{0x19, MACHINE_CPU_ANY}, {0, 0}};

const struct machine_model machine_model_zen3 = {
	.name = "zen3",
	.cpus = zen3_cpus,
	.bound = &zen3,
	.issue_width = 6,
	.write_buffer_entries = 64,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(32),
	MODEL_X86_DTB(64),
};

#define SIX_ALU_PORTS (ALU_PORTS | P(10) | P(14))
#define FOUR_LOAD_PORTS (THREE_LOAD_PORTS | P(15))

static const struct bound_exception zen5_exceptions[] = {
	{ZYDIS_MNEMONIC_LEA, false, {1, 1, SIX_ALU_PORTS, 1, 1}},
};

static const struct machine_bound zen5 = {
	.base = &zen3,
	.width = 8,
	.costs =
		{
			[INSN_ALU] = {1, 1, SIX_ALU_PORTS, 1, 1},
			[INSN_SHIFT] = {1, 1, P(1) | P(5) | P(10), 1, 1},
			[INSN_CMOV] = {1, 1, P(0) | P(6) | P(14), 1, 1},
			[INSN_MULTIPLY] = {1, 1, P(1) | P(5) | P(10), 1, 3},
			[INSN_LOAD] = {1, 1, FOUR_LOAD_PORTS, 1, 4},
			[INSN_CONTROL] = {1, 1, P(0) | P(6) | P(14), 1, 1},
			[INSN_FP_ADD] = {1, 1, ADD_PORTS, 1, 2},
			[BOUND_LOAD] = {0, 1, FOUR_LOAD_PORTS, 1, 4},
		},
	.exceptions = zen5_exceptions,
	.exception_count = sizeof(zen5_exceptions) / sizeof(zen5_exceptions[0]),
	.fuses = true,
	.forward_latency = 0,
};

static const struct machine_cpu zen5_cpus[] = {{0x1a, MACHINE_CPU_ANY}, {0, 0}};

const struct machine_model machine_model_zen5 = {
	.name = "zen5",
	.cpus = zen5_cpus,
	.bound = &zen5,
	.issue_width = 8,
	.write_buffer_entries = 104,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(48),
	MODEL_X86_DTB(96),
};
