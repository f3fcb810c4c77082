/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Induction variables: registers and words in memory that each iteration of a loop changes by the
 * same constant.
 * Source: Aho, Lam, Sethi and Ullman, Compilers, 2007, section 9.1.8.
 *
 * An iteration leads from the loop's header to the header again. Along all paths from the header,
 * each value is followed as "value of a variable at the header + constant". The value becomes
 * unknown where paths with different values meet. An induction variable has, at all back edges, its
 * own value at the header + a constant other than 0. This includes variables that are changed in
 * several places, and that are moved through others. If a loop has several entries, a block that
 * each iteration executes takes the place of the header (loop_nest_iteration_block()).
 *
 * The step may also be a register that the loop does not change, as in walks with a stride that the
 * program computes. Then the constant is unknown, but all differences are multiples of it.
 *
 * Words in memory are those with a constant distance from a register that the loop does not change,
 * such as local variables of code that was compiled without optimization. Stores to other
 * addresses are taken to change none of them, and calls to change the registers of results only.
 * Users must check the variables by observations (analysis/frequency/loop_clock.h).
 */
#ifndef DCPI_INDUCTION_H
#define DCPI_INDUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/graph/cfg.h"
#include "analysis/graph/loop_nest.h"

#define INDUCTION_REGISTERS 32
/* Words in memory that are followed; further ones are ignored. */
#define INDUCTION_SLOTS 8
#define INDUCTION_VARIABLES (INDUCTION_REGISTERS + INDUCTION_SLOTS)

/**
 * struct induction - a register that depends on an induction variable
 * @variable: number of the variable in the loop
 * @bytes:    8, or 4: only the low half of the register counts
 * @multiple: the change is @step times a constant that the code does not contain
 * @step:     change of the variable in each iteration; 0: the register depends on none
 */
struct induction {
	uint8_t variable;
	uint8_t bytes;
	bool multiple;
	int64_t step;
};

struct induction_map;

/**
 * induction_map_create() - find the induction variables of a loop
 * @ret:  out; freed by induction_map_destroy(); NULL if there is none
 * @loop: a loop of @nest
 *
 * The graph and the nest must exist as long as the map.
 *
 * O(instructions of the loop x variables). Return: 0 or -ENOMEM.
 */
int induction_map_create(struct induction_map **ret, const struct cfg *cfg,
			 const struct loop_nest *nest, uint32_t loop);

/**
 * induction_map_create_counter() - find out whether a single instruction of a loop changes a
 * register
 * @ret: out; freed by induction_map_destroy(); NULL if the register is not a counter
 * @reg: below INDUCTION_REGISTERS
 *
 * The map contains this register alone. Its steps are the executions of that instruction's block,
 * which may be a part of the iterations, or those of an inner loop that continues where it ended.
 *
 * O(instructions). Return: 0 or -ENOMEM.
 */
int induction_map_create_counter(struct induction_map **ret, const struct cfg *cfg,
				 const struct loop_nest *nest, uint32_t loop, uint8_t reg);

/** induction_map_block() - return the block that changes the counter by one step in each execution
 */
uint32_t induction_map_block(const struct induction_map *map);

/** induction_map_is_multiple() - return true for a variable with an unknown step */
bool induction_map_is_multiple(const struct induction_map *map, uint8_t variable);

void induction_map_destroy(struct induction_map *map);

/**
 * induction_map_at() - get the registers that depend on induction variables
 * @ret:  out: each register, before the instruction is executed
 * @insn: in the loop
 *
 * O(instructions of the block).
 */
void induction_map_at(struct induction ret[INDUCTION_REGISTERS], const struct induction_map *map,
		      uint32_t insn);

/**
 * induction_map_word() - get the induction variable whose low part is a word of memory
 *
 * This includes the value of a register that each iteration spills to the word, which may be that
 * of the iteration before.
 *
 * @base:         register
 * @displacement: of the word from it
 *
 * Return: its @step is 0 if there is none.
 */
struct induction induction_map_word(const struct induction_map *map, uint8_t base,
				    int64_t displacement);

#endif
