// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Alpha 21164 (EV5). Facts from the "Alpha 21164 Microprocessor Hardware Reference Manual" and
 * its 21164PC edition, sections 2.1 to 2.3. It has four pipes. E0 executes integer operations,
 * shifts, multiplies and stores, E1 integer operations and branches, both of them loads. FA
 * executes adds, divides and branches, FM multiplies. From the DCPI paper: no load two cycles after
 * a store.
 */
#include "analysis/machine/machine_issue.h"
#include "analysis/machine/machine_models.h"

enum pipe {
	E0 = 1,
	E1 = 2,
	FA = 4,
	FM = 8,
};

enum issue {
	LD,
	LD_LOCKED,
	ST,
	MB, /* stores conditional and barriers */
	BRANCH,
	JUMP,
	FP_BRANCH,
	PAL,
	ADD,
	LOGIC,
	COMPARE,
	SHIFT,
	CMOV,
	MVI,
	MULL,
	MULQ,
	UMULH,
	FADD,
	FDIVS,
	FDIVT,
	FMUL,
	FCPYS,
	RPCC,
	TRAPB,
	UNOP,
	OTHER,
	CLASSES,
};

#define BIT(class) (UINT32_C(1) << (class))

static const struct issue_class classes[] = {
	[LD] = {.name = "ld", .pipes = E0 | E1, .latency = 2},
	/* Always goes off-chip, so the latency of other loads' hits is a lower bound. */
	[LD_LOCKED] = {.name = "ldx_l", .pipes = E0, .latency = 2},
	[ST] = {.name = "st", .pipes = E0, .latency = 1},
	[MB] = {.name = "mb", .pipes = E0, .latency = 1},
	[BRANCH] = {.name = "br", .pipes = E1, .latency = 1},
	[JUMP] = {.name = "jsr", .pipes = E1, .latency = 1},
	[FP_BRANCH] = {.name = "fbr", .pipes = FA, .latency = 1},
	[PAL] = {.name = "pal", .pipes = E1, .latency = 1, .flags = ISSUE_DRAINS | ISSUE_FORGETS},
	[ADD] = {.name = "add", .pipes = E0 | E1, .latency = 1},
	[LOGIC] = {.name = "logic", .pipes = E0 | E1, .latency = 1},
	[COMPARE] = {.name = "compare", .pipes = E0 | E1, .latency = 1},
	[SHIFT] = {.name = "shift", .pipes = E0, .latency = 1},
	[CMOV] = {.name = "cmov", .pipes = E0 | E1, .latency = 2},
	[MVI] = {.name = "mvi", .pipes = E0, .latency = 2},
	/* A multiply uses E0's register write port three cycles before its result is used. */
	[MULL] = {.name = "mull",
		  .pipes = E0,
		  .latency = 8,
		  .unit = ISSUE_UNIT_MULTIPLY,
		  .unit_cycles = 4,
		  .late_pipes = E0,
		  .late_cycle = 5},
	[MULQ] = {.name = "mulq",
		  .pipes = E0,
		  .latency = 12,
		  .unit = ISSUE_UNIT_MULTIPLY,
		  .unit_cycles = 8,
		  .late_pipes = E0,
		  .late_cycle = 9},
	[UMULH] = {.name = "umulh",
		   .pipes = E0,
		   .latency = 14,
		   .unit = ISSUE_UNIT_MULTIPLY,
		   .unit_cycles = 8,
		   .late_pipes = E0,
		   .late_cycle = 11},
	[FADD] = {.name = "fadd", .pipes = FA, .latency = 4},
	/*
	 * Depends on the data: the best case. The next divide issues when the result is available.
	 */
	[FDIVS] = {.name = "divs",
		   .pipes = FA,
		   .latency = 15,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 15},
	[FDIVT] = {.name = "divt",
		   .pipes = FA,
		   .latency = 22,
		   .unit = ISSUE_UNIT_FP_DIVIDE,
		   .unit_cycles = 22},
	[FMUL] = {.name = "fmul", .pipes = FM, .latency = 4},
	[FCPYS] = {.name = "fcpys", .pipes = FA | FM, .latency = 4},
	[RPCC] = {.name = "rpcc", .pipes = E0, .latency = 2},
	[TRAPB] = {.name = "trapb", .pipes = E0, .latency = 1, .flags = ISSUE_DRAINS},
	[UNOP] = {.name = "unop"},
	[OTHER] = {.name = "other", .pipes = E0, .latency = 1},
};

