// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/branch_history.h"

#include "kmod/core/period.h"
#include "lib/clock.h"

/*
 * A measured interval counts as one observation of a branch, regardless of the number of
 * executions. The weight of a branch's history grows by one per TURN_WINDOWS observations.
 */
#define TURN_WINDOWS 4
/*
 * A branch that always took the same direction yields little new information: its weight is
 * multiplied.
 */
#define ONE_WAY 3
#define TURNS_MAX 1024
#define EAGERNESS_STEP 8
/* Maximum number of branches (1.5 MB). When it is exceeded the whole history is dropped. */
#define KNOWN_MAX 32768

/*
 * A branch's history in one word. From low to high bits: number of observations, observations of
 * targets other than the first, flags, frequency level, low bits of the first target.
 */
#define SEEN_MASK 0x7ffffULL
#define OTHER_SHIFT 19
#define LOOKED (1ULL << 38)
#define FREQUENT (1ULL << 39)
#define LEVEL_SHIFT 40
#define LEVEL_MASK 0x7fULL
#define TO_SHIFT 48
#define TO_MASK 0xffffULL

static uint64_t *past_of(struct branch_history *known, uint32_t pid, uint64_t address)
{
	if (u64_map_count(&known->past) > KNOWN_MAX)
		u64_map_deinit(&known->past);
	return u64_map_insert(&known->past, branch_history_key(pid, address));
}

void branch_history_idle(struct branch_history *known, bool idle)
{
	uint32_t step = 1 + known->eagerness / EAGERNESS_STEP;

	if (idle && known->eagerness < TURNS_MAX)
		known->eagerness += step;
	else if (!idle && known->eagerness > step)
		known->eagerness -= step;
}

void branch_history_deinit(struct branch_history *known)
{
	u64_map_deinit(&known->past);
}

uint32_t branch_history_random(struct branch_history *known, uint32_t n)
{
	return (uint32_t)((uint64_t)(period_random(&known->random) - 1) * n / 0x7ffffffe);
}

void branch_history_seen(struct branch_history *known, uint32_t pid, uint64_t address, uint64_t to)
{
	uint64_t *past = past_of(known, pid, address);

	if (past == NULL || (*past & SEEN_MASK) == SEEN_MASK)
		return;
	if ((*past & SEEN_MASK) == 0)
		*past |= (to & TO_MASK) << TO_SHIFT;
	*past += 1;
	if (*past >> TO_SHIFT != (to & TO_MASK))
		*past += 1ULL << OTHER_SHIFT;
}

int branch_history_level(const struct branch_history *known, uint32_t pid, uint64_t address)
{
	const uint64_t *past = u64_map_find(&known->past, branch_history_key(pid, address));

	return past != NULL ? (int)(*past >> LEVEL_SHIFT & LEVEL_MASK) : 0;
}

void branch_history_rate(struct branch_history *known, uint32_t pid, uint64_t address,
			 uint64_t executions, uint64_t ns)
{
	uint64_t *past = past_of(known, pid, address);
	uint64_t rate = executions * NS_PER_SECOND / ns;
	uint64_t level = 64 - (uint64_t)__builtin_clzll(rate | 1);

	if (past != NULL)
		*past = (*past & ~(LEVEL_MASK << LEVEL_SHIFT)) | level << LEVEL_SHIFT;
}

static void branch_history_set(struct branch_history *known, uint32_t pid, uint64_t address,
			       uint64_t what)
{
	uint64_t *past = past_of(known, pid, address);

	if (past != NULL)
		*past |= what;
}

static bool is_set(const struct branch_history *known, uint32_t pid, uint64_t address,
		   uint64_t what)
{
	const uint64_t *past = u64_map_find(&known->past, branch_history_key(pid, address));

	return past != NULL && (*past & what) != 0;
}

void branch_history_look(struct branch_history *known, uint32_t pid, uint64_t address)
{
	branch_history_set(known, pid, address, LOOKED);
}

bool branch_history_is_looked_at(const struct branch_history *known, uint32_t pid, uint64_t address)
{
	return is_set(known, pid, address, LOOKED);
}

void branch_history_be_frequent(struct branch_history *known, uint32_t pid, uint64_t address)
{
	branch_history_set(known, pid, address, FREQUENT);
}

bool branch_history_is_frequent(const struct branch_history *known, uint32_t pid, uint64_t address)
{
	return is_set(known, pid, address, FREQUENT);
}

/*
 * A branch with weight n is probed again with a probability proportional to 1 / n^2. The effort for
 * each branch then grows with the square root of the time spent around it, which minimises the
 * total error.
 */
bool branch_history_is_worth(struct branch_history *known, uint32_t pid, uint64_t address)
{
	const uint64_t *past = u64_map_find(&known->past, branch_history_key(pid, address));
	uint64_t turns = 1;

	if (past != NULL)
		turns += (*past & SEEN_MASK) / TURN_WINDOWS;
	if (turns > 1 && (*past >> OTHER_SHIFT & SEEN_MASK) == 0)
		turns *= ONE_WAY;
	if (turns > TURNS_MAX)
		turns = TURNS_MAX;
	return turns <= known->eagerness ||
	       branch_history_random(known, (uint32_t)(turns * turns)) <
		       known->eagerness * known->eagerness;
}
