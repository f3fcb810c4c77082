// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_history.h"

#include "kmod/core/period.h"
#include "lib/clock.h"

/*
 * A measured interval counts as one observation of a branch, regardless of the number of
 * executions. The weight of a branch's history grows by one per WEIGHT_WINDOWS observations.
 */
#define WEIGHT_WINDOWS 4
/*
 * A branch that always took the same direction yields little new information: its weight is
 * multiplied.
 */
#define ONE_DIRECTION 3
#define WEIGHT_MAX 1024
#define EAGERNESS_STEP 8
/* Maximum number of branches (1.5 MB). When it is exceeded the whole history is dropped. */
#define BRANCHES_MAX 32768

/*
 * A branch's history in one word. From low to high bits: number of observations, observations of
 * targets other than the first, flags, frequency level, low bits of the first target.
 */
#define SEEN_MASK 0x7ffffULL
#define OTHER_SHIFT 19
#define CHECKED (1ULL << 38)
#define FREQUENT (1ULL << 39)
#define LEVEL_SHIFT 40
#define LEVEL_MASK 0x7fULL
#define TO_SHIFT 48
#define TO_MASK 0xffffULL

static uint64_t *past_of(struct branch_history *history, uint32_t pid, uint64_t address)
{
	if (u64_map_count(&history->past) > BRANCHES_MAX)
		u64_map_deinit(&history->past);
	return u64_map_insert(&history->past, branch_history_key(pid, address));
}

void branch_history_idle(struct branch_history *history, bool idle)
{
	uint32_t step = 1 + history->eagerness / EAGERNESS_STEP;

	if (idle && history->eagerness < WEIGHT_MAX)
		history->eagerness += step;
	else if (!idle && history->eagerness > step)
		history->eagerness -= step;
}

void branch_history_deinit(struct branch_history *history)
{
	u64_map_deinit(&history->past);
}

uint32_t branch_history_random(struct branch_history *history, uint32_t n)
{
	return (uint32_t)((uint64_t)(period_random(&history->random) - 1) * n / 0x7ffffffe);
}

void branch_history_seen(struct branch_history *history, uint32_t pid, uint64_t address,
			 uint64_t to)
{
	uint64_t *past = past_of(history, pid, address);

	if (past == NULL || (*past & SEEN_MASK) == SEEN_MASK)
		return;
	if ((*past & SEEN_MASK) == 0)
		*past |= (to & TO_MASK) << TO_SHIFT;
	*past += 1;
	if (*past >> TO_SHIFT != (to & TO_MASK))
		*past += 1ULL << OTHER_SHIFT;
}

int branch_history_level(const struct branch_history *history, uint32_t pid, uint64_t address)
{
	const uint64_t *past = u64_map_find(&history->past, branch_history_key(pid, address));

	return past != NULL ? (int)(*past >> LEVEL_SHIFT & LEVEL_MASK) : 0;
}

void branch_history_rate(struct branch_history *history, uint32_t pid, uint64_t address,
			 uint64_t executions, uint64_t ns)
{
	uint64_t *past = past_of(history, pid, address);
	uint64_t rate = executions * NS_PER_SECOND / ns;
	uint64_t level = 64 - (uint64_t)__builtin_clzll(rate | 1);

	if (past != NULL)
		*past = (*past & ~(LEVEL_MASK << LEVEL_SHIFT)) | level << LEVEL_SHIFT;
}

static void branch_history_set(struct branch_history *history, uint32_t pid, uint64_t address,
			       uint64_t what)
{
	uint64_t *past = past_of(history, pid, address);

	if (past != NULL)
		*past |= what;
}

static bool is_set(const struct branch_history *history, uint32_t pid, uint64_t address,
		   uint64_t what)
{
	const uint64_t *past = u64_map_find(&history->past, branch_history_key(pid, address));

	return past != NULL && (*past & what) != 0;
}

void branch_history_set_checked(struct branch_history *history, uint32_t pid, uint64_t address)
{
	branch_history_set(history, pid, address, CHECKED);
}

bool branch_history_is_checked(const struct branch_history *history, uint32_t pid, uint64_t address)
{
	return is_set(history, pid, address, CHECKED);
}

void branch_history_set_frequent(struct branch_history *history, uint32_t pid, uint64_t address)
{
	branch_history_set(history, pid, address, FREQUENT);
}

bool branch_history_is_frequent(const struct branch_history *history, uint32_t pid,
				uint64_t address)
{
	return is_set(history, pid, address, FREQUENT);
}

/*
 * A branch with weight n is probed again with a probability proportional to 1 / n^2. The effort for
 * each branch then grows with the square root of the time spent around it, which minimises the
 * total error.
 */
bool branch_history_should_probe(struct branch_history *history, uint32_t pid, uint64_t address)
{
	const uint64_t *past = u64_map_find(&history->past, branch_history_key(pid, address));
	uint64_t weight = 1;

	if (past != NULL)
		weight += (*past & SEEN_MASK) / WEIGHT_WINDOWS;
	if (weight > 1 && (*past >> OTHER_SHIFT & SEEN_MASK) == 0)
		weight *= ONE_DIRECTION;
	if (weight > WEIGHT_MAX)
		weight = WEIGHT_MAX;
	return weight <= history->eagerness ||
	       branch_history_random(history, (uint32_t)(weight * weight)) <
		       history->eagerness * history->eagerness;
}
