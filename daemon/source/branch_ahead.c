// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_ahead.h"

#include <math.h>
#include <stddef.h>

#include "db/profile.h"

/* Longer loops do not end before the program does. */
#define REMAINING_MAX 1e12
/* Iterations before the end of a loop that are not skipped: its last test may be for < or <=. */
#define LAST_ITERATIONS 2
/* Changes of the result by one constant, in sequence, before iterations are skipped. */
#define STEADY_MIN 2

void branch_ahead_init(struct branch_ahead *ahead)
{
	ahead->near_count = ahead->far_count = 0;
	ahead->near_known = false;
	ahead->edge_count = ahead->branch_count = ahead->latch_count = 0;
}

/* Return: the number of a branch; BRANCH_AHEAD_BRANCHES: it was not executed */
static uint32_t branch_find(const struct branch_ahead *ahead, uint64_t from)
{
	for (uint32_t i = 0; i < ahead->branch_count; i++) {
		if (ahead->branches[i].from == from)
			return i;
	}
	return BRANCH_AHEAD_BRANCHES;
}

/* Return: executions until a difference that decreases by @step has reached 0; 0: never */
static double executions_until_zero(double difference, double step)
{
	if (step == 0 || (difference < 0) != (step < 0))
		return 0;
	return difference / step + 1;
}

/*
 * Return: true if a loop ends here. With two executions only, the change of the result is not known
 * to be that of a counter: the first one may have been the last of an earlier loop.
 */
static bool is_end(const struct branch_execution *branch, const struct interpret_edge *edge)
{
	double change = (double)branch->last_result - (double)edge->result;

	if (!branch->has_result || !edge->has_result)
		return false;
	if (branch->has_change)
		return change == (double)branch->change;
	return fabs((double)edge->result) < fabs(change);
}

/* Return: by how much the result decreased. */
static int64_t change_of(const struct branch_execution *branch, const struct interpret_edge *edge)
{
	return (int64_t)((uint64_t)branch->last_result - (uint64_t)edge->result);
}

/* Update the number of executions until the direction changes. */
static void executions_count(struct branch_execution *branch, const struct interpret_edge *edge)
{
	if (branch->ended || branch->lost)
		return;
	branch->executions++;
	if (edge->to != branch->first_to) {
		branch->lost = !is_end(branch, edge);
		branch->ended = true;
	} else if (!edge->has_result || !branch->has_result ||
		   (branch->has_change && change_of(branch, edge) != branch->change)) {
		branch->lost = true;
	}
}

/* Update the sequence of equal changes. */
static void sequence_count(struct branch_execution *branch, const struct interpret_edge *edge)
{
	int64_t change = change_of(branch, edge);

	if (!edge->has_result || !branch->has_result || edge->to != branch->last_to) {
		branch->steady = 0;
		branch->has_change = false;
	} else {
		branch->steady =
			branch->has_change && change == branch->change ? branch->steady + 1 : 1;
		branch->has_change = true;
		branch->change = change;
	}
	branch->has_result = edge->has_result;
	branch->last_result = edge->result;
	branch->last_to = edge->to;
}

static struct branch_execution *branch_add(struct branch_ahead *ahead,
					   const struct interpret_edge *edge)
{
	struct branch_execution *branch = &ahead->branches[ahead->branch_count++];

	branch->from = edge->from;
	branch->first_to = branch->last_to = edge->to;
	branch->first_result = branch->last_result = edge->result;
	branch->executions = 1;
	branch->has_result = edge->has_result;
	branch->has_change = branch->ended = branch->lost = false;
	branch->steady = 0;
	if (ahead->edge_count >= BRANCH_AHEAD_NEAR && ahead->far_count < BRANCH_AHEAD_FAR)
		ahead->far[ahead->far_count++] = *edge;
	return branch;
}

