// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/variation/variation_mode.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/codegen/block_code.h"
#include "instrument/paths/path_numbering.h"
#include "instrument/paths/paths_map.h"
#include "instrument/variation/variation_layout.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define BIT(reg) (1U << (reg))

/* @path_edge_of: path edge of each edge of the count graph; or PATH_NONE */
struct variation_plan {
	struct path_graph graph;
	uint32_t *path_edge_of;
	uint32_t id;
};

static int variation_begin(struct mode_image *image, struct error *err)
{
	struct paths_map *map = calloc(1, sizeof(*map));
	const struct mode_options *options = image->options;
	uint32_t checks = options->checks != 0 ? options->checks : VARIATION_CHECKS_DEFAULT;

	image->data = map;
	if (options->burst != 0)
		return error_set(err, EINVAL,
				 "--burst is not supported: paths are timed one by one");
	if (options->all)
		checks = 0;
	if (options->placement != NULL && options->placement->unchecked >= 0 &&
	    options->placement->unchecked != BURST_SWITCH_LOOPS_NONE)
		return error_set(
			err, EINVAL,
			"--checks-at is not supported: loops without checks have paths, too");
	image->area_bytes = sizeof(struct variation_area);
	image->parameters[VARIATION_CHECKS] = checks;
	image->bursts.checks = checks;
	image->bursts.records = 1;
	image->bursts.counters = PROFILE_LAYOUT_COUNTERS;
	if (options->placement == NULL)
		image->bursts.placement = VARIATION_PLACEMENT_DEFAULT;
	if (map != NULL) {
		map->image = image->number;
		map->timed = true;
		map->checks = checks;
		map->path = strdup(image->path);
		map->build_id = strdup(image->build_id);
		map->metric = strdup("cycles");
	}
	if (map == NULL || map->path == NULL || map->build_id == NULL || map->metric == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static void variation_end(struct mode_image *image)
{
	if (image->data != NULL)
		paths_map_deinit(image->data);
	free(image->data);
	image->data = NULL;
}

/* --- planning ------------------------------------------------------------- */

static bool breaks(void *context, uint32_t node)
{
	(void)context;
	(void)node;
	return true;
}

static int variation_plan(struct mode_plan *plan, struct error *err)
{
	const struct count_graph *counts = plan->procedure->graph;
	const struct paths_map *map = plan->image->data;
	struct variation_plan *variation = calloc(1, sizeof(*variation));
	int r = -ENOMEM;

	plan->data = variation;
	if (variation != NULL) {
		variation->id = (uint32_t)map->procedure_count + 1;
		variation->path_edge_of =
			malloc((counts->edge_count + (size_t)1) * sizeof(*variation->path_edge_of));
	}
	if (variation != NULL && variation->path_edge_of != NULL)
		r = path_numbering_create(
			&variation->graph, counts,
			&(struct path_rules){.breaks = breaks, .most = PATH_COUNT_MAX});
	if (r == -ERANGE)
		return error_set(err, ENOTSUP, "too many paths");
	if (r < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	memset(variation->path_edge_of, 0xff,
	       (counts->edge_count + (size_t)1) * sizeof(*variation->path_edge_of));
	for (uint32_t w = 0; w < variation->graph.path_edge_count; w++)
		variation->path_edge_of[variation->graph.path_edges[w].edge] = w;
	return 0;
}

static void variation_drop(struct mode_plan *plan)
{
	struct variation_plan *variation = plan->data;

	if (variation == NULL)
		return;
	path_graph_deinit(&variation->graph);
	free(variation->path_edge_of);
	free(variation);
}

/* --- code ----------------------------------------------------------------- */

/* After an indirect jump a path begins, whose first edge is known already. */
static bool is_landing(const struct mode_plan *plan, uint32_t edge)
{
	return plan->procedure->graph->edges[edge].kind == COUNT_FROM_HUB;
}

static bool variation_has_code(const struct mode_plan *plan, const struct point *point)
{
	const struct variation_plan *variation = plan->data;
	const struct path_edge *path_edge;

	if (point->kind == POINT_ARRIVAL)
		return true;
	if (point->kind != POINT_EDGE || variation->path_edge_of[point->edge] == PATH_NONE)
		return false;
	path_edge = &variation->graph.path_edges[variation->path_edge_of[point->edge]];
	return path_edge->kind != PATH_ON || path_edge->value != 0 || is_landing(plan, point->edge);
}

static uint32_t area_place(const struct mode_plan *plan, size_t offset)
{
	return plan->image->area_at + (uint32_t)offset;
}

static void emit_begin(const struct mode_plan *plan, const struct point *point,
		       struct machine_code *code, uint32_t number)
{
	const struct variation_plan *variation = plan->data;
	struct scratch_regs scratch;

	block_code_set32(code, mem_operand(area_place(plan, offsetof(struct variation_area, path))),
			 number);
	block_code_set32(code,
			 mem_operand(area_place(plan, offsetof(struct variation_area, procedure))),
			 variation->id);
	scratch_acquire(code, point, BIT(MACHINE_RAX) | BIT(MACHINE_RDX), 0, true, &scratch);
	block_code_fence(code);
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_STORE, MACHINE_RAX,
			mem_operand(area_place(plan, offsetof(struct variation_area, began))));
	block_code_fence(code);
	scratch_release(code, &scratch);
}

static void emit_end(const struct mode_plan *plan, const struct point *point,
		     struct machine_code *code, const struct path_edge *path_edge)
{
	const struct variation_plan *variation = plan->data;
	uint16_t operation = plan->procedure->graph->edges[path_edge->edge].kind == COUNT_TO_HUB &&
					     path_edge->kind == PATH_CUT
				     ? VARIATION_OPERATION_JUMP
				     : VARIATION_OPERATION_END;
	struct scratch_regs scratch;

	scratch_acquire(code, point, BIT(MACHINE_RAX) | BIT(MACHINE_RDX), 0, true, &scratch);
	block_code_fence(code);
	block_code_time(code, MACHINE_RAX);
	block_code_move(code, BLOCK_STORE, MACHINE_RAX,
			mem_operand(area_place(plan, offsetof(struct variation_area, ended))));
	if (path_edge->value != 0)
		block_code_add32(
			code, mem_operand(area_place(plan, offsetof(struct variation_area, path))),
			path_edge->value);
	scratch_release(code, &scratch);
	runtime_code_slow(code, point, 0, operation, (int32_t)variation->id);
}

static void emit_value(const struct mode_plan *plan, const struct point *point,
		       struct machine_code *code, uint32_t value)
{
	struct scratch_regs scratch;

	scratch_acquire(code, point, 0, 0, true, &scratch);
	block_code_add32(code, mem_operand(area_place(plan, offsetof(struct variation_area, path))),
			 value);
	scratch_release(code, &scratch);
}

/* At a node where no path begins (in a loop with two entries), record no path. */
static void emit_start(const struct mode_plan *plan, const struct point *point,
		       struct machine_code *code, uint32_t node, uint32_t value)
{
	const struct variation_plan *variation = plan->data;
	uint32_t number = path_graph_start(&variation->graph, node);

	emit_begin(plan, point, code, number != PATH_NONE ? number + value : VARIATION_NO_PATH);
}

static void emit_path_edge(const struct mode_plan *plan, const struct point *point,
			   struct machine_code *code)
{
	const struct variation_plan *variation = plan->data;
	const struct path_edge *path_edge =
		&variation->graph.path_edges[variation->path_edge_of[point->edge]];
	bool landing = is_landing(plan, point->edge);

	switch (path_edge->kind) {
	case PATH_ON:
		if (landing)
			emit_start(plan, point, code, path_edge->from, path_edge->value);
		else
			emit_value(plan, point, code, path_edge->value);
		break;
	case PATH_START:
		emit_start(plan, point, code, path_edge->to, 0);
		break;
	case PATH_END:
		emit_end(plan, point, code, path_edge);
		break;
	case PATH_CUT:
		if (!landing)
			emit_end(plan, point, code, path_edge);
		if (!point->crosses &&
		    plan->procedure->graph->edges[point->edge].kind != COUNT_TO_HUB)
			emit_start(plan, point, code, path_edge->to, 0);
		break;
	}
}

static void variation_emit(const struct mode_plan *plan, const struct point *point,
			   struct machine_code *code)
{
	if (point->kind == POINT_ARRIVAL)
		emit_start(plan, point, code, point->node, 0);
	else
		emit_path_edge(plan, point, code);
}

/* --- storing -------------------------------------------------------------- */

static int variation_commit(struct mode_image *image, const struct mode_plan *plan)
{
	const struct variation_plan *variation = plan->data;

	return paths_map_add(image->data, plan->procedure->name, plan->procedure->address,
			     plan->procedure->graph, &variation->graph,
			     &(struct paths_procedure){.calls = true});
}

static int variation_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	return paths_map_encode(image->data, ret, bytes);
}

const struct instrument_mode variation_mode = {
	.name = "variation",
	.reader = "dcpivpp",
	.section = VARIATION_MAP_SECTION,
	.number = PROFILE_LAYOUT_VARIATION,
	.bursts = true,
	.begin = variation_begin,
	.plan = variation_plan,
	.has_code = variation_has_code,
	.emit = variation_emit,
	.commit = variation_commit,
	.drop = variation_drop,
	.encode = variation_encode,
	.end = variation_end,
};
