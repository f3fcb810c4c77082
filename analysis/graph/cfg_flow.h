/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where control goes from each instruction of a procedure, as far as is known, and
 * which instructions it reaches. Internal to cfg_create.c and its parts.
 */
#ifndef DCPI_CFG_FLOW_H
#define DCPI_CFG_FLOW_H

#include "analysis/graph/cfg.h"
#include "analysis/graph/cfg_code.h"

/* flags of an instruction */
#define FLOW_TARGET 0x01U	 /* something may lead here that is not the one before */
#define FLOW_REACHED 0x02U	 /* control gets here */
#define FLOW_ENTRY 0x04U	 /* from outside */
#define FLOW_SAMPLED 0x08U	 /* only samples say so; FLOW_ENTRY is set too */
#define FLOW_MAYBE 0x10U	 /* an unresolved jump may lead here */
#define FLOW_ADDRESS_TAKEN 0x20U /* constant data have its address */
#define FLOW_STOPS 0x40U	 /* a call that never returns */
#define FLOW_HANDLER 0x80U	 /* exceptions lead here */

/** enum flow_jump_state - what is known of an indirect jump. */
enum flow_jump_state {
	FLOW_JUMP_UNKNOWN,
	FLOW_JUMP_TABLE, /* all its targets are */
	FLOW_JUMP_TAIL,	 /* it leaves the procedure */
};

/**
 * struct flow_jump - an indirect jump
 * @insn:    instruction
 * @leaves:  some of a table's targets are outside
 * @table:   the only one; none if its count is 0
 * @targets: known ones inside, ascending, different: instructions
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
 * struct cfg_flow - zero-initialised is empty
 * @code:    stays the caller's
 * @flags:   of each instruction
 * @targets: of each direct branch, jump and call: the instruction it leads to, or
 *           CFG_CODE_NONE
 * @jumps:   indirect ones, by instruction
 * @unknown: a jump that is reached has targets that are not known
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

/** cfg_flow_init() - @flow: freed by cfg_flow_deinit(). Return: 0 or -ENOMEM. */
int cfg_flow_init(struct cfg_flow *flow, struct cfg_code *code);

void cfg_flow_deinit(struct cfg_flow *flow);

/**
 * cfg_flow_reach() - find what is reached, from scratch
 *
 * With unresolved jumps, all that nothing else reaches may be their targets, but for
 * padding.
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_flow_reach(struct cfg_flow *flow);

/** cfg_flow_reach_from() - reach what an instruction leads to, besides. Return: 0 or -ENOMEM. */
int cfg_flow_reach_from(struct cfg_flow *flow, uint32_t insn);

/** cfg_flow_jump() - what is known of an indirect jump. Return: NULL: it is none. */
struct flow_jump *cfg_flow_jump(const struct cfg_flow *flow, uint32_t insn);

/** cfg_flow_add_target() - add a target to a jump. Return: 1 it is new; 0; -ENOMEM. */
int cfg_flow_add_target(struct cfg_flow *flow, struct flow_jump *jump, uint32_t target);

#endif
