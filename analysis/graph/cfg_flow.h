/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Known successors of each instruction of a procedure, and the instructions that control reaches.
 * Internal to cfg_create.c and its parts.
 */
#ifndef DCPI_CFG_FLOW_H
#define DCPI_CFG_FLOW_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_code.h"

/* flags of an instruction */
#define FLOW_TARGET 0x01U	 /* Has a predecessor other than the previous instruction. */
#define FLOW_REACHED 0x02U	 /* Reached by control. */
#define FLOW_ENTRY 0x04U	 /* Entered from outside. */
#define FLOW_SAMPLED 0x08U	 /* Known from samples only; FLOW_ENTRY is set too. */
#define FLOW_MAYBE 0x10U	 /* An unresolved jump may lead here. */
#define FLOW_ADDRESS_TAKEN 0x20U /* Its address is in constant data. */
#define FLOW_STOPS 0x40U	 /* A call that never returns. */
#define FLOW_HANDLER 0x80U	 /* Exceptions lead here. */

/** enum flow_jump_state - knowledge about an indirect jump. */
enum flow_jump_state {
	FLOW_JUMP_UNKNOWN,
	FLOW_JUMP_TABLE, /* all its targets are known */
	FLOW_JUMP_TAIL,	 /* it leaves the procedure */
};

/**
 * struct flow_jump - an indirect jump
 * @insn:    instruction
 * @leaves:  some of a table's targets are outside
 * @table:   its only table; count is 0 if there is none
 * @targets: known target instructions inside, ascending, without duplicates
 */
struct flow_jump {
	uint32_t insn;
	enum flow_jump_state state;
	bool leaves;
	struct cfg_table table;
	uint32_t *targets;
	uint32_t count;
	size_t capacity;
};

/**
 * struct cfg_flow - the flow of a procedure; empty if zero-initialised
 * @code:    owned by the caller
 * @flags:   of each instruction
 * @targets: target instruction of each direct branch, jump and call, or CFG_CODE_NONE
 * @jumps:   indirect ones, by instruction
 * @unknown: a reached jump has unknown targets
 */
struct cfg_flow {
	struct cfg_code *code;
	uint8_t *flags;
	uint32_t *targets;
	struct flow_jump *jumps;
	uint32_t jump_count;
	size_t jump_capacity;
	uint32_t *stack;
	size_t stack_capacity;
	bool unknown;
};

/** cfg_flow_init() - initialise @flow; freed by cfg_flow_deinit(). Return: 0 or -ENOMEM. */
int cfg_flow_init(struct cfg_flow *flow, struct cfg_code *code);

void cfg_flow_deinit(struct cfg_flow *flow);

/**
 * cfg_flow_reach() - find the reached instructions, from scratch
 *
 * All instructions that are not reached otherwise, except padding, may be targets of unresolved
 * jumps.
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_flow_reach(struct cfg_flow *flow);

/** cfg_flow_reach_from() - also reach all code from an instruction. Return: 0 or -ENOMEM. */
int cfg_flow_reach_from(struct cfg_flow *flow, uint32_t insn);

/** cfg_flow_jump() - find an indirect jump. Return: NULL if the instruction is not one. */
struct flow_jump *cfg_flow_jump(const struct cfg_flow *flow, uint32_t insn);

/** cfg_flow_add_target() - add a target to a jump. Return: 1 if it is new; 0; -ENOMEM. */
int cfg_flow_add_target(struct cfg_flow *flow, struct flow_jump *jump, uint32_t target);

#endif