_Static_assert(CLASSES <= ISSUE_CLASSES_MAX, "classes are bits of a word");

#define OPCODE 0xfc000000U
#define FUNCTION 0xfc000fe0U /* of integer operations */
#define OP(opcode) ((uint32_t)(opcode) << 26)
#define FN(opcode, function) (OP(opcode) | (uint32_t)(function) << 5)

static const struct issue_match matches[] = {
	{.insn_class = INSN_LOAD, .issue_class = LD},
	{.insn_class = INSN_STORE, .issue_class = ST},
	{.insn_class = INSN_ATOMIC, .flags = INSN_READS_MEMORY, .issue_class = LD_LOCKED},
	{.insn_class = INSN_ATOMIC, .issue_class = MB},
	{.insn_class = INSN_BARRIER, .flags = INSN_SERIALIZES, .issue_class = TRAPB},
	{.insn_class = INSN_BARRIER, .issue_class = MB},
	{.insn_class = INSN_PREFETCH, .mask = OPCODE, .value = OP(0x18), .issue_class = MB},
	{.insn_class = INSN_PREFETCH, .issue_class = LD},
	{.insn_class = INSN_CONTROL, .mask = OPCODE, .value = OP(0x30), .issue_class = JUMP},
	{.insn_class = INSN_CONTROL, .mask = OPCODE, .value = OP(0x34), .issue_class = JUMP},
	{.insn_class = INSN_CONTROL, .mask = OPCODE, .value = OP(0x1a), .issue_class = JUMP},
	{.insn_class = INSN_CONTROL, .flags = INSN_FP, .issue_class = FP_BRANCH},
	{.insn_class = INSN_CONTROL, .issue_class = BRANCH},
	/* cmpult, cmpeq, cmpule, cmplt, cmple share their low digit; cmpbge differs. */
	{.insn_class = INSN_ALU,
	 .mask = 0xfc0001e0,
	 .value = FN(0x10, 0x0d),
	 .issue_class = COMPARE},
	{.insn_class = INSN_ALU, .mask = FUNCTION, .value = FN(0x10, 0x0f), .issue_class = COMPARE},
	{.insn_class = INSN_ALU, .mask = OPCODE, .value = OP(0x11), .issue_class = LOGIC},
	{.insn_class = INSN_ALU, .issue_class = ADD},
	{.insn_class = INSN_NOP, .mask = OPCODE, .value = OP(0x0b), .issue_class = UNOP},
	{.insn_class = INSN_NOP, .issue_class = LOGIC},
	{.insn_class = INSN_SHIFT, .issue_class = SHIFT},
	{.insn_class = INSN_VECTOR_ALU, .issue_class = MVI},
	{.insn_class = INSN_CMOV, .flags = INSN_FP, .issue_class = FADD},
	{.insn_class = INSN_CMOV, .issue_class = CMOV},
	{.insn_class = INSN_MULTIPLY,
	 .mask = FUNCTION,
	 .value = FN(0x13, 0x30),
	 .issue_class = UMULH},
	{.insn_class = INSN_MULTIPLY, .bytes_min = 8, .bytes_max = 8, .issue_class = MULQ},
	{.insn_class = INSN_MULTIPLY, .issue_class = MULL},
	/* cpysn and cpyse go to FA only. */
	{.insn_class = INSN_FP_MOVE,
	 .mask = 0xfc00ffe0,
	 .value = FN(0x17, 0x20),
	 .issue_class = FCPYS},
	{.insn_class = INSN_FP_MOVE, .issue_class = FADD},
	{.insn_class = INSN_FP_TRANSFER, .issue_class = FADD},
	{.insn_class = INSN_FP_ADD, .issue_class = FADD},
	{.insn_class = INSN_FP_CONVERT, .issue_class = FADD},
	{.insn_class = INSN_FP_MULTIPLY, .issue_class = FMUL},
	{.insn_class = INSN_FP_DIVIDE, .bytes_min = 4, .bytes_max = 4, .issue_class = FDIVS},
	{.insn_class = INSN_FP_DIVIDE, .issue_class = FDIVT},
	{.insn_class = INSN_FP_SQRT, .bytes_min = 4, .bytes_max = 4, .issue_class = FDIVS},
	{.insn_class = INSN_FP_SQRT, .issue_class = FDIVT},
	{.insn_class = INSN_SYSTEM, .flags = INSN_FP, .issue_class = FADD},
	{.insn_class = INSN_SYSTEM, .flags = INSN_SERIALIZES, .issue_class = PAL},
	{.insn_class = INSN_SYSTEM, .issue_class = RPCC},
};

