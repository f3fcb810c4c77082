// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	E0 = 1,
	E1 = 2,
	FA = 4,
	FM = 8
};
enum {
	A0 = 1,
	A1 = 2,
	LS = 4,
	BR = 8,
	F0 = 16,
	F1 = 32
};

static const struct sim_machine alpha21164 = {
	.name = "alpha21164",
	.target = "alpha",
	.cpu_model = "Alpha 21164",
	.decode = sim_isa_alpha,
	.width = 4,
	.group_bytes = 16,
	.fetch_bytes = 16,
	.fetch_ahead = 3,
	.taken_bubble = 1,
	.mispredict = 5,
	.latency =
		{
			[SIM_ALU] = 1,
			[SIM_LOGIC] = 1,
			[SIM_SHIFT] = 1,
			[SIM_CMOV] = 2,
			[SIM_MUL32] = 8,
			[SIM_MUL64] = 12,
			[SIM_MULH] = 14,
			[SIM_LOAD] = 2,
			[SIM_FP_LOAD] = 2,
			[SIM_LOCKED_LOAD] = 2,
			[SIM_CONDITIONAL_STORE] = 6,
			[SIM_JUMP] = 1,
			[SIM_FP_ADD] = 4,
			[SIM_FP_MUL] = 4,
			[SIM_FP_COMPARE] = 4,
			[SIM_FP_CONVERT] = 4,
			[SIM_FP_MOVE] = 4,
			[SIM_FP_DIV32] = 15,
			[SIM_FP_DIV64] = 22,
			[SIM_SYSTEM] = 1,
		},
	.latency_max = {[SIM_FP_DIV32] = 31, [SIM_FP_DIV64] = 60},
	.busy = {[SIM_MUL32] = 4, [SIM_MUL64] = 8, [SIM_MULH] = 8},
	.pipes =
		{
			[SIM_NOP] = E0 | E1,
			[SIM_ALU] = E0 | E1,
			[SIM_LOGIC] = E0 | E1,
			[SIM_SHIFT] = E0,
			[SIM_CMOV] = E0 | E1,
			[SIM_MUL32] = E0,
			[SIM_MUL64] = E0,
			[SIM_MULH] = E0,
			[SIM_LOAD] = E0 | E1,
			[SIM_FP_LOAD] = E0 | E1,
			[SIM_PREFETCH] = E0 | E1,
			[SIM_STORE] = E0,
			[SIM_FP_STORE] = E0,
			[SIM_LOCKED_LOAD] = E0,
			[SIM_CONDITIONAL_STORE] = E0,
			[SIM_BRANCH] = E1,
			[SIM_FP_BRANCH] = FA,
			[SIM_JUMP] = E1,
			[SIM_FP_ADD] = FA,
			[SIM_FP_MUL] = FM,
			[SIM_FP_COMPARE] = FA,
			[SIM_FP_CONVERT] = FA,
			[SIM_FP_MOVE] = FA | FM,
			[SIM_FP_DIV32] = FA,
			[SIM_FP_DIV64] = FA,
			[SIM_BARRIER] = E0,
			[SIM_FP_BARRIER] = E0,
			[SIM_SYSTEM] = E1,
		},
	.l1i = {8192, 32, 1},
	.l1d = {8192, 32, 1},
	.l2 = {96 << 10, 64, 3},
	.l3 = {2 << 20, 64, 1},
	.l2_cycles = 6,
	.l3_cycles = 20,
	.memory_cycles = 80,
	.misses = 6,
	.page_bytes = 8192,
	.itb_entries = 48,
	.itb_cycles = 40,
	.dtb_entries = 64,
	.dtb_cycles = 40,
	.dtb_traps = 1,
	.store_load = 2,
	.write_entries = 6,
	.write_block = 32,
	.write_l1 = 4, /* L1D is write-through */
	.write_l2 = 4,
	.write_l3 = 16,
	.write_memory = 90,
	.write_linger = 64,
	.counters = 2048,
	.return_stack = 12,
	.hints = 1,
	.system = 30,
};

