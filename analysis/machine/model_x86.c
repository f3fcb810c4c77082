// SPDX-License-Identifier: GPL-2.0-only
/*
 * An x86-64 processor without a model of its own: four operations per cycle, and the ports of
 * Intel's cores since 2013. The ports of other processors differ more in their names than in their
 * number. Latencies are typical, for operands that are processed fast. Facts from Intel's and AMD's
 * optimization manuals.
 */
#include "analysis/machine/model_x86.h"

/* Columns: front-end operations, executed operations, ports, cycles per port, latency. */
static const struct bound_exception exceptions[] = {
	/* Register moves are eliminated by renaming. */
	{ZYDIS_MNEMONIC_MOV, true, {1, 0, 0, 1, 0}},
	{ZYDIS_MNEMONIC_LEA, false, {1, 1, P(1) | P(5), 1, 1}},
	{ZYDIS_MNEMONIC_XCHG, true, {3, 3, ALU_PORTS, 1, 2}},
};

const struct machine_bound machine_bound_x86 =
	{
		.width = 4,
		.costs =
			{
				[INSN_OTHER] = {2, 2, ALU_PORTS, 1, 2},
				[INSN_NOP] = {1, 0, 0, 1, 0},
				[INSN_ALU] = {1, 1, ALU_PORTS, 1, 1},
				[INSN_SHIFT] = {1, 1, SHIFT_PORTS, 1, 1},
				[INSN_CMOV] = {1, 1, SHIFT_PORTS, 1, 1},
				[INSN_MULTIPLY] = {1, 1, P(1), 1, 3},
				[INSN_DIVIDE] = {10, 1, P(0), 6, 24},
				[INSN_LOAD] = {1, 1, LOAD_PORTS, 1, 5},
				[INSN_STORE] = {1, 1, STORE_PORTS, 1, 0},
				[INSN_PREFETCH] = {1, 1, LOAD_PORTS, 1, 0},
				[INSN_CONTROL] = {1, 1, SHIFT_PORTS, 1, 1},
				[INSN_FP_MOVE] = {1, 1, VECTOR_PORTS, 1, 1},
				[INSN_FP_TRANSFER] = {1, 1, P(0), 1, 2},
				[INSN_FP_ADD] = {1, 1, FP_PORTS, 1, 4},
				[INSN_FP_CONVERT] = {2, 2, P(0) | P(1) | P(5), 1, 5},
				[INSN_FP_MULTIPLY] = {1, 1, FP_PORTS, 1, 4},
				[INSN_FP_FMA] = {1, 1, FP_PORTS, 1, 4},
				[INSN_FP_DIVIDE] = {1, 1, P(0), 4, 13},
				[INSN_FP_SQRT] = {1, 1, P(0), 5, 15},
				[INSN_VECTOR_ALU] = {1, 1, VECTOR_PORTS, 1, 1},
				[INSN_VECTOR_MULTIPLY] = {1, 1, FP_PORTS, 1, 5},
				[INSN_VECTOR_SHUFFLE] = {1, 1, P(5), 1, 1},
				[INSN_CRYPTO] = {1, 1, P(0), 1, 4},
				[INSN_ATOMIC] = {8, 4, ALU_PORTS, 1, 18},
				[INSN_BARRIER] = {4, 2, ALU_PORTS, 1, 5},
				[INSN_STRING] = {20, 10, ALU_PORTS, 1, 20},
				[INSN_SYSTEM] = {20, 10, ALU_PORTS, 1, 20},
				[BOUND_LOAD] = {0, 1, LOAD_PORTS, 1, 5},
				[BOUND_STORE] = {1, 1, STORE_PORTS, 1, 0},
				[BOUND_NOTHING] = {1, 0, 0, 1, 0},
			},
		.exceptions = exceptions,
		.exception_count = sizeof(exceptions) / sizeof(exceptions[0]),
		.fuses = true,
		.forward_latency = 5,
};

const struct machine_model machine_model_x86 = {
	.name = "x86-64",
	.bound = &machine_bound_x86,
	.issue_width = 4,
	.write_buffer_entries = 56,
	MODEL_X86_COMMON,
	MODEL_X86_DCACHE(32),
	MODEL_X86_DTB(64),
};
