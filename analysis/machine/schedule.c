// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/schedule.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/machine/issue_queue.h"
#include "analysis/machine/throughput.h"
#include "lib/cleanup.h"

/* Number of edges into a block that are considered: those with the greatest weights. */
#define PREDECESSORS_MAX 8
/* Number of times that blocks are scheduled after the final state of their predecessors. */
#define PASSES 2
/* Assumed ratio of back edges to entries of a loop while frequencies are unknown. */
#define BACK_EDGE_WEIGHT 8.0

const char *stall_kind_name(enum stall_kind kind)
{
	static const char *const names[STALL_KINDS] = {
		[STALL_SLOTTING] = "Slotting",		 [STALL_RA_DEPENDENCY] = "Ra dependency",
		[STALL_RB_DEPENDENCY] = "Rb dependency", [STALL_RC_DEPENDENCY] = "Rc dependency",
		[STALL_FU_DEPENDENCY] = "FU dependency", [STALL_LATENCY] = "Latency",
	};

	return names[kind];
}

char stall_kind_letter(enum stall_kind kind)
{
	static const char letters[STALL_KINDS] = {
		[STALL_SLOTTING] = 's',	     [STALL_RA_DEPENDENCY] = 'a',
		[STALL_RB_DEPENDENCY] = 'b', [STALL_RC_DEPENDENCY] = 'c',
		[STALL_FU_DEPENDENCY] = 'u', [STALL_LATENCY] = 'l',
	};

	return letters[kind];
}

/* struct predecessor - an edge into a block */
struct predecessor {
	uint32_t from;	  /* block, or CFG_ENTRY for all unknown ones */
	bool falls;	  /* falls through: no taken branch */
	bool branches;	  /* a branch that may be mispredicted, so that the block may be late */
	bool late_before; /* may be late because of an earlier misprediction */
	double weight;
};

/*
 * struct scheduler - state of the scheduler
 * @exits:      pipeline state at the end of each block, when it was last scheduled
 * @late_exits: the same after a misprediction, for blocks where that is possible
 * @classes:    issue class of each instruction
 * @usual:      cycles of the current block's instructions, for each edge into it
 * @late, @late_before: the same for the current edge, after a misprediction of that edge, and after
 *              one some blocks ago
 */
struct scheduler {
	struct schedule *schedule;
	const struct cfg *cfg;
	const struct machine_issue *issue;
	const double *edge_weights;
	struct issue_queue *exits;
	struct issue_queue *late_exits;
	uint8_t *classes;
	uint32_t *usual[PREDECESSORS_MAX];
	uint32_t *late;
	uint32_t *late_before;
};

static double schedule_weight_of(const struct scheduler *s, uint32_t edge_index)
{
	const struct cfg_edge *edge = &s->cfg->edges[edge_index];
	double weight;

	if (s->edge_weights != NULL) {
		weight = s->edge_weights[edge_index];
		return isfinite(weight) && weight > 0 ? weight : 0;
	}
	if (edge->from < s->cfg->block_count && edge->from >= edge->to)
		return BACK_EDGE_WEIGHT;
	return 1;
}

/* Keep the edges with the greatest weights, in order. */
static size_t insert_predecessor(struct predecessor *preds, size_t count,
				 const struct predecessor *pred)
{
	size_t at = count;

	while (at > 0 && preds[at - 1].weight < pred->weight)
		at--;
	if (at >= PREDECESSORS_MAX)
		return count;
	if (count == PREDECESSORS_MAX)
		count--;
	memmove(preds + at + 1, preds + at, (count - at) * sizeof(*preds));
	preds[at] = *pred;
	return count + 1;
}

static bool is_predicted(const struct cfg *cfg, const struct cfg_edge *edge)
{
	return edge->from < cfg->block_count &&
	       (cfg->insns[edge->insn].flow == INSN_FLOW_BRANCH ||
		cfg->insns[edge->insn].flow == INSN_FLOW_JUMP_INDIRECT);
}

