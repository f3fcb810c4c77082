// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cortex-A55. Facts from Arm's "Cortex-A55 Software Optimization Guide" and the
 * scheduling description of LLVM.
 */
#include "analysis/machine/machine_issue.h"
#include "analysis/machine/machine_models.h"
#include "analysis/machine/machine_arm64.h"

enum pipe {
	ALU0 = 1,
	ALU1 = 2,
	MAC = 4,
	LOAD = 8,
	STORE = 16,
	BR = 32,
	FP0 = 64,
	FP1 = 128,
};

static const struct issue_class classes[] = {
	[ALU] = {.name = "alu", .pipes = ALU0 | ALU1, .latency = 3},
	[ALU_SHIFTED] = {.name = "alu shifted", .pipes = ALU0 | ALU1, .latency = 3},
	[SELECT] = {.name = "select", .pipes = ALU0 | ALU1, .latency = 3},
	[MUL] = {.name = "mul", .pipes = MAC, .latency = 4},
	/* Depends on the data. */
	[DIV] = {.name = "div",
		 .pipes = MAC,
		 .latency = 8,
		 .unit = ISSUE_UNIT_DIVIDE,
		 .unit_cycles = 8},
	[LD] = {.name = "ld", .pipes = LOAD, .latency = 3},
	[LD_PAIR] = {.name = "ld pair", .pipes = LOAD, .latency = 5, .hold_cycles = 2},
	[LD_QUAD] = {.name = "ld quad", .pipes = LOAD, .latency = 6, .hold_cycles = 4},
	[LD_FP] = {.name = "ld fp", .pipes = LOAD, .latency = 3},
	[ST] = {.name = "st", .pipes = STORE, .latency = 1},
	[ST_PAIR] = {.name = "st pair", .pipes = STORE, .latency = 1},
	[ST_QUAD] = {.name = "st quad", .pipes = STORE, .latency = 1, .hold_cycles = 2},
	[BRANCH] = {.name = "branch", .pipes = BR, .latency = 1},
	[FADD] = {.name = "fadd", .pipes = FP0 | FP1, .latency = 4},
	[FMUL] = {.name = "fmul", .pipes = FP0 | FP1, .latency = 4},
	[FMA] = {.name = "fma", .pipes = FP0 | FP1, .latency = 4},
	[FDIVS] = {.name = "fdivs",
		   .pipes = FP0 | FP1,
		   .latency = 13,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 10},
	[FDIVD] = {.name = "fdivd",
		   .pipes = FP0 | FP1,
		   .latency = 22,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 19},
	[FSQRTS] = {.name = "fsqrts",
		    .pipes = FP0 | FP1,
		    .latency = 12,
		    .unit = ISSUE_UNIT_FP_DIVIDE,
		    .unit_cycles = 9},
	[FSQRTD] = {.name = "fsqrtd",
		    .pipes = FP0 | FP1,
		    .latency = 22,
		    .unit = ISSUE_UNIT_FP_DIVIDE,
		    .unit_cycles = 19},
	[FMOVE] = {.name = "fmove", .pipes = FP0 | FP1, .latency = 3},
	[TRANSFER] = {.name = "transfer", .pipes = FP0 | FP1, .latency = 3},
	[VECTOR] = {.name = "vector", .pipes = FP0 | FP1, .latency = 3},
	/* Both halves of the data path. */
	[VECTOR_Q] = {.name = "vector q",
		      .pipes = FP0 | FP1,
		      .flags = ISSUE_ALL_PIPES,
		      .latency = 3},
	[VMUL] = {.name = "vmul", .pipes = FP0 | FP1, .latency = 4},
	[VMUL_Q] = {.name = "vmul q", .pipes = FP0 | FP1, .flags = ISSUE_ALL_PIPES, .latency = 4},
	[ATOMIC] = {.name = "atomic", .pipes = LOAD, .latency = 4, .flags = ISSUE_ALONE},
	[BARRIER] = {.name = "barrier",
		     .pipes = BR,
		     .latency = 1,
		     .flags = ISSUE_ALONE | ISSUE_DRAINS},
	[SYSTEM_REG] = {.name = "system reg", .pipes = BR, .latency = 3, .flags = ISSUE_ALONE},
	[SYSTEM] = {.name = "system",
		    .pipes = BR,
		    .latency = 1,
		    .flags = ISSUE_ALONE | ISSUE_DRAINS | ISSUE_FORGETS},
	[NOP] = {.name = "nop", .latency = 0},
	[OTHER] = {.name = "other", .pipes = ALU0 | ALU1, .latency = 3},
};

