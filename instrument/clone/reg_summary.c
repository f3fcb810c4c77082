// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/reg_summary.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/clone/reg_summary_graph.h"

#define R10_R11 0x0c00U

/**
 * struct facts - facts about a candidate
 * @queued:  it is in the queue
 * @calls_outside: it or a callee may call code outside the image
 * @outgoing:   registers with values that are meant for another procedure
 * @outgoing_all:   the same, including callees
 * @changed: registers of LIVENESS_SCRATCH that callers know to be clobbered
 * @in:      registers that it or its callees read, from its start on
 * @live_after:  registers that are certainly read after its returns
 */
struct facts {
	bool queued;
	bool calls_outside;
	uint16_t outgoing;
	uint16_t outgoing_all;
	uint16_t changed;
	uint16_t in;
	uint16_t live_after;
};

/**
 * struct solver - state of the analysis
 * @facts:  by candidate
 * @order:  candidates; most follow their callees
 * @uses, @ends: for the calls of the candidate that is being visited
 * @queue:  ring buffer of candidates to visit: @waiting entries from @first on
 * @by_pointer: registers among r10 and r11 that procedures called through pointers may read
 */
struct solver {
	struct reg_summary_graph graph;
	struct facts *facts;
	uint32_t *order;
	uint16_t *uses;
	uint16_t *ends;
	uint32_t *queue;
	size_t count;
	size_t first;
	size_t waiting;
	uint16_t by_pointer;
};

static const struct reg_summary_callee *callee_at(const struct solver *solver, uint32_t number,
						  uint32_t call)
{
	return reg_summary_graph_callee(&solver->graph, number, call);
}

static const struct cfg *cfg_of(const struct solver *solver, uint32_t number)
{
	return reg_summary_graph_cfg(&solver->graph, number);
}

/* --- queue ---------------------------------------------------------------- */

static void queue(struct solver *solver, uint32_t number)
{
	struct facts *facts = &solver->facts[number];

	if (facts->queued || !solver->graph.nodes[number].known)
		return;
	facts->queued = true;
	solver->queue[(solver->first + solver->waiting++) % solver->count] = number;
}

/* The best order depends on the direction of the facts: from callees to callers or the reverse. */
static void queue_all(struct solver *solver, bool callees_first)
{
	for (size_t c = 0; c < solver->count; c++)
		queue(solver, solver->order[callees_first ? c : solver->count - 1 - c]);
}

static void queue_callers(struct solver *solver, uint32_t number)
{
	const size_t *first = solver->graph.first_caller;

	for (size_t i = first[number]; i < first[number + 1]; i++)
		queue(solver, solver->graph.callers[i]);
}

static uint32_t next(struct solver *solver)
{
	uint32_t number = solver->queue[solver->first];

	solver->first = (solver->first + 1) % solver->count;
	solver->waiting--;
	solver->facts[number].queued = false;
	return number;
}

static void reset_flows(struct solver *solver)
{
	for (size_t c = 0; c < solver->count; c++) {
		if (solver->graph.nodes[c].known)
			reg_summary_flow_reset(&solver->graph.nodes[c].flow);
	}
}

/* --- clobbered registers -------------------------------------------------- */

/*
 * Compilers pass no argument in r10 and r11, except to nested procedures. If an address-taken
 * procedure reads one of them first, calls through pointers may pass arguments in both.
 */
static void find_by_pointer(struct solver *solver)
{
	const struct reg_summary_graph *graph = &solver->graph;

	for (size_t c = 0; c < solver->count; c++) {
		if (graph->nodes[c].known && graph->candidates->all[c].taken &&
		    reg_summary_flow_reads(&graph->nodes[c].flow) & R10_R11)
			solver->by_pointer = R10_R11;
	}
}

/* Find the values that are meant for other procedures. No facts about callees and callers are known
 * yet. */
