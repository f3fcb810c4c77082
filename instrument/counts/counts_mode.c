// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_mode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/counts/counts_map.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* For each node of a procedure: the counter at its start, or its end; or COUNT_NONE. */
struct counts_plan {
	uint32_t *start_of;
	uint32_t *end_of;
};

static int counts_begin(struct mode_image *image, struct error *err)
{
	struct counts_map *map = calloc(1, sizeof(*map));

	image->data = map;
	if (map != NULL) {
		map->image = image->number;
		map->path = strdup(image->path);
		map->build_id = strdup(image->build_id);
	}
	if (map == NULL || map->path == NULL || map->build_id == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static uint32_t *all_none(size_t count)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	if (array != NULL)
		memset(array, 0xff, (count + 1) * sizeof(*array));
	return array;
}

static int counts_plan(struct mode_plan *plan, struct error *err)
{
	const struct count_graph *graph = plan->procedure->graph;
	struct counts_plan *counts = calloc(1, sizeof(*counts));

	plan->data = counts;
	plan->words = graph->counter_count;
	if (counts != NULL) {
		counts->start_of = all_none(graph->node_count);
		counts->end_of = all_none(graph->node_count);
	}
	if (counts == NULL || counts->start_of == NULL || counts->end_of == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		const struct count_edge *edge = &graph->edges[e];

		if (edge->place == COUNT_AT_START)
			counts->start_of[edge->to] = edge->counter;
		else if (edge->place == COUNT_AT_END)
			counts->end_of[edge->from] = edge->counter;
	}
	return 0;
}

static void counts_drop(struct mode_plan *plan)
{
	struct counts_plan *counts = plan->data;

	if (counts == NULL)
		return;
	free(counts->start_of);
	free(counts->end_of);
	free(counts);
}

static uint32_t counter_at(const struct mode_plan *plan, const struct point *point)
{
	const struct counts_plan *counts = plan->data;
	const struct count_edge *edge;

	switch (point->kind) {
	case POINT_START:
		return counts->start_of[point->node];
	case POINT_END:
		return counts->end_of[point->node];
	case POINT_EDGE:
		edge = &plan->procedure->graph->edges[point->edge];
		return edge->place == COUNT_ON_EDGE ? edge->counter : COUNT_NONE;
	case POINT_REFERENCE:
	case POINT_OUTSIDE:
	case POINT_ARRIVAL:
		break;
	}
	return COUNT_NONE;
}

static bool counts_has_code(const struct mode_plan *plan, const struct point *point)
{
	return counter_at(plan, point) != COUNT_NONE;
}

static void counts_mode_put_u32(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

/* mov %gs:@at, %reg and back */
static void emit_gs_move(struct machine_code *code, bool load, unsigned int reg, uint32_t at)
{
	uint8_t bytes[] = {0x65,
			   (uint8_t)(0x48 | (reg >= 8 ? 4 : 0)),
			   load ? 0x8b : 0x89,
			   (uint8_t)(0x04 | (reg & 7) << 3),
			   0x25,
			   0,
			   0,
			   0,
			   0};

	counts_mode_put_u32(bytes + 5, at);
	machine_code_thread(code, bytes, sizeof(bytes), 5);
}

/* lea 1(%reg), %reg: adds without flags */
static void emit_lea_one(struct machine_code *code, unsigned int reg)
{
	uint8_t bytes[] = {(uint8_t)(0x48 | (reg >= 8 ? 5 : 0)), 0x8d,
			   (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)), 0x24, 1};

	if ((reg & 7) == MACHINE_RSP) { /* r12: with an index byte */
		machine_code_bytes(code, bytes, sizeof(bytes));
		return;
	}
	bytes[3] = 1;
	machine_code_bytes(code, bytes, 4);
}

static void emit_save(struct machine_code *code)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp), %rsp */
	static const uint8_t push[] = {0x50};			     /* push %rax */

	machine_code_bytes(code, lea, sizeof(lea));
	machine_code_stack(code, 128);
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
}

static void emit_restore(struct machine_code *code)
{
	static const uint8_t pop[] = {0x58}; /* pop %rax */
	static const uint8_t lea[] = {0x48, 0x8d, 0xa4, 0x24,
				      0x80, 0,	  0,	0}; /* lea 128(%rsp), %rsp */

	machine_code_bytes(code, pop, sizeof(pop));
	machine_code_stack(code, -8);
	machine_code_bytes(code, lea, sizeof(lea));
	machine_code_stack(code, -128);
}

/*
 * inc does not change the carry flag. If other flags are live, a free register is used; if there is
 * none, a register is saved below the red zone meanwhile.
 */
static void emit_add(struct machine_code *code, uint32_t at, bool flags, int reg)
{
	uint8_t inc[] = {0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};
	unsigned int used = reg < 0 ? MACHINE_RAX : (unsigned int)reg;

	if (flags) {
		counts_mode_put_u32(inc + 5, at);
		machine_code_thread(code, inc, sizeof(inc), 5);
		return;
	}
	if (reg < 0)
		emit_save(code);
	emit_gs_move(code, true, used, at);
	emit_lea_one(code, used);
	emit_gs_move(code, false, used, at);
	if (reg < 0)
		emit_restore(code);
}

static void counts_emit(const struct mode_plan *plan, const struct point *point,
			struct machine_code *code)
{
	emit_add(code, mode_word_at(plan, counter_at(plan, point)),
		 (point->live & LIVENESS_FLAGS & ~LIVENESS_CARRY) == 0,
		 point->free != 0 ? __builtin_ctz(point->free) : -1);
}

static int counts_commit(struct mode_image *image, const struct mode_plan *plan)
{
	return counts_map_add(image->data, plan->procedure->name, plan->procedure->address,
			      plan->procedure->graph, (uint32_t)plan->first_word);
}

static int counts_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	struct counts_map *map = image->data;

	map->counters = (uint32_t)image->words;
	return counts_map_encode(map, ret, bytes);
}

static void counts_end(struct mode_image *image)
{
	if (image->data != NULL)
		counts_map_deinit(image->data);
	free(image->data);
	image->data = NULL;
}

const struct instrument_mode counts_mode = {
	.name = "counts",
	.section = COUNTS_MAP_SECTION,
	.stubs = true,
	.shared = true,
	.begin = counts_begin,
	.plan = counts_plan,
	.has_code = counts_has_code,
	.emit = counts_emit,
	.commit = counts_commit,
	.drop = counts_drop,
	.encode = counts_encode,
	.end = counts_end,
};
