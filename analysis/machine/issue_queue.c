// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/issue_queue.h"

#include <string.h>

/* A cycle so long ago that its results are ready and it is in no ring buffer. */
#define NEVER (-1000)

/* struct wait - a constraint on issue: not before @cycle, because of @from. */
struct wait {
	int32_t cycle;
	enum stall_kind kind;
	uint32_t from;
};

static inline int32_t max_cycle(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

void issue_queue_init(struct issue_queue *queue, const struct machine_issue *issue)
{
	memset(queue, 0, sizeof(*queue));
	queue->issue = issue;
	queue->closed = true;
	queue->reserver = UINT32_MAX;
	queue->last = UINT32_MAX;
	queue->fetched = queue->cycle - (int32_t)issue->taken_bubble;
	for (unsigned int i = 0; i < ISSUE_FETCH_AHEAD_MAX; i++)
		queue->left[i] = NEVER;
	for (unsigned int i = 0; i < INSN_REGS; i++)
		queue->writes[i].cycle = NEVER;
}

void issue_queue_close(struct issue_queue *queue)
{
	queue->closed = true;
}

/*
 * Update the fetch state: one aligned block of code is fetched per cycle, as long as it is at most
 * fetch_ahead blocks ahead of issue. Branches are predicted when fetched, long before they issue.
 */
static void fetch(struct issue_queue *queue, const struct insn *insn)
{
	const struct machine_issue *issue = queue->issue;
	int32_t earliest;

	if (issue->fetch_bytes == 0 ||
	    (!queue->closed && insn->address / issue->fetch_bytes == queue->block))
		return;
	queue->block = insn->address / issue->fetch_bytes;
	earliest = queue->left[queue->oldest_left] + 1;
	queue->left[queue->oldest_left] = queue->cycle;
	queue->oldest_left = (uint8_t)((queue->oldest_left + 1) % issue->fetch_ahead);
	queue->fetched = max_cycle(queue->fetched + 1, earliest);
	if (queue->closed)
		queue->fetched += issue->taken_bubble;
}

static void wait_for(struct wait *wait, int32_t cycle, enum stall_kind kind, uint32_t from)
{
	if (cycle > wait->cycle)
		*wait = (struct wait){.cycle = cycle, .kind = kind, .from = from};
}

static void wait_for_operand(const struct issue_queue *queue, struct wait *wait, uint8_t class,
			     unsigned int reg, unsigned int operand)
{
	const struct issue_write *write;
	unsigned int bypass;
	enum stall_kind kind = STALL_RC_DEPENDENCY;

	if (reg >= INSN_REGS)
		return;
	write = &queue->writes[reg];
	/* Most results are ready long before. */
	if (write->cycle + write->latency + write->late <= wait->cycle)
		return;
	bypass = machine_issue_bypass(queue->issue, write->class, class, operand);
	if (operand == ISSUE_OPERAND(0))
		kind = STALL_RA_DEPENDENCY;
	else if (operand == ISSUE_OPERAND(1) || operand == ISSUE_OPERAND_ADDRESS)
		kind = STALL_RB_DEPENDENCY;
	wait_for(wait,
		 write->cycle + write->late +
			 (bypass < write->latency ? (int32_t)(write->latency - bypass) : 0),
		 kind, write->from);
}

/* Iterate over the registers of a set: next_reg(&set) until INSN_REG_NONE. */
static unsigned int next_reg(struct insn_regs *set)
{
	for (unsigned int w = 0; w < 2; w++) {
		unsigned int bit;

		if (set->words[w] == 0)
			continue;
		bit = (unsigned int)__builtin_ctzll(set->words[w]);
		set->words[w] &= set->words[w] - 1;
		return w * 64 + bit;
	}
	return INSN_REG_NONE;
}

static void remove_reg(struct insn_regs *set, unsigned int reg)
{
	if (reg < INSN_REGS)
		set->words[reg / 64] &= ~(UINT64_C(1) << (reg % 64));
}

static void wait_for_operands(const struct issue_queue *queue, struct wait *wait,
			      const struct insn *insn, uint8_t class)
{
	struct insn_regs rest = insn->reads;
	unsigned int reg;

	for (unsigned int i = 0; i < INSN_SOURCES; i++) {
		wait_for_operand(queue, wait, class, insn->sources[i], ISSUE_OPERAND(i));
		remove_reg(&rest, insn->sources[i]);
	}
	wait_for_operand(queue, wait, class, insn->memory.base, ISSUE_OPERAND_ADDRESS);
	wait_for_operand(queue, wait, class, insn->memory.index, ISSUE_OPERAND_ADDRESS);
	remove_reg(&rest, insn->memory.base);
	remove_reg(&rest, insn->memory.index);
	while ((reg = next_reg(&rest)) != INSN_REG_NONE)
		wait_for_operand(queue, wait, class, reg,
				 reg >= INSN_REG_FLAGS && reg < INSN_REG_FP ? ISSUE_OPERAND_FLAGS
									    : ISSUE_OPERAND_OTHER);
}

/* Return the class whose latency applies to an instruction's write of a register. */
static uint8_t writing_class(const struct machine_issue *issue, const struct insn *insn,
			     uint8_t class, unsigned int reg)
{
	return insn->memory.pushes && reg == insn->memory.base && reg != insn->destination
		       ? issue->writeback_class
		       : class;
}

/* Results of two instructions must reach a register in order, in different cycles. */
static void wait_for_writes(const struct issue_queue *queue, struct wait *wait,
			    const struct insn *insn, uint8_t class)
{
	struct insn_regs rest = insn->writes;
	unsigned int reg;

	while ((reg = next_reg(&rest)) != INSN_REG_NONE) {
		const struct issue_write *write = &queue->writes[reg];
		uint8_t by = writing_class(queue->issue, insn, class, reg);

		wait_for(wait,
			 write->cycle + write->latency + write->late + 1 -
				 (int32_t)queue->issue->classes[by].latency,
			 STALL_RC_DEPENDENCY, write->from);
	}
}

static void wait_for_all(const struct issue_queue *queue, struct wait *wait)
{
	for (unsigned int i = 0; i < INSN_REGS; i++) {
		const struct issue_write *write = &queue->writes[i];

		wait_for(wait, write->cycle + write->latency + write->late, STALL_FU_DEPENDENCY,
			 write->from);
	}
}

/* Return the constraint that delays issue most. */
static struct wait find_wait(const struct issue_queue *queue, const struct insn *insn,
			     uint8_t class)
{
	const struct issue_class *c = &queue->issue->classes[class];
	struct wait wait = {.cycle = queue->cycle, .from = UINT32_MAX};

	wait_for(&wait, queue->fetched, STALL_SLOTTING, UINT32_MAX);
	wait_for_operands(queue, &wait, insn, class);
	wait_for_writes(queue, &wait, insn, class);
	if (c->unit != ISSUE_UNIT_NONE)
		wait_for(&wait, queue->unit_free[c->unit], STALL_FU_DEPENDENCY,
			 queue->unit_user[c->unit]);
	if ((c->flags & ISSUE_DRAINS) != 0)
		wait_for_all(queue, &wait);
	return wait;
}

/*
 * Return true if the instructions of all classes can be assigned to pipes together, with some pipes
 * taken. By Hall's theorem, this is the case if each subset has as many pipes as it needs. Only
 * subsets with the last class are checked; the others were checked before.
 */
static bool pipes_suffice(const struct machine_issue *issue, const uint8_t *classes,
			  unsigned int count, unsigned int taken)
{
	const struct issue_class *last = &issue->classes[classes[count - 1]];

	if (last->pipes == 0)
		return true;
	for (unsigned int subset = 0; subset < 1U << (count - 1); subset++) {
		unsigned int pipes = last->pipes, needed = issue_class_needs(last);

		for (unsigned int i = 0; i < count - 1; i++)
			if ((subset >> i & 1) != 0) {
				pipes |= issue->classes[classes[i]].pipes;
				needed += issue_class_needs(&issue->classes[classes[i]]);
			}
		if ((unsigned int)__builtin_popcount(pipes & ~taken) < needed)
			return false;
	}
	return true;
}

static bool excluded_by(const struct machine_issue *issue, uint8_t a, uint8_t b)
{
	for (uint8_t i = 0; i < issue->gap_count; i++) {
		const struct issue_gap *gap = &issue->gaps[i];

		if (gap->cycles == 0 &&
		    (((gap->first >> a & 1) != 0 && (gap->second >> b & 1) != 0) ||
		     ((gap->first >> b & 1) != 0 && (gap->second >> a & 1) != 0)))
			return true;
	}
	return ((issue->classes[a].flags | issue->classes[b].flags) & ISSUE_ALONE) != 0;
}

/* Return true if an instruction fits in addition to those assigned to pipes in the same group. */
static bool fits(const struct issue_queue *queue, const struct insn *insn, uint8_t class)
{
	const struct machine_issue *issue = queue->issue;
	uint8_t classes[ISSUE_WIDTH_MAX + 1];

	if (queue->member_count >= issue->width)
		return false;
	if (issue->group_bytes != 0 && insn->address / issue->group_bytes != queue->group)
		return false;
	for (uint8_t i = 0; i < queue->member_count; i++)
		if (excluded_by(issue, queue->members[i], class))
			return false;
	memcpy(classes, queue->members, queue->member_count);
	classes[queue->member_count] = class;
	return pipes_suffice(issue, classes, queue->member_count + 1U, 0);
}

/* Return true if reservations leave a pipe in a cycle, in addition to those used in the cycle. */
static bool pipe_is_free(const struct issue_queue *queue, uint8_t class, int32_t cycle)
{
	uint8_t classes[ISSUE_WIDTH_MAX + 1], issued_now = 0;
	unsigned int taken = 0;

	if (cycle - queue->cycle < ISSUE_RESERVATIONS)
		taken = queue->reserved[cycle % ISSUE_RESERVATIONS];
	if (taken == 0)
		return true;
	if (cycle == queue->cycle && !queue->closed)
		issued_now =
			queue->issued < queue->member_count ? queue->issued : queue->member_count;
	memcpy(classes, queue->members + queue->member_count - issued_now, issued_now);
	classes[issued_now] = class;
	return pipes_suffice(queue->issue, classes, issued_now + 1U, taken);
}

/* Return true if an earlier event or reservation prevents issue in a cycle. */
static bool conflicts(const struct issue_queue *queue, uint8_t class, int32_t cycle, uint32_t *from)
{
	const struct machine_issue *issue = queue->issue;

	if (!pipe_is_free(queue, class, cycle)) {
		*from = queue->reserver;
		return true;
	}
	for (uint8_t i = 0; i < issue->gap_count; i++) {
		const struct issue_gap *gap = &issue->gaps[i];
		int32_t before = cycle - gap->cycles;
		unsigned int entry = (unsigned int)before % (ISSUE_GAP_MAX + 1);

		if (gap->cycles == 0 || (gap->second >> class & 1) == 0 || before < 0 ||
		    before > queue->cycle || before + ISSUE_GAP_MAX < queue->cycle)
			continue;
		if ((queue->recent[entry] & gap->first) != 0) {
			*from = queue->recent_from[entry];
			return true;
		}
	}
	return false;
}

static void add_stall(struct issue_event *event, enum stall_kind kind, double cycles, uint32_t from)
{
	struct static_stall *last = event->stalls + event->stall_count - 1;

	if (cycles <= 0)
		return;
	if (kind != STALL_SLOTTING)
		event->depends_on = from;
	if (event->stall_count > 0 && last->kind == kind && last->from == from) {
		last->cycles += cycles;
		return;
	}
	if (event->stall_count < ISSUE_STALLS_MAX)
		event->stalls[event->stall_count++] =
			(struct static_stall){.kind = kind, .cycles = cycles, .from = from};
}

/* Find the cycle of issue, and record the reason for each issue slot lost before it. */
static int32_t find_cycle(const struct issue_queue *queue, uint8_t class, bool joins,
			  const struct wait *wait, struct issue_event *event)
{
	const struct machine_issue *issue = queue->issue;
	int32_t cycle = queue->cycle;
	uint8_t used = queue->issued < issue->slots ? queue->issued : issue->slots;
	double lost = (double)(issue->slots - used) / issue->slots;
	uint32_t from = UINT32_MAX;

	if (queue->closed) {
		lost = 1;
		cycle++;
	} else if (!joins) {
		add_stall(event, STALL_SLOTTING, lost, UINT32_MAX);
		lost = 1;
		cycle++;
	}
	for (;; cycle++) {
		if (cycle < wait->cycle)
			add_stall(event, wait->kind, lost, wait->from);
		else if (conflicts(queue, class, cycle, &from))
			add_stall(event, STALL_FU_DEPENDENCY, lost, from);
		else
			return cycle;
		lost = 1;
	}
}

/* Clear ring entries whose cycles have passed; they now represent new cycles. */
static void advance(struct issue_queue *queue, int32_t cycle)
{
	int32_t passed = cycle - queue->cycle;

	for (int32_t i = 0; i < passed && i < ISSUE_RESERVATIONS; i++)
		queue->reserved[(queue->cycle + i) % ISSUE_RESERVATIONS] = 0;
	for (int32_t i = 1; i <= passed && i <= ISSUE_GAP_MAX + 1; i++)
		queue->recent[(cycle - i + 1) % (ISSUE_GAP_MAX + 1)] = 0;
	queue->cycle = cycle;
	if (passed > 0)
		queue->issued = 0;
}

static unsigned int find_late(const struct issue_queue *queue, const struct insn *insn,
			      uint8_t class)
{
	int32_t late = 0;

	for (unsigned int i = 0; i < INSN_SOURCES; i++) {
		const struct issue_write *write;
		unsigned int missing;

		if (insn->sources[i] >= INSN_REGS)
			continue;
		write = &queue->writes[insn->sources[i]];
		missing = machine_issue_late(queue->issue, write->class, class);
		if (missing > 0)
			late = max_cycle(late, write->cycle + write->latency + write->late +
						       (int32_t)missing - queue->cycle);
	}
	return (unsigned int)late;
}

static void issue_queue_reserve(struct issue_queue *queue, const struct issue_class *c,
				unsigned int late, uint32_t index)
{
	for (unsigned int i = 1; i < c->hold_cycles; i++)
		queue->reserved[(queue->cycle + (int32_t)i) % ISSUE_RESERVATIONS] |= c->pipes;
	if (c->late_pipes != 0)
		queue->reserved[(queue->cycle + (int32_t)(c->late_cycle + late)) %
				ISSUE_RESERVATIONS] |= c->late_pipes;
	if (c->hold_cycles != 0 || c->late_pipes != 0)
		queue->reserver = index;
	if (c->unit != ISSUE_UNIT_NONE) {
		queue->unit_free[c->unit] = queue->cycle + (int32_t)(c->unit_cycles + late);
		queue->unit_user[c->unit] = index;
	}
}

static bool begins_gap(const struct machine_issue *issue, uint8_t class)
{
	for (uint8_t i = 0; i < issue->gap_count; i++)
		if (issue->gaps[i].cycles != 0 && (issue->gaps[i].first >> class & 1) != 0)
			return true;
	return false;
}

static void record(struct issue_queue *queue, const struct insn *insn, uint8_t class,
		   uint32_t index, bool joins)
{
	const struct machine_issue *issue = queue->issue;
	unsigned int late = find_late(queue, insn, class), reg;
	unsigned int entry = (unsigned int)queue->cycle % (ISSUE_GAP_MAX + 1);
	struct insn_regs rest = insn->writes;

	issue_queue_reserve(queue, &issue->classes[class], late, index);
	queue->recent[entry] |= UINT32_C(1) << class;
	if (begins_gap(issue, class))
		queue->recent_from[entry] = index;
	while ((reg = next_reg(&rest)) != INSN_REG_NONE) {
		uint8_t by = writing_class(issue, insn, class, reg);

		queue->writes[reg] = (struct issue_write){
			.cycle = queue->cycle,
			.from = index,
			.class = by,
			.latency = issue->classes[by].latency,
			.late = (uint8_t)late,
		};
	}
	if (!joins)
		queue->member_count = 0;
	queue->members[queue->member_count++] = class;
	if (issue->group_bytes != 0)
		queue->group = insn->address / issue->group_bytes;
	queue->issued++;
	queue->last = index;
	queue->closed = false;
}

void issue_queue_add(struct issue_queue *queue, const struct insn *insn, uint8_t class,
		     uint32_t index, struct issue_event *event)
{
	struct wait wait;
	bool joins = !queue->closed && fits(queue, insn, class);
	int32_t cycle;

	fetch(queue, insn);
	wait = find_wait(queue, insn, class);
	event->stall_count = 0;
	event->depends_on = UINT32_MAX;
	cycle = find_cycle(queue, class, joins, &wait, event);
	event->cycles = (uint32_t)(cycle - queue->cycle);
	/*
	 * If pipes are chosen at issue, only instructions that issue in the same cycle share them.
	 */
	if (queue->issue->group_bytes == 0 && cycle != queue->cycle)
		joins = false;
	advance(queue, cycle);
	record(queue, insn, class, index, joins);
	if ((queue->issue->classes[class].flags & ISSUE_FORGETS) != 0)
		issue_queue_init(queue, queue->issue);
}