static void find_outgoing(struct solver *solver)
{
	for (uint32_t c = 0; c < solver->count; c++) {
		struct reg_summary_node *node = &solver->graph.nodes[c];
		struct reg_summary_ends ends = {.uses = solver->uses};

		if (!node->known)
			continue;
		for (uint32_t i = 0; i < cfg_of(solver, c)->call_count; i++)
			solver->uses[i] = callee_at(solver, c, i)->number > REG_SUMMARY_UNKNOWN
						  ? LIVENESS_NO_RESULT & ~R10_R11
						  : LIVENESS_NO_RESULT;
		reg_summary_flow_solve(&node->flow, &ends, NULL);
		solver->facts[c].outgoing = reg_summary_flow_outgoing(&node->flow, &ends);
	}
}

/* Add the facts of a callee. Return: true if that changed the facts. */
static bool add_callee(const struct solver *solver, struct facts *facts, uint32_t callee)
{
	struct facts before = *facts;

	if (callee == REG_SUMMARY_UNKNOWN)
		return false;
	if (callee > REG_SUMMARY_UNKNOWN) {
		facts->changed = LIVENESS_SCRATCH;
		facts->calls_outside = true;
	} else {
		facts->changed |= solver->facts[callee].changed;
		facts->outgoing_all |= solver->facts[callee].outgoing_all;
		facts->calls_outside |= solver->facts[callee].calls_outside;
	}
	return before.changed != facts->changed || before.outgoing_all != facts->outgoing_all ||
	       before.calls_outside != facts->calls_outside;
}

/* Find the registers that callers must know to be clobbered. */
static void find_changed(struct solver *solver)
{
	for (size_t c = 0; c < solver->count; c++) {
		solver->facts[c].changed = solver->graph.nodes[c].flow.writes & LIVENESS_SCRATCH;
		solver->facts[c].outgoing_all = solver->facts[c].outgoing;
	}
	queue_all(solver, true);
	while (solver->waiting > 0) {
		uint32_t number = next(solver);
		const struct cfg *cfg = cfg_of(solver, number);
		bool is_new = false;

		for (uint32_t i = 0; i < cfg->call_count; i++) {
			if (cfg->calls[i].returns || cfg->calls[i].tail)
				is_new |= add_callee(solver, &solver->facts[number],
						     callee_at(solver, number, i)->number);
		}
		if (is_new)
			queue_callers(solver, number);
	}
}

/* --- read registers ------------------------------------------------------- */

/* Return the registers that a candidate is known to read from the callee's block on. */
static uint16_t candidate_reads(const struct solver *solver,
				const struct reg_summary_callee *callee)
{
	return callee->block == REG_SUMMARY_BEGINNING
		       ? solver->facts[callee->number].in
		       : reg_summary_flow_begin(&solver->graph.nodes[callee->number].flow,
						callee->block);
}

/* Return the registers that a callee is found to read. Code outside the image counts as reading
 * none. */
static uint16_t certain_reads(const struct solver *solver, const struct reg_summary_callee *callee)
{
	switch (callee->number) {
	case REG_SUMMARY_UNKNOWN:
		return LIVENESS_NO_RESULT;
	case REG_SUMMARY_OUTSIDE:
		return 0;
	case REG_SUMMARY_POINTER:
		return solver->by_pointer;
	default:
		return candidate_reads(solver, callee);
	}
}

/* Return the registers that a callee may read; @facts: of its caller. */
static uint16_t possible_reads(const struct solver *solver, const struct facts *facts,
			       const struct reg_summary_callee *callee)
{
	unsigned int idle = R10_R11 & ~(unsigned int)facts->outgoing;

	switch (callee->number) {
	case REG_SUMMARY_UNKNOWN:
		return LIVENESS_NO_RESULT;
	case REG_SUMMARY_OUTSIDE:
		return (uint16_t)(LIVENESS_NO_RESULT & ~idle);
	case REG_SUMMARY_POINTER:
		return (uint16_t)(LIVENESS_NO_RESULT & ~(idle & ~solver->by_pointer));
	default:
		return candidate_reads(solver, callee);
	}
}