/* Return: the iterations to skip after a branch's execution; 0: none */
static uint64_t iterations_to_skip(const struct branch_execution *branch)
{
	double left;

	if (branch->steady < STEADY_MIN || branch->change == 0)
		return 0;
	left = executions_until_zero((double)branch->last_result, (double)branch->change) - 1 -
	       LAST_ITERATIONS;
	return left >= 1 && left < REMAINING_MAX ? (uint64_t)left : 0;
}

/* Advance the registers by iterations like the last two. */
static void state_advance(struct interpret_state *state, const struct branch_execution *branch,
			  uint64_t iterations)
{
	const struct interpret_state *before = &branch->states[0], *first = &branch->states[1];
	uint32_t known = state->known & before->known & first->known;

	for (uint32_t i = 0; i < INTERPRET_REGISTERS; i++) {
		uint64_t change = state->reg[i] - before->reg[i];

		if (change != before->reg[i] - first->reg[i])
			known &= ~(UINT32_C(1) << i);
		else
			state->reg[i] += change * iterations;
	}
	state->known = known;
}

/* The other branches in the loop were executed an unknown number of times. */
static void others_forget(struct branch_ahead *ahead, const struct branch_execution *branch)
{
	for (uint32_t i = 0; i < ahead->branch_count; i++) {
		struct branch_execution *other = &ahead->branches[i];

		if (other == branch || other->edge <= branch->begun[1])
			continue;
		other->lost |= !other->ended;
		other->has_result = other->has_change = false;
		other->steady = 0;
	}
}

static bool loop_skip(struct branch_ahead *ahead, struct branch_execution *branch,
		      struct interpret_state *state)
{
	uint64_t iterations = iterations_to_skip(branch);

	if (iterations == 0)
		return false;
	state_advance(state, branch, iterations);
	others_forget(ahead, branch);
	branch->last_result =
		(int64_t)((uint64_t)branch->last_result - (uint64_t)branch->change * iterations);
	if (!branch->ended)
		branch->executions += (double)iterations;
	branch->steady = 0;
	return true;
}

static void state_keep(struct branch_execution *branch, const struct interpret_state *state,
		       uint32_t edge)
{
	branch->states[1] = branch->states[0];
	branch->states[0] = *state;
	branch->begun[1] = branch->begun[0];
	branch->begun[0] = branch->edge = edge;
}

bool branch_ahead_visit(void *context, struct interpret_state *state,
			const struct interpret_edge *edge, bool *skipped)
{
	struct branch_ahead *ahead = context;
	uint32_t number = branch_find(ahead, edge->from);
	struct branch_execution *branch = &ahead->branches[number % BRANCH_AHEAD_BRANCHES];

	if (!ahead->near_known && ahead->near_count < BRANCH_AHEAD_NEAR)
		ahead->near[ahead->near_count++] = *edge;
	if (!edge->conditional)
		return ++ahead->edge_count < BRANCH_AHEAD_EDGES;
	if (number == BRANCH_AHEAD_BRANCHES) {
		if (ahead->branch_count == BRANCH_AHEAD_BRANCHES)
			return false;
		branch = branch_add(ahead, edge);
	} else {
		executions_count(branch, edge);
		sequence_count(branch, edge);
		/* The near edges are complete. */
		if (ahead->edge_count >= BRANCH_AHEAD_NEAR)
			*skipped = loop_skip(ahead, branch, state);
	}
	state_keep(branch, state, ahead->edge_count);
	return ++ahead->edge_count < BRANCH_AHEAD_EDGES;
}

/* --- results ------------------------------------------------------------------ */

/* Return: remaining executions, the first one included; 0: unknown */
static double remaining_of(const struct branch_execution *branch)
{
	double executions;

	if (branch->lost || (!branch->ended && !branch->has_change))
		return 0;
	if (branch->ended)
		return branch->executions;
	executions = executions_until_zero((double)branch->first_result, (double)branch->change);
	return executions < REMAINING_MAX ? executions : 0;
}