static const struct sim_machine cortex_a53 = {
	.name = "cortex-a53",
	.target = "aarch64",
	.cpu_model = "ARM Cortex-A53",
	.decode = sim_isa_arm64,
	.width = 2,
	.fetch_bytes = 16,
	.fetch_ahead = 3,
	.mispredict = 7,
	.latency =
		{
			[SIM_ALU] = 1,
			[SIM_LOGIC] = 1,
			[SIM_SHIFT] = 1,
			[SIM_CMOV] = 1,
			[SIM_MUL32] = 2,
			[SIM_MUL64] = 2,
			[SIM_MULH] = 4,
			[SIM_DIV32] = 4,
			[SIM_DIV64] = 4,
			[SIM_LOAD] = 2,
			[SIM_FP_LOAD] = 4,
			[SIM_LOCKED_LOAD] = 2,
			[SIM_CONDITIONAL_STORE] = 4,
			[SIM_JUMP] = 1,
			[SIM_FP_ADD] = 4,
			[SIM_FP_MUL] = 4,
			[SIM_FP_FMA] = 8,
			[SIM_FP_COMPARE] = 4,
			[SIM_FP_CONVERT] = 4,
			[SIM_FP_MOVE] = 3,
			[SIM_FP_DIV32] = 18,
			[SIM_FP_DIV64] = 33,
			[SIM_TRANSFER] = 4,
			[SIM_SYSTEM] = 1,
		},
	.needs = {[SIM_NEED_SHIFT] = 1, [SIM_NEED_ADDRESS] = 2, [SIM_NEED_DATA] = -1},
	.latency_max = {[SIM_DIV32] = 20, [SIM_DIV64] = 36},
	.busy = {[SIM_MULH] = 3},
	.pipes =
		{
			[SIM_NOP] = A0 | A1,
			[SIM_ALU] = A0 | A1,
			[SIM_LOGIC] = A0 | A1,
			[SIM_SHIFT] = A0 | A1,
			[SIM_CMOV] = A0 | A1,
			[SIM_MUL32] = A1,
			[SIM_MUL64] = A1,
			[SIM_MULH] = A1,
			[SIM_DIV32] = A0,
			[SIM_DIV64] = A0,
			[SIM_LOAD] = LS,
			[SIM_STORE] = LS,
			[SIM_FP_LOAD] = LS,
			[SIM_FP_STORE] = LS,
			[SIM_PREFETCH] = LS,
			[SIM_LOCKED_LOAD] = LS,
			[SIM_CONDITIONAL_STORE] = LS,
			[SIM_BRANCH] = BR,
			[SIM_FP_BRANCH] = BR,
			[SIM_JUMP] = BR,
			[SIM_FP_ADD] = F0,
			[SIM_FP_MUL] = F1,
			[SIM_FP_FMA] = F1,
			[SIM_FP_COMPARE] = F0,
			[SIM_FP_CONVERT] = F0,
			[SIM_FP_MOVE] = F0 | F1,
			[SIM_FP_DIV32] = F1,
			[SIM_FP_DIV64] = F1,
			[SIM_TRANSFER] = F0,
			[SIM_BARRIER] = LS,
			[SIM_FP_BARRIER] = LS,
			[SIM_SYSTEM] = A0,
		},
	.l1i = {32 << 10, 64, 2},
	.l1d = {32 << 10, 64, 4},
	.l2 = {512 << 10, 64, 16},
	.l2_cycles = 12,
	.memory_cycles = 140,
	.write_allocate = 1,
	.misses = 3,
	.page_bytes = 4096,
	.itb_entries = 64,
	.itb_cycles = 25,
	.dtb_entries = 512,
	.dtb_cycles = 30,
	.write_entries = 6,
	.write_block = 16,
	.write_l1 = 1,
	.write_l2 = 8,
	.write_memory = 60,
	.write_linger = 16,
	.counters = 4096,
	.history = 8,
	.return_stack = 8,
	.targets = 256,
	.system = 30,
};

static const struct sim_machine *const machines[] = {&alpha21164, &cortex_a53};