/*
 * Return the registers that are dead after a call, since callers know that the callee clobbers
 * them. They must be neither arguments nor meant for another procedure. @outside: the registers
 * that are dead after a call of code outside the image.
 */
static uint16_t ends_at(const struct solver *solver, uint32_t callee, uint16_t outside)
{
	if (callee >= REG_SUMMARY_UNKNOWN)
		return callee > REG_SUMMARY_UNKNOWN ? outside : 0;
	return (uint16_t)(R10_R11 & solver->facts[callee].changed &
			  ~solver->facts[callee].outgoing_all);
}

/*
 * Find the registers that each candidate reads before writing them. A value that only passes
 * through a procedure is not read by it: callers know themselves which registers they need.
 * @certain: assume that code outside reads no registers
 */
static void find_in(struct solver *solver, bool certain)
{
	for (size_t c = 0; c < solver->count; c++)
		solver->facts[c].in = 0;
	reset_flows(solver);
	queue_all(solver, true);
	while (solver->waiting > 0) {
		uint32_t number = next(solver);
		struct reg_summary_node *node = &solver->graph.nodes[number];
		struct facts *facts = &solver->facts[number];
		struct reg_summary_ends ends = {.uses = solver->uses, .ends = solver->ends};
		bool grown = false;
		uint16_t in;

		for (uint32_t i = 0; i < cfg_of(solver, number)->call_count; i++) {
			const struct reg_summary_callee *callee = callee_at(solver, number, i);

			solver->uses[i] = certain ? certain_reads(solver, callee)
						  : possible_reads(solver, facts, callee);
			solver->ends[i] = ends_at(solver, callee->number, R10_R11);
		}
		in = reg_summary_flow_solve(&node->flow, &ends, &grown);
		if (in != facts->in || (grown && node->joined))
			queue_callers(solver, number);
		facts->in = in;
	}
}

/*
 * Assembly may leave a value where its caller reads it. This is impossible if code outside the
 * image has run in between: a read that is found nevertheless is on a path that is never executed.
 */
static void add_live_after(struct solver *solver, uint32_t callee, uint16_t live)
{
	struct facts *facts;

	if (callee >= REG_SUMMARY_UNKNOWN)
		return;
	facts = &solver->facts[callee];
	if (facts->calls_outside)
		live &= facts->outgoing_all;
	if ((live & ~facts->live_after) == 0)
		return;
	facts->live_after |= live;
	queue(solver, callee);
}

struct visitor {
	struct solver *solver;
	uint32_t number;
};

static void visit_call(void *context, uint32_t call, uint16_t live)
{
	struct visitor *visitor = context;

	add_live_after(visitor->solver, callee_at(visitor->solver, visitor->number, call)->number,
		       live);
}

static void propagate_to_tail_calls(struct solver *solver, uint32_t number, uint16_t live_after)
{
	const struct cfg *cfg = cfg_of(solver, number);

	for (uint32_t i = 0; i < cfg->call_count; i++) {
		if (cfg->calls[i].tail)
			add_live_after(solver, callee_at(solver, number, i)->number, live_after);
	}
}

/* Find the registers read after returns, with the reads that are certain. */
static void find_live_after(struct solver *solver)
{
	reset_flows(solver);
	queue_all(solver, false);
	while (solver->waiting > 0) {
		uint32_t number = next(solver);
		const struct cfg *cfg = cfg_of(solver, number);
		struct reg_summary_node *node = &solver->graph.nodes[number];
		struct reg_summary_ends ends = {.uses = solver->uses,
						.ends = solver->ends,
						.live_after = solver->facts[number].live_after};
		struct visitor visitor = {.solver = solver, .number = number};
		bool grown = false;

		for (uint32_t i = 0; i < cfg->call_count; i++) {
			const struct reg_summary_callee *callee = callee_at(solver, number, i);

			solver->uses[i] = certain_reads(solver, callee) |
					  (cfg->calls[i].tail ? ends.live_after : 0);
			solver->ends[i] = ends_at(solver, callee->number, LIVENESS_NO_RESULT);
		}
		reg_summary_flow_solve(&node->flow, &ends, &grown);
		if (grown && node->joined)
			queue_callers(solver, number);
		reg_summary_flow_visit(&node->flow, &ends, visit_call, &visitor);
		propagate_to_tail_calls(solver, number, ends.live_after);
	}
}