/*
 * Return true if this edge may follow a misprediction so closely that the block that falls through
 * to this one issues in other pairs up to its end.
 */
static bool is_late_before(const struct scheduler *s, const struct cfg_edge *edge)
{
	return edge->from < s->cfg->block_count && edge->kind == CFG_EDGE_NEXT &&
	       s->schedule->insns[edge->insn].late_change != 0;
}

/* Weights add up to 1. There is always at least one edge. */
static size_t find_predecessors(const struct scheduler *s, uint32_t block_index,
				struct predecessor preds[PREDECESSORS_MAX])
{
	const struct cfg_block *block = &s->cfg->blocks[block_index];
	size_t count = 0;
	double sum = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t edge_index = s->cfg->in_edges[block->in + i];
		const struct cfg_edge *edge = &s->cfg->edges[edge_index];
		struct predecessor pred = {.from = edge->from < s->cfg->block_count ? edge->from
										    : CFG_ENTRY,
					   .falls = edge->kind == CFG_EDGE_NEXT,
					   .branches = is_predicted(s->cfg, edge),
					   .late_before = is_late_before(s, edge),
					   .weight = schedule_weight_of(s, edge_index)};

		count = insert_predecessor(preds, count, &pred);
	}
	for (size_t i = 0; i < count; i++)
		sum += preds[i].weight;
	if (count == 0) {
		preds[0] = (struct predecessor){.from = CFG_ENTRY, .weight = 1};
		return 1;
	}
	for (size_t i = 0; i < count; i++)
		preds[i].weight = sum > 0 ? preds[i].weight / sum : 1.0 / (double)count;
	return count;
}

/* Add a stall to those of an instruction; small stalls are merged into larger ones. */
static void merge_stall(struct schedule_insn *insn, const struct static_stall *stall, double weight)
{
	struct static_stall new = {
		.kind = stall->kind, .cycles = stall->cycles * weight, .from = stall->from};
	struct static_stall *least = insn->stalls;

	for (uint8_t i = 0; i < insn->stall_count; i++) {
		struct static_stall *old = &insn->stalls[i];

		if (old->kind == new.kind && old->from == new.from) {
			old->cycles += new.cycles;
			return;
		}
		if (old->cycles < least->cycles)
			least = old;
	}
	if (insn->stall_count < SCHEDULE_STALLS_MAX) {
		insn->stalls[insn->stall_count++] = new;
		return;
	}
	/* No cycle is lost: the larger stall represents both. */
	if (new.cycles > least->cycles) {
		new.cycles += least->cycles;
		*least = new;
	} else {
		least->cycles += new.cycles;
	}
}

static void record(struct scheduler *s, uint32_t index, const struct issue_event *event,
		   const struct predecessor *pred, bool heaviest)
{
	struct schedule_insn *insn = &s->schedule->insns[index];
	const struct cfg_block *block = &s->cfg->blocks[s->cfg->block_of[index]];

	insn->min_cycles += pred->weight * event->cycles;
	for (uint32_t i = 0; i < event->stall_count; i++)
		merge_stall(insn, &event->stalls[i], pred->weight);
	if (!heaviest)
		return;
	insn->issues_with_previous = event->cycles == 0;
	insn->depends_on = event->depends_on >= block->first && event->depends_on < index
				   ? event->depends_on
				   : UINT32_MAX;
}

/* @cycles: of the block's instructions, for one edge into it */
static void record_sum(struct scheduler *s, uint32_t block_index, const uint32_t *cycles)
{
	double *least = &s->schedule->block_least[block_index];
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->cfg->blocks[block_index].count; i++)
		sum += cycles[i];
	*least = fmin(*least, sum);
}

/*
 * Schedule a block after the state of a queue.
 * @cycles: out: of its instructions
 * @pred:    NULL: do not record
 */
