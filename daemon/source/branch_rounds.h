/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Against which branches others are counted: those that a program comes to again and again, in
 * times that are alike.
 *
 * How often a frequent branch is executed from one execution of such a one to the next (a
 * round) does not depend on how much probes slow the program down, nor on where a window begins.
 * So it tells what windows of milliseconds can't: how often a loop is executed that goes round
 * ten thousand times before it ends. It takes as long as all these executions do with probes.
 *
 * Not safe for several threads at once.
 */
#ifndef DCPI_BRANCH_ROUNDS_H
#define DCPI_BRANCH_ROUNDS_H

#include "daemon/source/branch_known.h"
#include "daemon/source/probe_results.h"

/* Of all processes. */
#define BRANCH_ROUNDS_MAX 32

/**
 * struct branch_round_mark - a branch that rounds begin and end at; fields are private
 * @looks:   how often it was seen to be even; the next time is @look_ns, CLOCK_MONOTONIC, which is
 *           @wait_ns after the last
 * @failures: how often it was not: it is of a phase of the program
 */
struct branch_round_mark {
	struct branch_probe probe;
	uint64_t period_ns;
	uint64_t look_ns;
	uint64_t wait_ns;
	uint32_t looks;
	uint32_t failures;
};

/**
 * struct branch_rounds - zero-initialised is empty; fields are private
 * @led:   of each branch, and of each process, samples that led there; and windows of rounds
 * @marks: of which there are @count
 */
struct branch_rounds {
	struct u64_map led;
	struct branch_round_mark marks[BRANCH_ROUNDS_MAX];
	uint32_t count;
};

void branch_rounds_deinit(struct branch_rounds *rounds);

/** branch_rounds_led() - a sample of a process leads to this branch */
void branch_rounds_led(struct branch_rounds *rounds, uint32_t pid, uint64_t address);

/**
 * branch_rounds_cost() - executions of a branch in so much of its program's own time
 *
 * About, for it is a guess from samples: windows of frequent branches are full, and don't tell
 * how long the program would have taken for itself.
 */
double branch_rounds_cost(const struct branch_rounds *rounds, uint32_t pid, uint64_t address,
			  uint64_t ns);

/**
 * branch_rounds_find() - a branch to count another one against, the less often the more it was
 * @known: chance is taken from there
 * @cost_max: a round has at most so many executions, about
 *
 * Return: NULL: in its file there is none whose rounds do not take too long; else valid until the
 * next call.
 */
const struct branch_round_mark *branch_rounds_find(const struct branch_rounds *rounds,
						   struct branch_known *known,
						   const struct branch_probe *probe,
						   double cost_max);

/**
 * branch_rounds_look() - which branch to look at again: is it still as even?
 *
 * Return: NULL: none; else valid until the next call.
 */
const struct branch_probe *branch_rounds_look(const struct branch_rounds *rounds, uint64_t now_ns);

/** branch_rounds_forget() - a branch cannot be probed any more: it is no mark, if it was one */
void branch_rounds_forget(struct branch_rounds *rounds, const struct branch_probe *probe);

/**
 * branch_rounds_learn() - which branches of a window others may be counted against
 *
 * Those that were executed in times that are alike, in nearly all windows of some time.
 */
void branch_rounds_learn(struct branch_rounds *rounds, struct branch_known *known,
			 const struct probe_window *window);

#endif