/* --- results -------------------------------------------------------------- */

/* Return the registers that may be live after a procedure's returns. */
static uint16_t live_after_returns(const struct solver *solver, uint32_t number)
{
	const struct facts *facts = &solver->facts[number];

	if (solver->graph.nodes[number].unknown_callers)
		return LIVENESS_NO_RESULT;
	return (uint16_t)(LIVENESS_NO_RESULT &
			  (~facts->changed | facts->live_after | facts->outgoing));
}

/* Return the facts about a call. A procedure reached by a jump returns in place of this one. */
static struct liveness_call call_of(const struct solver *solver, uint32_t number, uint32_t call)
{
	const struct facts *facts = &solver->facts[number];
	const struct reg_summary_callee *callee = callee_at(solver, number, call);
	struct liveness_call ret = {
		.uses = possible_reads(solver, facts, callee),
		.ends = ends_at(solver, callee->number, R10_R11),
	};

	if (cfg_of(solver, number)->calls[call].tail)
		ret.uses |= callee->number < REG_SUMMARY_UNKNOWN
				    ? live_after_returns(solver, callee->number)
				    : facts->live_after;
	return ret;
}

static int candidates_set_calls(const struct solver *solver, struct candidates *candidates)
{
	for (uint32_t c = 0; c < solver->count; c++) {
		struct candidate *candidate = &candidates->all[c];

		if (!solver->graph.nodes[c].known)
			continue;
		candidate->calls = (struct liveness_calls){
			.at = malloc(((size_t)candidate->cfg->call_count + 1) *
				     sizeof(*candidate->calls.at)),
			.live_after = live_after_returns(solver, c),
			.changed = solver->facts[c].changed,
		};
		if (candidate->calls.at == NULL)
			return -ENOMEM;
		for (uint32_t i = 0; i < candidate->cfg->call_count; i++)
			candidate->calls.at[i] = call_of(solver, c, i);
	}
	return 0;
}

int reg_summary_find(struct candidates *candidates)
{
	struct solver solver = {.count = candidates->count};
	int r = reg_summary_graph_find(&solver.graph, candidates);

	if (r < 0)
		return r;
	solver.facts = calloc(candidates->count + 1, sizeof(*solver.facts));
	solver.queue = malloc((candidates->count + 1) * sizeof(*solver.queue));
	solver.order = malloc((candidates->count + 1) * sizeof(*solver.order));
	solver.uses = malloc((solver.graph.most + 1) * sizeof(*solver.uses));
	solver.ends = malloc((solver.graph.most + 1) * sizeof(*solver.ends));
	r = -ENOMEM;
	if (solver.facts != NULL && solver.queue != NULL && solver.order != NULL &&
	    solver.uses != NULL && solver.ends != NULL &&
	    reg_summary_graph_order(&solver.graph, solver.order) == 0) {
		find_by_pointer(&solver);
		find_outgoing(&solver);
		find_changed(&solver);
		find_in(&solver, true);
		find_live_after(&solver);
		find_in(&solver, false);
		r = candidates_set_calls(&solver, candidates);
	}
	reg_summary_graph_deinit(&solver.graph);
	free(solver.facts);
	free(solver.queue);
	free(solver.order);
	free(solver.uses);
	free(solver.ends);
	return r;
}
