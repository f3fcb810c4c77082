// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/calls_mode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/calls/call_code.h"
#include "instrument/calls/call_map.h"
#include "instrument/clone/recursion.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

/*
 * @visit: nothing is measured, and the procedure makes no calls: only its calls are counted
 * @sites: if call sites are distinguished: by edge of the count graph, the number of the call's
 *         site; 0: none. Otherwise NULL
 */
struct calls_plan {
	struct call_code code;
	bool visit;
	uint32_t *sites;
};

static int find_metric(enum call_metric *ret, const char *name, struct error *err)
{
	static const char *const names[] = {
		[CALL_METRIC_NONE] = "none",
		[CALL_METRIC_CYCLES] = "cycles",
		[CALL_METRIC_INSTRUCTIONS] = "instructions",
	};

	*ret = CALL_METRIC_CYCLES;
	if (name == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum call_metric)i;
			return 0;
		}
	}
	return near_names_unknown(err, "metric", name, names, sizeof(names) / sizeof(*names));
}

static int calls_mode_begin(struct mode_image *image, enum call_policy policy, struct error *err)
{
	struct call_map *map = calloc(1, sizeof(*map));

	image->data = map;
	if (map != NULL) {
		map->image = image->number;
		map->policy = policy;
		map->switches_stacks = image->recursion->candidates->switches_stacks;
		map->path = strdup(image->path);
		map->build_id = strdup(image->build_id);
	}
	if (map == NULL || map->path == NULL || map->build_id == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	image->area_bytes = sizeof(struct call_area) + image->recursion->candidates->count *
							       sizeof(uint32_t[CALL_LAYOUT_LAST]);
	map->sites_distinguished = image->options->sites;
	if (find_metric(&map->metric, image->options->metric, err) < 0)
		return -EINVAL;
	image->parameters[CALL_LAYOUT_POLICY] = map->policy;
	image->parameters[CALL_LAYOUT_METRIC] = map->metric;
	return 0;
}

static int calls_begin(struct mode_image *image, struct error *err)
{
	return calls_mode_begin(image, CALL_POLICY_CALLS, err);
}

static int context_begin(struct mode_image *image, struct error *err)
{
	return calls_mode_begin(image, CALL_POLICY_CONTEXT, err);
}

static const struct call_map *map_of(const struct mode_plan *plan)
{
	return plan->image->data;
}

static const struct insn *call_at(const struct mode_plan *plan, uint32_t number)
{
	const struct mode_procedure *procedure = plan->procedure;
	const struct count_node *node = &procedure->graph->nodes[number];

	return &procedure->cfg->insns[node->first + node->count - 1];
}

/* Return the noreturn call by which an edge leaves the procedure; NULL: there is none. */
static const struct insn *last_call(const struct mode_plan *plan, const struct count_edge *edge)
{
	const struct cfg *cfg = plan->procedure->cfg;
	const struct insn *insn;

	if (edge->kind != COUNT_LEAVE || edge->cfg_edge == COUNT_NONE ||
	    cfg->edges[edge->cfg_edge].kind != CFG_EDGE_STOP)
		return NULL;
	insn = &cfg->insns[cfg->edges[edge->cfg_edge].insn];
	return insn->flow != INSN_FLOW_STOP ? insn : NULL;
}

/* Return true if other procedures may be called on an edge. */
static bool may_call_procedure(const struct mode_plan *plan, const struct count_edge *edge,
			       bool last)
{
	const struct insn *call = edge->kind == COUNT_CALL ? call_at(plan, edge->from) : NULL;

	if (last)
		call = last_call(plan, edge);
	return call != NULL && !recursion_is_leaf_call(plan->image->recursion, call);
}

/*
 * Return true if a procedure calls no other, and is entered only at its start. Its last instruction
 * may be a noreturn call unless @handles: the caller of a signal handler is not known there.
 */
static bool is_leaf(const struct mode_plan *plan, bool handles)
{
	const struct count_graph *graph = plan->procedure->graph;

	for (uint32_t e = 0; e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];

		if (edge->kind == COUNT_CATCH || may_call_procedure(plan, edge, false) ||
		    (handles && may_call_procedure(plan, edge, true)))
			return false;
	}
	return true;
}

