// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel's cores, by the year of introduction: Haswell (2013) to Comet Lake, Ice Lake (2019), Golden
 * Cove (2021). Facts from Intel's Optimization Reference Manual; those of Golden Cove have been
 * compared with loops measured on an Emerald Rapids.
 */
#include "analysis/machine/model_x86.h"

#define NARROW_SHUFFLE_PORTS (P(1) | P(5))

/* Columns as in model_x86.c. */
static const struct bound_exception skylake_exceptions[] = {
	{ZYDIS_MNEMONIC_DIVSS, false, {1, 1, P(0), 3, 11}},
	{ZYDIS_MNEMONIC_VDIVSS, false, {1, 1, P(0), 3, 11}},
	{ZYDIS_MNEMONIC_SQRTSS, false, {1, 1, P(0), 3, 12}},
	{ZYDIS_MNEMONIC_VSQRTSS, false, {1, 1, P(0), 3, 12}},
};

static const struct machine_bound skylake = {
	.base = &machine_bound_x86,
	.width = 4,
	.costs =
		{
			[INSN_VECTOR_MULTIPLY] = {1, 1, FP_PORTS, 1, 4},
			[INSN_FP_SQRT] = {1, 1, P(0), 4, 13},
		},
	.exceptions = skylake_exceptions,
	.exception_count = sizeof(skylake_exceptions) / sizeof(skylake_exceptions[0]),
	.fuses = true,
	.forward_latency = 4,
};

static const struct machine_cpu skylake_cpus[] = {
	{6, 0x3c}, {6, 0x3f}, {6, 0x45}, {6, 0x46},		       /* Haswell */
	{6, 0x3d}, {6, 0x47}, {6, 0x4f}, {6, 0x56},		       /* Broadwell */
	{6, 0x4e}, {6, 0x5e}, {6, 0x55},			       /* Skylake, Cascade Lake */
	{6, 0x8e}, {6, 0x9e}, {6, 0xa5}, {6, 0xa6}, {6, 0x66}, {0, 0}, /* to Comet Lake */
};

const struct machine_model machine_model_skylake = {
	.name = "skylake",
	.cpus = skylake_cpus,
	.bound = &skylake,
	.issue_width = 4,
	.write_buffer_entries = 56,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(32),
	MODEL_X86_DTB(64),
};

#define TWO_STORE_PORTS (P(4) | P(9))

static const struct bound_exception ice_lake_exceptions[] = {
	/* A microcode update disabled move elimination. */
	{ZYDIS_MNEMONIC_MOV, true, {1, 1, ALU_PORTS, 1, 1}},
	{ZYDIS_MNEMONIC_LEA, false, {1, 1, ALU_PORTS, 1, 1}},
};

static const struct machine_bound ice_lake = {
	.base = &skylake,
	.width = 5,
	.costs =
		{
			[INSN_DIVIDE] = {4, 1, P(1), 6, 12},
			[INSN_STORE] = {1, 1, TWO_STORE_PORTS, 1, 0},
			[INSN_VECTOR_SHUFFLE] = {1, 1, NARROW_SHUFFLE_PORTS, 1, 1},
			[INSN_CRYPTO] = {1, 1, FP_PORTS, 1, 3},
			[BOUND_STORE] = {1, 1, TWO_STORE_PORTS, 1, 0},
		},
	.exceptions = ice_lake_exceptions,
	.exception_count = sizeof(ice_lake_exceptions) / sizeof(ice_lake_exceptions[0]),
	.fuses = true,
	.forward_latency = 4,
};

static const struct machine_cpu ice_lake_cpus[] = {
	{6, 0x7d}, {6, 0x7e}, {6, 0x6a}, {6, 0x6c}, /* Ice Lake */
	{6, 0x8c}, {6, 0x8d}, {6, 0xa7}, {0, 0},    /* Tiger Lake, Rocket Lake */
};

const struct machine_model machine_model_ice_lake = {
	.name = "ice-lake",
	.cpus = ice_lake_cpus,
	.bound = &ice_lake,
	.issue_width = 5,
	.write_buffer_entries = 72,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(48),
	MODEL_X86_DTB(64),
};

#define FIVE_ALU_PORTS (ALU_PORTS | P(10))
#define THREE_LOAD_PORTS (LOAD_PORTS | P(11))

static const struct bound_exception golden_cove_exceptions[] = {
	{ZYDIS_MNEMONIC_MOV, true, {1, 0, 0, 1, 0}},
	{ZYDIS_MNEMONIC_LEA, false, {1, 1, FIVE_ALU_PORTS, 1, 1}},
};

static const struct machine_bound golden_cove = {
	.base = &ice_lake,
	.width = 6,
	.costs =
		{
			[INSN_ALU] = {1, 1, FIVE_ALU_PORTS, 1, 1},
			[INSN_DIVIDE] = {4, 1, P(1), 6, 10},
			[INSN_LOAD] = {1, 1, THREE_LOAD_PORTS, 1, 5},
			/* Latency to another addition; 3 to other operations. */
			[INSN_FP_ADD] = {1, 1, P(1) | P(5), 1, 2},
			[BOUND_LOAD] = {0, 1, THREE_LOAD_PORTS, 1, 5},
		},
	.exceptions = golden_cove_exceptions,
	.exception_count = sizeof(golden_cove_exceptions) / sizeof(golden_cove_exceptions[0]),
	.fuses = true,
	/* It predicts the store that a load depends on, and renames. */
	.forward_latency = 0,
};

static const struct machine_cpu golden_cove_cpus[] = {
	{6, 0x8f}, {6, 0xcf},			 /* Sapphire Rapids, Emerald Rapids */
	{6, 0x97}, {6, 0x9a},			 /* Alder Lake */
	{6, 0xb7}, {6, 0xba}, {6, 0xbf},	 /* Raptor Lake */
	{6, 0xaa}, {6, 0xac},			 /* Meteor Lake: slightly wider front end */
	{6, 0xad}, {6, 0xae}, {6, 0xd7},	 /* Granite Rapids, Bartlett Lake */
	{6, 0xbd}, {6, 0xc5}, {6, 0xc6}, {0, 0}, /* Lunar Lake, Arrow Lake: even wider */
};

const struct machine_model machine_model_golden_cove = {
	.name = "golden-cove",
	.cpus = golden_cove_cpus,
	.bound = &golden_cove,
	.issue_width = 6,
	.write_buffer_entries = 112,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(48),
	MODEL_X86_DTB(96),
};
