/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instruction as the simulator sees it: its properties that matter to timing, and the cycles
 * spent on it. Decoded here and not by analysis/, so that the reference does not depend on the code
 * under test.
 */
#ifndef DCPI_TESTS_SIM_INSN_H
#define DCPI_TESTS_SIM_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/eval/truth/guest_image.h"

/** enum sim_kind - kinds of instructions that machines distinguish. */
enum sim_kind {
	SIM_NOP,
	SIM_UNOP, /* Alpha only: needs no pipe */
	SIM_ALU,
	SIM_LOGIC, /* its result reaches a conditional branch in the same cycle */
	SIM_SHIFT,
	SIM_CMOV,
	SIM_MUL32,
	SIM_MUL64,
	SIM_MULH,
	SIM_DIV32,
	SIM_DIV64,
	SIM_LOAD,
	SIM_STORE,
	SIM_FP_LOAD,
	SIM_FP_STORE,
	SIM_PREFETCH,
	SIM_LOCKED_LOAD,
	SIM_CONDITIONAL_STORE,
	SIM_BRANCH,    /* conditional, integer */
	SIM_FP_BRANCH, /* conditional, floating point */
	SIM_JUMP,      /* unconditional */
	SIM_FP_ADD,
	SIM_FP_MUL,
	SIM_FP_FMA,
	SIM_FP_COMPARE,
	SIM_FP_CONVERT,
	SIM_FP_MOVE,
	SIM_FP_DIV32,
	SIM_FP_DIV64,
	SIM_TRANSFER,	/* between integer and FP registers */
	SIM_BARRIER,	/* waits until stores are written */
	SIM_FP_BARRIER, /* waits until arithmetic is done */
	SIM_SYSTEM,
	SIM_KINDS,
};

/** enum sim_flow - where control continues. */
enum sim_flow {
	SIM_NEXT,
	SIM_CONDITIONAL,
	SIM_DIRECT,
	SIM_CALL,
	SIM_INDIRECT,
	SIM_INDIRECT_CALL,
	SIM_RETURN,
	SIM_TRAP, /* system call or PALcode */
};

/** enum sim_cause - why the instruction at the head of the issue queue spends a cycle there. */
enum sim_cause {
	SIM_CAUSE_ISSUE,
	SIM_CAUSE_SLOT, /* issues alone, only because of a slot conflict with the previous one */
	SIM_CAUSE_RA,	/* waits for an operand with a latency that is statically known */
	SIM_CAUSE_RB,
	SIM_CAUSE_RC,
	SIM_CAUSE_UNIT,	 /* load after a store, barrier after arithmetic */
	SIM_CAUSE_FETCH, /* the bubble after a taken branch that was predicted */
	SIM_CAUSE_ICACHE,
	SIM_CAUSE_ITB,
	SIM_CAUSE_DCACHE,
	SIM_CAUSE_DTB,
	SIM_CAUSE_BRANCH,
	SIM_CAUSE_WRITE_BUFFER,
	SIM_CAUSE_SYNC,
	SIM_CAUSE_IMUL, /* integer multiplier or divider busy, or slower than at best */
	SIM_CAUSE_FDIV,
	SIM_CAUSE_OTHER,
	SIM_CAUSES,
};

/** enum sim_event - events counted besides cycles, at the instruction that caused them. */
enum sim_event {
	SIM_EVENT_IMISS,
	SIM_EVENT_DMISS,
	SIM_EVENT_BRANCH_MISS,
	SIM_EVENT_DTB_MISS,
	SIM_EVENT_ITB_MISS,
	SIM_EVENTS,
};

/* Registers: integer registers, then FP registers, then flags. */
#define SIM_REG_FP 32
#define SIM_REG_FLAGS 64
#define SIM_REG_NONE 65
#define SIM_REGS 66

#define SIM_SOURCES 4
#define SIM_TARGETS 3

/** enum sim_need - use of an integer operand, which determines how early it is needed. */
enum sim_need {
	SIM_NEED_OPERAND,
	SIM_NEED_SHIFT, /* shifted or multiplied */
	SIM_NEED_ADDRESS,
	SIM_NEED_DATA, /* to be stored */
	SIM_NEEDS,
};

/**
 * struct sim_op - a decoded instruction
 * @sources: registers read, by position: Ra, Rb, Rc, more; SIM_REG_NONE: no operand
 * @needs:   enum sim_need of each source
 * @wide:    occupies the path to memory for two cycles
 * @targets: registers written
 * @hint:    for Alpha's jumps: the low bits of the predicted target, or 0
 */
struct sim_op {
	uint8_t kind;
	uint8_t flow;
	uint8_t sources[SIM_SOURCES];
	uint8_t needs[SIM_SOURCES];
	bool wide;
	uint8_t targets[SIM_TARGETS];
	uint8_t target_count;
	uint16_t hint;
};

/**
 * struct sim_insn - an instruction and its time
 * @place:    its place in its file; @pc: its address in the process
 * @executed: number of executions
 * @cycles:   cycles at the head of the queue, by cause
 * @events:   counts by enum sim_event
 * @samples:  samples of each sampler; @skidded: also by sampler, one instruction late
 */
struct sim_insn {
	struct sim_insn *next;
	uint64_t pc;
	struct sim_op op;
	uint32_t word;
	struct guest_place place;
	uint64_t executed;
	uint64_t cycles[SIM_CAUSES];
	uint64_t events[SIM_EVENTS];
	uint32_t *samples;
	uint32_t *skidded;
};

/**
 * sim_isa_alpha(), sim_isa_arm64() - decode; an unknown instruction is a SIM_ALU without operands.
 */
struct sim_op sim_isa_alpha(uint32_t word);
struct sim_op sim_isa_arm64(uint32_t word);

/** sim_op_make() - make an op of a kind, without operands. */
static inline struct sim_op sim_op_make(enum sim_kind kind, enum sim_flow flow)
{
	return (struct sim_op){
		.kind = (uint8_t)kind,
		.flow = (uint8_t)flow,
		.sources = {SIM_REG_NONE, SIM_REG_NONE, SIM_REG_NONE, SIM_REG_NONE},
	};
}

#endif