/* PROFILE_REMAINING_PER_OCTAVE times the binary logarithm, rounded down */
static uint32_t class_of(double executions)
{
	static const double steps[PROFILE_REMAINING_PER_OCTAVE] = {
		1, 1.189207115002721, 1.4142135623730951, 1.681792830507429};
	uint32_t octave = 63 - (uint32_t)__builtin_clzll((uint64_t)executions);
	double fraction = executions / (double)(UINT64_C(1) << octave);
	uint32_t class = PROFILE_REMAINING_PER_OCTAVE * octave;

	for (uint32_t i = 1; i < PROFILE_REMAINING_PER_OCTAVE; i++)
		class += fraction >= steps[i];
	return class;
}

static bool branch_is_near(const struct branch_ahead *ahead, uint64_t from)
{
	for (uint32_t i = 0; i < ahead->near_count; i++) {
		if (ahead->near[i].from == from)
			return true;
	}
	return false;
}

/* Return: the first conditional branch; 0: there is none */
static uint64_t first_branch(const struct branch_ahead *ahead, uint64_t stuck)
{
	for (uint32_t i = 0; i < ahead->near_count; i++) {
		if (ahead->near[i].conditional)
			return ahead->near[i].from;
	}
	return stuck;
}

void branch_ahead_latch(struct branch_ahead *ahead, const struct interpret_edge edges[2])
{
	if (ahead->latch_count == BRANCH_AHEAD_LATCHES || !edges[0].has_result ||
	    !edges[1].has_result || edges[0].result == edges[1].result)
		return;
	ahead->latches[ahead->latch_count++] =
		(struct branch_latch){edges[0].from, {edges[0].result, edges[1].result}};
}

/* Return: remaining executions of a branch that ends a loop; 0: unknown */
static double latch_remaining(const struct branch_ahead *ahead, const struct branch_latch *latch)
{
	uint32_t number = branch_find(ahead, latch->branch);
	double first = (double)latch->results[0], change = first - (double)latch->results[1];

	if (number < BRANCH_AHEAD_BRANCHES) {
		const struct branch_execution *branch = &ahead->branches[number];

		/* The sample is between the change of the counter and the branch. */
		if (remaining_of(branch) >= 2 || branch->first_result != latch->results[0])
			return 0;
	}
	if (first == 0 || ((first < 0) != (change < 0) && fabs(first) < fabs(change)))
		return 1;
	change = executions_until_zero(first, change);
	return change < REMAINING_MAX ? change : 0;
}

static uint32_t latches_take(const struct branch_ahead *ahead, struct branch_remaining *ret)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < ahead->latch_count; i++) {
		const struct branch_latch *latch = &ahead->latches[i];
		double remaining = latch_remaining(ahead, latch);

		if (remaining >= 1)
			ret[found++] = (struct branch_remaining){
				latch->branch,
				remaining < 2 ? PROFILE_REMAINING_ONE : class_of(remaining)};
	}
	return found;
}

uint32_t branch_ahead_remaining(const struct branch_ahead *ahead,
				struct branch_remaining ret[BRANCH_AHEAD_REMAINING], uint64_t stuck)
{
	uint64_t first = first_branch(ahead, stuck);
	uint32_t found = latches_take(ahead, ret);
	bool near = false;

	for (uint32_t i = 0; i < found; i++)
		near |= branch_is_near(ahead, ret[i].branch) || ret[i].branch == first;
	for (uint32_t i = 0; i < ahead->branch_count; i++) {
		const struct branch_execution *branch = &ahead->branches[i];
		double remaining = remaining_of(branch);

		if (!(remaining >= 2))
			continue;
		near |= branch_is_near(ahead, branch->from);
		ret[found++] = (struct branch_remaining){branch->from, class_of(remaining)};
	}
	if (!near && first != 0 && found < BRANCH_AHEAD_REMAINING)
		ret[found++] = (struct branch_remaining){first, PROFILE_REMAINING_UNKNOWN};
	return found;
}