static void run_block(struct scheduler *s, uint32_t block_index, struct issue_queue *queue,
		      uint32_t *cycles, const struct predecessor *pred, bool heaviest)
{
	const struct cfg_block *block = &s->cfg->blocks[block_index];
	struct issue_event event;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &s->cfg->insns[i];

		issue_queue_add(queue, insn, s->classes[i], i, &event);
		cycles[i - block->first] = event.cycles;
		if (pred != NULL)
			record(s, i, &event, pred, heaviest);
		/* The pipeline state after the callee is unknown. */
		if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
			issue_queue_init(queue, s->issue);
	}
	if (pred != NULL)
		record_sum(s, block_index, cycles);
}

static void enter(const struct scheduler *s, struct issue_queue *queue,
		  const struct predecessor *pred)
{
	if (pred->from == CFG_ENTRY) {
		issue_queue_init(queue, s->issue);
		return;
	}
	*queue = s->exits[pred->from];
	if (!pred->falls)
		issue_queue_close(queue);
}

/*
 * Schedule each block after its most frequent edge, so that final states follow from final states.
 */
static void run_pass(struct scheduler *s, bool first)
{
	struct predecessor preds[PREDECESSORS_MAX] = {{.from = CFG_ENTRY}};
	struct issue_queue queue;

	for (uint32_t b = 0; b < s->cfg->block_count; b++) {
		if (!first)
			find_predecessors(s, b, preds);
		enter(s, &queue, &preds[0]);
		run_block(s, b, &queue, s->usual[0], NULL, false);
		s->exits[b] = queue;
	}
}

/*
 * Schedule a block after a misprediction. Usually that is one of the edge into it, with an empty
 * pipeline. The effect of an earlier misprediction on the predecessor's final state is used instead
 * if only that changes the cycles, or if both change them equally (half a pair remains).
 * @usual: cycles of the block's instructions after that edge without a misprediction
 */
static void run_late(struct scheduler *s, uint32_t block_index, const struct predecessor *pred,
		     const uint32_t *usual)
{
	const struct cfg_block *block = &s->cfg->blocks[block_index];
	size_t bytes = block->count * sizeof(*usual);
	const uint32_t *late = s->late;
	struct issue_queue queue, leaves;

	if (pred->branches) {
		issue_queue_init(&leaves, s->issue);
		run_block(s, block_index, &leaves, s->late, NULL, false);
	}
	if (pred->late_before) {
		queue = s->late_exits[pred->from];
		run_block(s, block_index, &queue, s->late_before, NULL, false);
		if (!pred->branches || memcmp(s->late, usual, bytes) == 0 ||
		    memcmp(s->late, s->late_before, bytes) == 0) {
			late = s->late_before;
			leaves = queue;
		}
	}
	for (uint32_t i = 0; i < block->count; i++)
		s->schedule->insns[block->first + i].late_change +=
			pred->weight * ((double)late[i] - usual[i]);
	record_sum(s, block_index, late);
	s->late_exits[block_index] = leaves;
}

/* Schedule each block after all edges, for the result. Final states do not change. */
static void run_predecessors(struct scheduler *s)
{
	struct predecessor preds[PREDECESSORS_MAX];
	struct issue_queue queue;

	for (uint32_t b = 0; b < s->cfg->block_count; b++) {
		size_t count = find_predecessors(s, b, preds);
		for (size_t i = 0; i < count; i++) {
			enter(s, &queue, &preds[i]);
			run_block(s, b, &queue, s->usual[i], &preds[i], i == 0);
		}
		/* The most frequent edge comes last, because its final state is kept. */
		for (size_t i = count; i-- > 0;) {
			if (preds[i].branches || preds[i].late_before)
				run_late(s, b, &preds[i], s->usual[i]);
		}
	}
}