static const char *const kinds[SIM_KINDS] = {
	[SIM_ALU] = "alu",
	[SIM_LOGIC] = "logic",
	[SIM_SHIFT] = "shift",
	[SIM_CMOV] = "cmov",
	[SIM_MUL32] = "mul32",
	[SIM_MUL64] = "mul64",
	[SIM_MULH] = "mulh",
	[SIM_DIV32] = "div32",
	[SIM_DIV64] = "div64",
	[SIM_LOAD] = "load",
	[SIM_FP_LOAD] = "fp_load",
	[SIM_FP_ADD] = "fp_add",
	[SIM_FP_MUL] = "fp_mul",
	[SIM_FP_FMA] = "fp_fma",
	[SIM_FP_COMPARE] = "fp_compare",
	[SIM_FP_CONVERT] = "fp_convert",
	[SIM_FP_MOVE] = "fp_move",
	[SIM_FP_DIV32] = "fp_div32",
	[SIM_FP_DIV64] = "fp_div64",
	[SIM_TRANSFER] = "transfer",
};

#define NUMBER(field)                                                                              \
	{                                                                                          \
#field, offsetof(struct sim_machine, field)                                        \
	}

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	NUMBER(width),	     NUMBER(fetch_ahead),   NUMBER(taken_bubble),  NUMBER(mispredict),
	NUMBER(l1i.bytes),   NUMBER(l1i.line),	    NUMBER(l1i.ways),	   NUMBER(l1d.bytes),
	NUMBER(l1d.line),    NUMBER(l1d.ways),	    NUMBER(l2.bytes),	   NUMBER(l2.line),
	NUMBER(l2.ways),     NUMBER(l3.bytes),	    NUMBER(l3.line),	   NUMBER(l3.ways),
	NUMBER(l2_cycles),   NUMBER(l3_cycles),	    NUMBER(memory_cycles), NUMBER(misses),
	NUMBER(itb_entries), NUMBER(itb_cycles),    NUMBER(dtb_entries),   NUMBER(dtb_cycles),
	NUMBER(store_load),  NUMBER(write_entries), NUMBER(write_l1),	   NUMBER(write_l2),
	NUMBER(write_l3),    NUMBER(write_memory),  NUMBER(write_linger),  NUMBER(counters),
	NUMBER(history),     NUMBER(return_stack),  NUMBER(system),
};

int sim_machine_get(struct sim_machine *ret, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (strcmp(machines[i]->name, name) == 0) {
			*ret = *machines[i];
			return 0;
		}
	}
	return -ENOENT;
}

const char *sim_machine_default(const char *target)
{
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (strcmp(machines[i]->target, target) == 0)
			return machines[i]->name;
	}
	return NULL;
}

static uint32_t *number_find(struct sim_machine *machine, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return (uint32_t *)(void *)((char *)machine + numbers[i].offset);
	}
	if (strncmp(name, "latency.", 8) != 0)
		return NULL;
	for (i = 0; i < SIM_KINDS; i++) {
		if (kinds[i] && strcmp(kinds[i], name + 8) == 0)
			return &machine->latency[i];
	}
	return NULL;
}

/* The number of sets of a cache must be a power of two. */
static bool geometry_good(const struct sim_geometry *g)
{
	uint32_t sets;

	if (g->bytes == 0)
		return true;
	if (g->line < 8 || (g->line & (g->line - 1)) != 0 || g->ways == 0)
		return false;
	sets = g->bytes / g->line / g->ways;
	return sets > 0 && (sets & (sets - 1)) == 0;
}

int sim_machine_set(struct sim_machine *machine, const char *name, const char *value)
{
	uint32_t *number = number_find(machine, name);
	unsigned long parsed;
	char *end;

	if (!number)
		return -ENOENT;
	errno = 0;
	parsed = strtoul(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || parsed > 1U << 30)
		return -EINVAL;
	*number = (uint32_t)parsed;
	return 0;
}

int sim_machine_check(const struct sim_machine *m)
{
	bool good = geometry_good(&m->l1i) && geometry_good(&m->l1d) && geometry_good(&m->l2) &&
		    geometry_good(&m->l3) && m->l1i.bytes && m->l1d.bytes && m->l2.bytes;

	return good && m->width && m->fetch_ahead && m->fetch_ahead <= SIM_FETCH_AHEAD_MAX &&
			       m->write_entries && m->write_entries <= SIM_WRITES_MAX &&
			       m->misses && m->misses <= SIM_MISSES_MAX && m->return_stack &&
			       m->return_stack <= SIM_RETURNS_MAX && m->itb_entries &&
			       m->dtb_entries && m->counters &&
			       (m->counters & (m->counters - 1)) == 0 && m->history <= 16
		       ? 0
		       : -EINVAL;
}