#define BIT(class) (UINT32_C(1) << (class))
#define ALUS (BIT(ALU) | BIT(ALU_SHIFTED) | BIT(SELECT))
#define LOADS (BIT(LD) | BIT(LD_PAIR) | BIT(LD_QUAD) | BIT(ATOMIC))
#define STORES (BIT(ST) | BIT(ST_PAIR) | BIT(ST_QUAD))
#define FIRST ISSUE_OPERAND(0)
#define SECOND ISSUE_OPERAND(1)
#define THIRD ISSUE_OPERAND(2)

/*
 * Most results can be forwarded to their consumers: addresses are needed in the issue stage,
 * operands that are shifted a cycle later, others a cycle later still, store data and inputs of
 * branches last.
 */
static const struct issue_bypass bypasses[] = {
	{.producers = UINT32_MAX,
	 .consumers = LOADS | STORES,
	 .operands = ISSUE_OPERAND_ADDRESS,
	 .cycles = 1},
	{.producers = ALUS, .consumers = BIT(BRANCH), .operands = ISSUE_OPERAND_FLAGS, .cycles = 3},
	{.producers = ALUS, .consumers = STORES, .operands = FIRST | SECOND, .cycles = 3},
	{.producers = ALUS, .consumers = BIT(ALU_SHIFTED), .operands = SECOND, .cycles = 1},
	{.producers = ALUS,
	 .consumers = ALUS | BIT(BRANCH),
	 .operands = ISSUE_OPERANDS_ALL,
	 .cycles = 2},
	{.producers = ALUS, .consumers = BIT(MUL), .operands = THIRD, .cycles = 2},
	{.producers = ALUS,
	 .consumers = BIT(MUL) | BIT(DIV),
	 .operands = ISSUE_OPERANDS_DATA,
	 .cycles = 1},
	{.producers = BIT(MUL), .consumers = BIT(MUL), .operands = THIRD, .cycles = 3},
	{.producers = BIT(MUL) | BIT(DIV),
	 .consumers = BIT(ALU_SHIFTED),
	 .operands = SECOND,
	 .cycles = 1},
	{.producers = BIT(MUL) | BIT(DIV),
	 .consumers = ALUS | STORES | BIT(BRANCH),
	 .operands = ISSUE_OPERANDS_DATA,
	 .cycles = 2},
	{.producers = LOADS, .consumers = STORES, .operands = FIRST | SECOND, .cycles = 2},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct machine_issue issue = {
	.classes = classes,
	.matches = machine_arm64_matches,
	.bypasses = bypasses,
	.class_count = COUNT(classes),
	.match_count = MACHINE_ARM64_MATCHES,
	.bypass_count = COUNT(bypasses),
	.width = 2,
	.slots = 2,
	.writeback_class = ALU,
};

/* Caches of typical chips. Micro-TLBs have sixteen entries, followed by a TLB with 1024. */
const struct machine_model machine_model_cortex_a55 = {
	.name = "cortex-a55",
	.cpu = "implementer 0x41 part 0xd05",
	.isa = INSN_ISA_ARM64,
	.in_order = true,
	.issue = &issue,
	.issue_width = 2,
	.icache = {.bytes = 32768,
		   .line_bytes = 64,
		   .ways = 4,
		   .miss_cycles_min = 10,
		   .miss_cycles_max = 250},
	.dcache = {.bytes = 32768, .line_bytes = 64, .miss_cycles_min = 10, .miss_cycles_max = 250},
	.itb = {.bytes = 16, .line_bytes = 4096, .miss_cycles_min = 2, .miss_cycles_max = 500},
	.dtb = {.bytes = 16, .line_bytes = 4096, .miss_cycles_min = 2, .miss_cycles_max = 500},
	.branch_mispredict_cycles = 8,
	.load_misses = 4,
	.write_buffer_entries = 5,
	.write_retire_cycles = 250,
	.imul_cycles = 20,
	.fdiv_cycles = 22,
};
