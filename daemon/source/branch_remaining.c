// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_remaining.h"

#include <stdbool.h>
#include <stddef.h>

#include "db/profile.h"

/* Longer loops do not end before the program does. */
#define REMAINING_MAX 1e12

static const struct interpret_edge *edge_next(const struct interpret_edge *path, uint32_t count,
					      uint32_t after)
{
	for (uint32_t i = after + 1; i < count; i++) {
		if (path[i].from == path[after].from)
			return &path[i];
	}
	return NULL;
}

static bool is_first(const struct interpret_edge *path, uint32_t number)
{
	for (uint32_t i = 0; i < number; i++) {
		if (path[i].from == path[number].from)
			return false;
	}
	return true;
}

/* Return: executions until a difference that decreases by @step has reached 0; 0: never */
static double executions_until_zero(double difference, double step)
{
	if (step == 0 || (difference < 0) != (step < 0))
		return 0;
	return difference / step + 1;
}

/*
 * Return: remaining executions of the first edge's branch, that one included; 0: unknown. If its
 * direction changes on the path, the loop ends there.
 */
static double remaining_of(const struct interpret_edge *path, uint32_t count, uint32_t number)
{
	const struct interpret_edge *first = &path[number], *last = first;
	const struct interpret_edge *edge = edge_next(path, count, number);
	double step = 0, executions = 1;

	if (edge == NULL || !first->has_result)
		return 0;
	for (; edge != NULL; edge = edge_next(path, count, (uint32_t)(edge - path))) {
		double change = (double)last->result - (double)edge->result;

		if (!edge->has_result || (last != first && change != step))
			return 0;
		executions++;
		if (edge->to != first->to)
			return executions;
		step = change;
		last = edge;
	}
	executions = executions_until_zero((double)first->result, step);
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

/* Return: the first conditional branch of a path; 0: there is none. */
static uint64_t first_branch(const struct interpret_edge *path, uint32_t count, uint64_t stuck)
{
	for (uint32_t i = 0; i < count; i++) {
		if (path[i].conditional)
			return path[i].from;
	}
	return stuck;
}

uint32_t branch_remaining_find(struct branch_remaining *ret, const struct interpret_edge *path,
			       uint32_t count, uint64_t stuck)
{
	uint64_t first = first_branch(path, count, stuck);
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		double remaining = is_first(path, i) ? remaining_of(path, count, i) : 0;

		if (remaining >= 2)
			ret[found++] = (struct branch_remaining){path[i].from, class_of(remaining)};
	}
	if (found == 0 && first != 0)
		ret[found++] = (struct branch_remaining){first, PROFILE_REMAINING_UNKNOWN};
	return found;
}
