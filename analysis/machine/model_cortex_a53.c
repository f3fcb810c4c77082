// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cortex-A53. Facts from the scheduling descriptions of LLVM and of GCC, which Arm contributed; the
 * manual has no timings. The fetch width of 16 aligned bytes is GCC's function alignment.
 */
#include "analysis/machine/machine_issue.h"
#include "analysis/machine/machine_models.h"
#include "analysis/machine/machine_arm64.h"

enum pipe {
	ALU0 = 1,
	ALU1 = 2,
	MAC = 4,
	LS = 8,
	BR = 16,
	FP_ADD = 32,
	FP_MUL = 64,
};

static const struct issue_class classes[] = {
	[ALU] = {.name = "alu", .pipes = ALU0 | ALU1, .latency = 3},
	[ALU_SHIFTED] = {.name = "alu shifted", .pipes = ALU0 | ALU1, .latency = 3},
	[SELECT] = {.name = "select", .pipes = ALU0 | ALU1, .latency = 3},
	[MUL] = {.name = "mul", .pipes = MAC, .latency = 4},
	/* Depends on the data: the best case. */
	[DIV] = {.name = "div",
		 .pipes = MAC,
		 .latency = 4,
		 .unit = ISSUE_UNIT_DIVIDE,
		 .unit_cycles = 4},
	[LD] = {.name = "ld", .pipes = LS, .latency = 3},
	[LD_PAIR] = {.name = "ld pair", .pipes = LS, .latency = 4, .hold_cycles = 2},
	[LD_QUAD] = {.name = "ld quad", .pipes = LS, .latency = 6, .hold_cycles = 4},
	[LD_FP] = {.name = "ld fp", .pipes = LS, .latency = 4},
	[ST] = {.name = "st", .pipes = LS, .latency = 1},
	[ST_PAIR] = {.name = "st pair", .pipes = LS, .latency = 1},
	[ST_QUAD] = {.name = "st quad", .pipes = LS, .latency = 1, .hold_cycles = 2},
	[BRANCH] = {.name = "branch", .pipes = BR, .latency = 1},
	[FADD] = {.name = "fadd", .pipes = FP_ADD, .latency = 4},
	[FMUL] = {.name = "fmul", .pipes = FP_MUL, .latency = 4},
	[FMA] = {.name = "fma", .pipes = FP_MUL, .latency = 8},
	[FDIVS] = {.name = "fdivs",
		   .pipes = FP_MUL,
		   .latency = 18,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 14},
	[FDIVD] = {.name = "fdivd",
		   .pipes = FP_MUL,
		   .latency = 33,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 29},
	[FSQRTS] = {.name = "fsqrts",
		    .pipes = FP_MUL,
		    .latency = 17,
		    .unit = ISSUE_UNIT_FP_DIVIDE,
		    .unit_cycles = 13},
	[FSQRTD] = {.name = "fsqrtd",
		    .pipes = FP_MUL,
		    .latency = 32,
		    .unit = ISSUE_UNIT_FP_DIVIDE,
		    .unit_cycles = 28},
	[FMOVE] = {.name = "fmove", .pipes = FP_ADD, .latency = 3},
	[TRANSFER] = {.name = "transfer", .pipes = FP_ADD, .latency = 4},
	[VECTOR] = {.name = "vector", .pipes = FP_ADD, .latency = 3},
	/* The data path is 64 bits wide. */
	[VECTOR_Q] = {.name = "vector q", .pipes = FP_ADD, .latency = 3, .hold_cycles = 2},
	[VMUL] = {.name = "vmul", .pipes = FP_ADD, .latency = 4},
	[VMUL_Q] = {.name = "vmul q", .pipes = FP_ADD, .latency = 4, .hold_cycles = 2},
	[ATOMIC] = {.name = "atomic", .pipes = LS, .latency = 4, .flags = ISSUE_ALONE},
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
	 .consumers = BIT(DIV),
	 .operands = ISSUE_OPERANDS_DATA,
	 .cycles = 3},
	{.producers = BIT(MUL) | BIT(DIV),
	 .consumers = BIT(ALU_SHIFTED),
	 .operands = SECOND,
	 .cycles = 1},
	{.producers = BIT(MUL) | BIT(DIV),
	 .consumers = ALUS | STORES | BIT(BRANCH),
	 .operands = ISSUE_OPERANDS_DATA,
	 .cycles = 2},
	{.producers = LOADS, .consumers = STORES, .operands = FIRST | SECOND, .cycles = 2},
	{.producers = LOADS, .consumers = BIT(ALU_SHIFTED), .operands = SECOND, .cycles = 0},
	{.producers = LOADS,
	 .consumers = ALUS | BIT(BRANCH),
	 .operands = ISSUE_OPERANDS_DATA,
	 .cycles = 1},
	{.producers = BIT(FMA), .consumers = BIT(FMA), .operands = THIRD, .cycles = 4},
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
	.fetch_bytes = 16,
	.fetch_ahead = 3,
	.writeback_class = ALU,
};

/* Caches of typical chips. Micro-TLBs have ten entries, followed by a TLB with 512. */
const struct machine_model machine_model_cortex_a53 = {
	.name = "cortex-a53",
	.cpu = "implementer 0x41 part 0xd03",
	.isa = INSN_ISA_ARM64,
	.in_order = true,
	.issue = &issue,
	.issue_width = 2,
	.icache = {.bytes = 32768,
		   .line_bytes = 64,
		   .ways = 2,
		   .miss_cycles_min = 10,
		   .miss_cycles_max = 250},
	.dcache = {.bytes = 32768, .line_bytes = 64, .miss_cycles_min = 10, .miss_cycles_max = 250},
	.itb = {.bytes = 10, .line_bytes = 4096, .miss_cycles_min = 2, .miss_cycles_max = 500},
	.dtb = {.bytes = 10, .line_bytes = 4096, .miss_cycles_min = 2, .miss_cycles_max = 500},
	.branch_mispredict_cycles = 9,
	.load_misses = 3,
	.write_buffer_entries = 5,
	.write_retire_cycles = 250,
	.imul_cycles = 20,
	.fdiv_cycles = 33,
};