/* Return the call on an edge, if it may lead to other procedures of the image; else NULL. */
static const struct insn *site_of(const struct mode_plan *plan, const struct count_edge *edge)
{
	const struct insn *call =
		edge->kind == COUNT_CALL ? call_at(plan, edge->from) : last_call(plan, edge);

	return call != NULL && call->flow != INSN_FLOW_NEXT &&
			       !recursion_is_leaf_call(plan->image->recursion, call)
		       ? call
		       : NULL;
}

static int number_sites(struct mode_plan *plan, struct error *err)
{
	const struct count_graph *graph = plan->procedure->graph;
	struct calls_plan *calls = plan->data;
	uint32_t last = (uint32_t)map_of(plan)->site_count;

	calls->sites = calloc(graph->edge_count + (size_t)1, sizeof(*calls->sites));
	if (calls->sites == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (uint32_t e = 0; e < graph->edge_count; e++)
		calls->sites[e] = site_of(plan, &graph->edges[e]) != NULL ? ++last : 0;
	return 0;
}

static int calls_plan(struct mode_plan *plan, struct error *err)
{
	struct calls_plan *calls = calloc(1, sizeof(*calls));
	const struct call_map *map = map_of(plan);

	plan->data = calls;
	if (calls == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	calls->code = (struct call_code){
		.area_at = plan->image->area_at,
		.procedure = (uint32_t)map->procedure_count,
		.sites = map->sites_distinguished,
		.metric = map->metric,
		.handles = plan->image->recursion->known[plan->procedure->candidate],
	};
	calls->visit = map->metric == CALL_METRIC_NONE && !plan->image->options->frames &&
		       is_leaf(plan, calls->code.handles);
	return map->sites_distinguished ? number_sites(plan, err) : 0;
}

static void calls_drop(struct mode_plan *plan)
{
	struct calls_plan *calls = plan->data;

	if (calls == NULL)
		return;
	call_code_deinit(&calls->code);
	free(calls->sites);
	free(calls);
}

/* --- points --------------------------------------------------------------- */

/*
 * Operation before a call, a return or a jump; none before a call that never returns, and before a
 * trap.
 */
static enum call_operation exit_operation(const struct mode_procedure *procedure,
					  const struct count_edge *edge)
{
	if (edge->cfg_edge == COUNT_NONE)
		return CALL_OPERATIONS;
	switch (procedure->cfg->edges[edge->cfg_edge].kind) {
	case CFG_EDGE_RETURN:
		return CALL_OPERATION_LEAVE;
	case CFG_EDGE_STOP:
		return CALL_OPERATIONS;
	default:
		return CALL_OPERATION_JUMP;
	}
}

/* Return true if the call from which an edge returns may return again. */
static bool may_return_twice(const struct mode_plan *plan, const struct count_edge *edge)
{
	const struct insn *call = call_at(plan, edge->to - 1);

	return call->flow != INSN_FLOW_NEXT &&
	       recursion_returns_twice(plan->image->recursion, call);
}

/* Return the operation on an edge, or CALL_OPERATIONS for none. */
static enum call_operation edge_operation(const struct mode_plan *plan, uint32_t number)
{
	const struct count_edge *edge = &plan->procedure->graph->edges[number];
	const struct calls_plan *calls = plan->data;

	switch (edge->kind) {
	case COUNT_ENTER:
		return calls->visit ? CALL_OPERATION_VISIT : CALL_OPERATION_ENTER;
	case COUNT_LEAVE:
		if (calls->visit)
			return may_call_procedure(plan, edge, true) ? CALL_OPERATION_NORETURN
								    : CALL_OPERATIONS;
		return exit_operation(plan->procedure, edge);
	case COUNT_CATCH:
		return CALL_OPERATION_RESUME;
	case COUNT_BACK:
		return may_return_twice(plan, edge) ? CALL_OPERATION_RESUME : CALL_OPERATIONS;
	default:
		return CALL_OPERATIONS;
	}
}

static bool calls_has_code(const struct mode_plan *plan, const struct point *point)
{
	const struct calls_plan *calls = plan->data;

	switch (point->kind) {
	case POINT_OUTSIDE:
		return calls->code.handles;
	case POINT_EDGE:
		return edge_operation(plan, point->edge) != CALL_OPERATIONS ||
		       (calls->sites != NULL && calls->sites[point->edge] != 0);
	case POINT_START:
		return map_of(plan)->metric == CALL_METRIC_INSTRUCTIONS &&
		       plan->procedure->graph->nodes[point->node].count > 0;
	default:
		return false;
	}
}

/* Add in one instruction, so that a signal handler may do the same in between. */
static void emit_instructions(const struct mode_plan *plan, const struct point *point,
			      struct machine_code *code)
{
	uint8_t add[] = {0x65, 0x48, 0x81, 0x04, 0x25, 0, 0, 0, 0, 0, 0, 0, 0};
	uint32_t at = plan->image->area_at + (uint32_t)offsetof(struct call_head, instructions);
	uint32_t count = plan->procedure->graph->nodes[point->node].count;
	struct scratch_regs scratch;

	memcpy(add + 5, &at, sizeof(at));
	memcpy(add + 9, &count, sizeof(count));
	scratch_acquire(code, point, 0, 0, true, &scratch);
	machine_code_bytes(code, add, sizeof(add));
	scratch_release(code, &scratch);
}

static void emit_operation(const struct mode_plan *plan, const struct point *point,
			   struct machine_code *code)
{
	struct calls_plan *calls = plan->data;
	enum call_operation operation = edge_operation(plan, point->edge);

	switch (operation) {
	case CALL_OPERATION_ENTER:
	case CALL_OPERATION_VISIT:
		call_code_enter(&calls->code, point, code, operation);
		break;
	case CALL_OPERATION_LEAVE:
	case CALL_OPERATION_JUMP:
		call_code_leave(&calls->code, point, code, operation);
		break;
	case CALL_OPERATION_NORETURN:
	case CALL_OPERATION_RESUME:
		call_code_rare(&calls->code, point, code, operation);
		break;
	case CALL_OPERATIONS:
		break;
	}
	if (calls->sites != NULL && calls->sites[point->edge] != 0)
		call_code_site(&calls->code, point, code, calls->sites[point->edge]);
}

static void calls_emit(const struct mode_plan *plan, const struct point *point,
		       struct machine_code *code)
{
	struct calls_plan *calls = plan->data;

	if (point->kind == POINT_OUTSIDE)
		call_code_outside(&calls->code, point, code);
	else if (point->kind == POINT_START)
		emit_instructions(plan, point, code);
	else
		emit_operation(plan, point, code);
}

static void calls_emit_cold_stubs(const struct mode_plan *plan, struct machine_code *code)
{
	const struct calls_plan *calls = plan->data;

	call_code_emit_cold_stubs(&calls->code, code);
}

/* --- storing -------------------------------------------------------------- */

static int calls_commit(struct mode_image *image, const struct mode_plan *plan)
{
	const struct count_graph *graph = plan->procedure->graph;
	const struct calls_plan *calls = plan->data;
	int r = call_map_add(image->data, plan->procedure->name, plan->procedure->address);

	for (uint32_t e = 0; r == 0 && calls->sites != NULL && e < graph->edge_count; e++) {
		if (calls->sites[e] != 0)
			r = call_map_add_site(image->data,
					      site_of(plan, &graph->edges[e])->address);
	}
	return r;
}

static int calls_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	return call_map_encode(image->data, ret, bytes);
}

static void calls_end(struct mode_image *image)
{
	if (image->data != NULL)
		call_map_deinit(image->data);
	free(image->data);
	image->data = NULL;
}

const struct instrument_mode calls_mode = {
	.name = "calls",
	.section = CALL_MAP_SECTION,
	.reader = "dcpicalls",
	.number = PROFILE_LAYOUT_CALLS,
	.metric = true,
	.recursion = true,
	.begin = calls_begin,
	.plan = calls_plan,
	.has_code = calls_has_code,
	.emit = calls_emit,
	.emit_cold_stubs = calls_emit_cold_stubs,
	.commit = calls_commit,
	.drop = calls_drop,
	.encode = calls_encode,
	.end = calls_end,
};

const struct instrument_mode context_mode = {
	.name = "context",
	.section = CALL_MAP_SECTION,
	.reader = "dcpicct",
	.number = PROFILE_LAYOUT_CALLS,
	.metric = true,
	.sites = true,
	.recursion = true,
	.begin = context_begin,
	.plan = calls_plan,
	.has_code = calls_has_code,
	.emit = calls_emit,
	.emit_cold_stubs = calls_emit_cold_stubs,
	.commit = calls_commit,
	.drop = calls_drop,
	.encode = calls_encode,
	.end = calls_end,
};