static void run_alone(struct scheduler *s)
{
	const struct predecessor pred = {.from = CFG_ENTRY, .weight = 1};
	struct issue_queue queue;

	for (uint32_t b = 0; b < s->cfg->block_count; b++) {
		issue_queue_init(&queue, s->issue);
		run_block(s, b, &queue, s->usual[0], &pred, true);
	}
}

static int schedule_in_order(struct scheduler *s, bool alone)
{
	_cleanup_free_ struct issue_queue *exits = NULL, *late_exits = NULL;
	_cleanup_free_ uint8_t *classes = calloc(s->cfg->insn_count, sizeof(*classes));
	_cleanup_free_ uint32_t *cycles =
		calloc(s->cfg->insn_count, (PREDECESSORS_MAX + 2) * sizeof(*cycles));

	if (!alone) {
		exits = calloc(s->cfg->block_count, sizeof(*exits));
		late_exits = calloc(s->cfg->block_count, sizeof(*late_exits));
	}
	if (classes == NULL || cycles == NULL || ((exits == NULL || late_exits == NULL) && !alone))
		return -ENOMEM;
	s->exits = exits;
	s->late_exits = late_exits;
	s->classes = classes;
	for (size_t i = 0; i < PREDECESSORS_MAX; i++)
		s->usual[i] = cycles + i * s->cfg->insn_count;
	s->late = cycles + (size_t)PREDECESSORS_MAX * s->cfg->insn_count;
	s->late_before = s->late + s->cfg->insn_count;
	for (uint32_t i = 0; i < s->cfg->insn_count; i++)
		classes[i] = machine_issue_class(s->issue, &s->cfg->insns[i]);
	if (alone) {
		run_alone(s);
		return 0;
	}
	for (int pass = 0; pass < PASSES; pass++)
		run_pass(s, pass == 0);
	run_predecessors(s);
	return 0;
}

static void add_up_blocks(struct schedule *schedule, const struct cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		schedule->block_cycles[b] = 0;
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			schedule->block_cycles[b] += schedule->insns[i].min_cycles;
		schedule->block_least[b] =
			fmin(schedule->block_least[b], schedule->block_cycles[b]);
	}
}

static int create(struct schedule *ret, const struct machine_model *model, const struct cfg *cfg,
		  const double *edge_weights, bool alone)
{
	struct schedule schedule = {0};
	struct scheduler s = {.schedule = &schedule,
			      .cfg = cfg,
			      .issue = model->issue,
			      .edge_weights = edge_weights};
	int r;

	schedule.insns = calloc(cfg->insn_count, sizeof(*schedule.insns));
	schedule.block_cycles = calloc(cfg->block_count, sizeof(*schedule.block_cycles));
	schedule.block_least = calloc(cfg->block_count, sizeof(*schedule.block_least));
	if (schedule.insns == NULL || schedule.block_cycles == NULL ||
	    schedule.block_least == NULL) {
		schedule_deinit(&schedule);
		return -ENOMEM;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++)
		schedule.block_least[b] = INFINITY;
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		schedule.insns[i].depends_on = UINT32_MAX;
	r = model->in_order ? schedule_in_order(&s, alone)
			    : throughput_schedule(&schedule, model->bound, cfg);
	if (r < 0) {
		schedule_deinit(&schedule);
		return r;
	}
	add_up_blocks(&schedule, cfg);
	*ret = schedule;
	return 0;
}

int schedule_create(struct schedule *ret, const struct machine_model *model, const struct cfg *cfg,
		    const double *edge_weights)
{
	return create(ret, model, cfg, edge_weights, false);
}

int schedule_create_alone(struct schedule *ret, const struct machine_model *model,
			  const struct cfg *cfg)
{
	return create(ret, model, cfg, NULL, true);
}

void schedule_deinit(struct schedule *schedule)
{
	free(schedule->insns);
	free(schedule->block_cycles);
	free(schedule->block_least);
	*schedule = (struct schedule){0};
}