/* A test issues together with the branch or conditional move that uses it. */
static const struct issue_bypass bypasses[] = {
	{.producers = BIT(LOGIC) | BIT(COMPARE),
	 .consumers = BIT(BRANCH) | BIT(CMOV),
	 .operands = ISSUE_OPERAND(0),
	 .cycles = 1},
};

#define MULTIPLIES (BIT(MULL) | BIT(MULQ) | BIT(UMULH))

/* The multiplier reads its operands only from the registers. */
static const struct issue_late lates[] = {
	{.producers = BIT(ADD) | BIT(LOGIC) | BIT(COMPARE) | BIT(SHIFT),
	 .consumers = MULTIPLIES,
	 .cycles = 2},
	{.producers = BIT(LD) | BIT(LD_LOCKED) | BIT(CMOV) | BIT(MVI) | BIT(RPCC) | MULTIPLIES,
	 .consumers = MULTIPLIES,
	 .cycles = 1},
};

#define LOADS (BIT(LD) | BIT(LD_LOCKED))
#define STORES (BIT(ST) | BIT(MB))
#define CONTROL (BIT(BRANCH) | BIT(JUMP) | BIT(FP_BRANCH) | BIT(PAL))

static const struct issue_gap gaps[] = {
	{.first = LOADS, .second = STORES, .cycles = 0},
	{.first = BIT(LD), .second = BIT(LD_LOCKED), .cycles = 0},
	{.first = CONTROL, .second = CONTROL, .cycles = 0},
	{.first = BIT(ST), .second = LOADS, .cycles = 2},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct machine_issue issue = {
	.classes = classes,
	.matches = matches,
	.bypasses = bypasses,
	.lates = lates,
	.gaps = gaps,
	.class_count = COUNT(classes),
	.match_count = COUNT(matches),
	.bypass_count = COUNT(bypasses),
	.late_count = COUNT(lates),
	.gap_count = COUNT(gaps),
	.width = 4,
	.slots = 2,
	.group_bytes = 16,
	.fetch_bytes = 16,
	.fetch_ahead = 3,
	.taken_bubble = 1,
	.writeback_class = ADD,
};

/* Caches and TLBs of an AlphaStation 500 at 333 MHz: memory takes up to about 250 ns. */
const struct machine_model machine_model_alpha21164 = {
	.name = "alpha21164",
	.isa = INSN_ISA_ALPHA,
	.in_order = true,
	.issue = &issue,
	.issue_width = 4,
	.icache = {.bytes = 8192,
		   .line_bytes = 32,
		   .ways = 1,
		   .miss_cycles_min = 5,
		   .miss_cycles_max = 150},
	.dcache = {.bytes = 8192, .line_bytes = 32, .miss_cycles_min = 6, .miss_cycles_max = 150},
	.itb = {.bytes = 48, .line_bytes = 8192, .miss_cycles_min = 20, .miss_cycles_max = 300},
	.dtb = {.bytes = 64, .line_bytes = 8192, .miss_cycles_min = 20, .miss_cycles_max = 300},
	.branch_mispredict_cycles = 5,
	.load_misses = 6,
	.write_buffer_entries = 6,
	.write_retire_cycles = 150,
	.imul_cycles = 16,
	.fdiv_cycles = 60,
};
