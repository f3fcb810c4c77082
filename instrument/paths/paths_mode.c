// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_mode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/clone/recursion.h"
#include "instrument/paths/path_numbering.h"
#include "instrument/paths/path_webs.h"
#include "instrument/paths/path_words.h"
#include "instrument/paths/paths_code.h"
#include "instrument/paths/path_spill.h"
#include "instrument/paths/paths_map.h"
#include "instrument/paths/paths_trace.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

/* Threads that share a block may make a path number leave the range of a single thread. */
#define SLACK_BYTES (UINT64_C(16) << 20)
/*
 * Instructions saved at a call with lazy saving, if no other activation needs the word meanwhile,
 * and added where a path begins.
 */
#define LAZY_GAIN 4
#define LAZY_LOSS 2
/*
 * Bytes of a program's code per word before the arrays; most programs need one word for 40 bytes.
 */
#define BYTES_A_WORD 16
/*
 * Maximum number of paths from a node on before unlikely edges are cut, so that the used parts of a
 * procedure's arrays are close together.
 */
#define PATHS_PART 64

/*
 * @path_edge_of:  for each edge of the count graph: the path edge that begins with it; or PATH_NONE
 * @back_of: the path edge whose call returns there; or PATH_NONE
 * @kept:    for each path edge: the path number is saved during the call
 * @timed:   for each path edge: the start time of the path is saved, too, if time is measured
 * @lazily:  for each path edge: the number is saved lazily, not at the call
 * @owned:   some are saved lazily, so the word's owner must be checked before the word is changed
 * @late:    check it only there; otherwise where the procedure is entered
 * @own:     words of paths whose number is known where they end
 */
struct paths_plan {
	struct mode_plan *mode;
	struct path_graph graph;
	struct paths_places places;
	uint32_t *path_edge_of;
	uint32_t *back_of;
	bool *kept;
	bool *timed;
	bool *lazily;
	struct path_words own;
	uint64_t first_word;
	uint64_t first_array;
	struct path_spill spill;
	bool owned;
	bool late;
	bool calls;
};

static const struct paths_map *map_of(const struct mode_plan *plan)
{
	return plan->image->data;
}

static bool has_metric(const struct mode_image *image)
{
	return image->options != NULL && image->options->metric != NULL;
}

/* Return true if the time of each path is measured, not that of groups in bursts. */
static bool has_clock(const struct mode_image *image)
{
	return has_metric(image) && image->options->all;
}

/* Measure in bursts. */
static void set_bursts(struct mode_image *image, struct paths_map *map)
{
	const struct mode_options *options = image->options;

	map->checks = options->checks != 0 ? options->checks : PATHS_CHECKS_DEFAULT;
	map->burst = options->burst != 0 ? options->burst : PATHS_BURST_DEFAULT;
	image->bursts.checks = map->checks;
	image->bursts.records = map->burst;
	image->bursts.first = 1;
	/* Small loops have to be measured, too. */
	if (options->placement == NULL)
		image->bursts.placement.unchecked = BURST_SWITCH_LOOPS_ALL;
	image->bursts.charged = paths_code_places(mode_private_at(), 0, false).charged;
	image->parameters[PATHS_TRACE_PARAMETER] = paths_map_trace(map);
}

/* An upper estimate: it takes address space, and memory only when it is used. */
static uint64_t leading_words(const struct mode_image *image)
{
	const struct candidates *candidates = image->recursion->candidates;
	uint64_t bytes = 0;

	for (size_t c = 0; c < candidates->count; c++)
		bytes += candidates->all[c].bytes;
	return bytes / BYTES_A_WORD + candidates->count * PATHS_WORDS;
}

static int paths_begin(struct mode_image *image, struct error *err)
{
	static const char *const metric = "cycles";
	struct paths_map *map = calloc(1, sizeof(*map));

	image->data = map;
	if (has_metric(image) && strcmp(image->options->metric, metric) != 0)
		return near_names_unknown(err, "metric", image->options->metric, &metric, 1);
	image->private_bytes =
		paths_code_private_bytes(image->recursion->candidates->count, has_clock(image));
	image->slack_bytes = SLACK_BYTES;
	if (map != NULL) {
		if (has_metric(image) && !image->options->all)
			set_bursts(image, map);
		image->area_bytes =
			paths_map_trace(map) + (map->burst != 0 ? PATHS_TRACE_BYTES : 0);
		map->leading_words = leading_words(image);
		image->words = map->leading_words;
		image->free_words = map->leading_words;
		map->image = image->number;
		map->path = strdup(image->path);
		map->build_id = strdup(image->build_id);
		map->metric = strdup(has_metric(image) ? image->options->metric : "");
	}
	if (map == NULL || map->path == NULL || map->build_id == NULL || map->metric == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

/* --- planning ------------------------------------------------------------- */

/* The instruction of a system call has no distinct kind of flow. */
static const struct insn *call_of(const struct mode_plan *plan, uint32_t node)
{
	const struct count_node *counts = &plan->procedure->graph->nodes[node];

	return &plan->procedure->cfg->insns[counts->first + counts->count - 1];
}

static bool breaks(void *context, uint32_t node)
{
	const struct mode_plan *plan = context;
	const struct insn *call = call_of(plan, node);

	if (call->flow == INSN_FLOW_JUMP_INDIRECT)
		return false;
	return call->flow == INSN_FLOW_NEXT ||
	       recursion_returns_twice(plan->image->recursion, call);
}

/*
 * Return true if saving the word can be left to other activations: not if they are certain to need
 * it.
 */
static bool can_be_lazy(const struct paths_plan *paths, const struct insn *call)
{
	const struct mode_procedure *procedure = paths->mode->procedure;

	return !procedure->liveness->across &&
	       (call->flow != INSN_FLOW_CALL || call->target != procedure->address);
}

/*
 * With a metric this is impossible: the start time is next to the word, and changes at each start.
 */
static bool can_be_late(const struct paths_plan *paths)
{
	const struct path_graph *graph = &paths->graph;
	double late = 0, early = 0;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];

		if (!isfinite(path_edge->weight))
			continue;
		late += path_edge->takes ? path_edge->weight : 0;
		early += path_edge->kind == PATH_START ? path_edge->weight : 0;
	}
	return !paths->places.metric && late < early;
}

static bool can_be_narrow(const struct paths_plan *paths)
{
	const struct path_range *range = &paths->graph.range;

	return paths->owned && paths->places.array && !paths->places.metric &&
	       range->least >= INT16_MIN && range->most <= INT16_MAX;
}

/* Compare the gain at calls with the loss at beginnings, where the word's owner is checked. */
static void choose_lazy(struct paths_plan *paths)
{
	const struct path_graph *graph = &paths->graph;
	double gain = 0, loss = 0;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];

		if (!isfinite(path_edge->weight))
			continue;
		if (paths->lazily[w])
			gain += path_edge->weight * LAZY_GAIN;
		if (path_edge->kind == PATH_START)
			loss += path_edge->weight * LAZY_LOSS;
	}
	paths->owned = gain > loss;
	for (uint32_t w = 0; !paths->owned && w < graph->path_edge_count; w++)
		paths->lazily[w] = false;
	paths->late = can_be_late(paths);
	paths->places.narrow = can_be_narrow(paths);
}

static int find_places(struct paths_plan *paths)
{
	const struct mode_plan *plan = paths->mode;
	size_t edges = plan->procedure->graph->edge_count + (size_t)1;
	const struct path_graph *graph = &paths->graph;

	paths->path_edge_of = malloc(edges * sizeof(*paths->path_edge_of));
	paths->back_of = malloc(edges * sizeof(*paths->back_of));
	paths->kept = calloc(graph->path_edge_count + (size_t)1, sizeof(*paths->kept));
	paths->timed = calloc(graph->path_edge_count + (size_t)1, sizeof(*paths->timed));
	paths->lazily = calloc(graph->path_edge_count + (size_t)1, sizeof(*paths->lazily));
	if (paths->path_edge_of == NULL || paths->back_of == NULL || paths->kept == NULL ||
	    paths->timed == NULL || paths->lazily == NULL)
		return -ENOMEM;
	memset(paths->path_edge_of, 0xff, edges * sizeof(*paths->path_edge_of));
	memset(paths->back_of, 0xff, edges * sizeof(*paths->back_of));
	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		const struct path_edge *path_edge = &graph->path_edges[w];
		bool comes_again;

		paths->path_edge_of[path_edge->edge] = w;
		if (path_edge->back == PATH_NONE)
			continue;
		paths->calls = true;
		paths->back_of[path_edge->back] = w;
		comes_again =
			recursion_is_possible(plan->image->recursion, plan->procedure->candidate,
					      call_of(plan, path_edge->from));
		paths->kept[w] = comes_again && !graph->known[path_edge->from];
		paths->timed[w] = comes_again && paths->places.metric;
		paths->lazily[w] = (paths->kept[w] || paths->timed[w]) &&
				   can_be_lazy(paths, call_of(plan, path_edge->from));
	}
	choose_lazy(paths);
	/* Measured paths have more than a count, all of it in arrays. */
	return path_words_find(&paths->own, graph, plan->procedure->graph,
			       paths->places.array && !has_metric(plan->image));
}

static bool has_calls(const struct count_graph *graph)
{
	for (uint32_t e = 0; e < graph->edge_count; e++) {
		if (graph->edges[e].kind == COUNT_CALL)
			return true;
	}
	return false;
}

static void set_places(struct paths_plan *paths)
{
	const struct mode_plan *plan = paths->mode;
	const struct paths_map *map = map_of(plan);

	paths->places = paths_code_places(mode_private_at(), plan->procedure->candidate,
					  has_clock(plan->image));
	paths->places.area = plan->image->area_at;
	paths->places.trace = plan->image->area_at + (uint32_t)paths_map_trace(map);
	paths->places.traces = map->burst != 0;
	paths->places.table = plan->image->area_at + (uint32_t)paths_map_table(map);
	paths->places.id = (uint32_t)map->procedure_count + 1;
	paths->places.count = paths->graph.count;
	paths->places.no_path = paths->graph.range.no_path;
	paths->places.end = map->end;
	paths->places.contexts = map->contexts != 0 ? plan->image->area_at + map->contexts : 0;
	paths->places.array = paths_map_is_array(map_of(plan), &paths->graph);
	paths->places.sums = PATHS_METRIC * paths->graph.range.room * (uint32_t)sizeof(uint64_t);
}

/*
 * Arrays are where the rewriter assigns them. Other words are before all arrays, or next to the
 * procedure's arrays if the room before them is used up.
 */
static void place_words(struct paths_plan *paths)
{
	struct mode_plan *plan = paths->mode;
	const struct mode_image *image = plan->image;
	const struct paths_map *map = image->data;
	uint64_t words = paths_map_fixed(map_of(plan), &paths->graph) + (uint64_t)paths->own.count;
	uint64_t arrays = paths_map_arrays(map, &paths->graph);
	bool leading = words <= image->free_words;

	paths->first_word = leading ? map->leading_words - image->free_words : plan->first_word;
	paths->first_array = plan->first_word + (leading ? 0 : words);
	plan->words = (leading ? 0 : words) + arrays;
	paths->places.words = mode_image_word_at(image, paths->first_word);
	paths->places.ended = mode_image_word_at(
		image, paths->first_array + paths_map_array(&paths->graph, PATHS_ENDED));
	paths->places.cut = mode_image_word_at(
		image, paths->first_array + paths_map_array(&paths->graph, PATHS_CUT));
}

/* Where everything is measured, the end of a path costs far more than cutting loops saves. */
static bool is_whole(const struct mode_image *image)
{
	return has_clock(image) || (image->options != NULL && image->options->whole);
}

/* Cut the paths of all procedures so that they have arrays, as long as there is room for these. */
static int find_paths(struct paths_plan *paths)
{
	const struct mode_plan *plan = paths->mode;
	const struct count_graph *counts = plan->procedure->graph;
	const struct paths_map *map = map_of(plan);
	uint32_t room = plan->image->options != NULL ? plan->image->options->room : 0;
	struct path_rules rules = {
		.breaks = breaks,
		.context = paths->mode,
		.most = PATHS_ARRAY_MAX,
		.part = is_whole(plan->image) ? 0 : PATHS_PART,
		.loops = !is_whole(plan->image),
		.early = !has_metric(plan->image),
	};
	int r = path_numbering_create(&paths->graph, counts, &rules);

	if (r < 0 || plan->first_word + paths_map_arrays(map, &paths->graph) <=
			     (room != 0 ? room : PATHS_ROOM_DEFAULT))
		return r;
	path_graph_deinit(&paths->graph);
	rules.most = PATH_COUNT_MAX;
	rules.part = 0;
	return path_numbering_create(&paths->graph, counts, &rules);
}

static int paths_plan(struct mode_plan *plan, struct error *err)
{
	struct paths_plan *paths = calloc(1, sizeof(*paths));
	int r = -ENOMEM;

	plan->data = paths;
	if (paths != NULL) {
		paths->mode = plan;
		r = find_paths(paths);
	}
	if (r == 0)
		r = path_webs_find(&paths->graph, plan->procedure,
				   !has_metric(plan->image) &&
					   paths_map_is_array(map_of(plan), &paths->graph));
	if (r == 0) {
		set_places(paths);
		paths->calls = has_calls(plan->procedure->graph);
		r = find_places(paths);
	}
	if (r == 0)
		place_words(paths);
	if (r == -ERANGE)
		return error_set(err, ENOTSUP, "too many paths");
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static void paths_drop(struct mode_plan *plan)
{
	struct paths_plan *paths = plan->data;

	if (paths == NULL)
		return;
	path_graph_deinit(&paths->graph);
	free(paths->path_edge_of);
	free(paths->back_of);
	free(paths->kept);
	free(paths->timed);
	free(paths->lazily);
	path_words_deinit(&paths->own);
	path_spill_deinit(&paths->spill);
	free(paths);
}

/* --- code ----------------------------------------------------------------- */

/* Return true if a path is counted on the edge, or the register changes. */
static bool has_operation(const struct path_edge *path_edge)
{
	return path_edge->counted != PATH_ON || path_edge->change != PATH_KEEP;
}

static bool is_kept(const struct paths_plan *paths, const struct point *point, uint32_t path_edge)
{
	return paths->kept[path_edge] || (paths->timed[path_edge] && point->measures);
}

static bool path_edge_has_code(const struct paths_plan *paths, const struct point *point,
			       const struct path_edge *path_edge)
{
	if (has_operation(path_edge))
		return true;
	switch (path_edge->kind) {
	case PATH_ON:
	case PATH_CUT:
		return false;
	case PATH_END:
		return path_edge->leaves;
	case PATH_START:
		return paths->calls || (paths->places.metric && point->measures);
	}
	return false;
}

static bool paths_has_code(const struct mode_plan *plan, const struct point *point)
{
	const struct paths_plan *paths = plan->data;
	uint32_t path_edge, back;

	if (point->kind != POINT_EDGE)
		return false;
	path_edge = paths->path_edge_of[point->edge];
	back = paths->back_of[point->edge];
	if (back != PATH_NONE)
		return is_kept(paths, point, back) || has_operation(&paths->graph.path_edges[back]);
	if (path_edge == PATH_NONE)
		return false;
	if (paths->graph.path_edges[path_edge].back != PATH_NONE)
		return is_kept(paths, point, path_edge);
	return path_edge_has_code(paths, point, &paths->graph.path_edges[path_edge]);
}

static bool paths_loops(const struct mode_plan *plan, uint32_t edge)
{
	const struct paths_plan *paths = plan->data;
	uint32_t path_edge = paths->path_edge_of[edge];

	return path_edge != PATH_NONE && paths->own.small[path_edge];
}

/* Count a path in its separate word. A small loop uses its words in rotation. */
static void emit_own(const struct paths_plan *paths, const struct point *point,
		     struct machine_code *code, uint32_t path_edge)
{
	uint64_t word = paths->first_word + paths_map_fixed(map_of(paths->mode), &paths->graph) +
			paths->own.of[path_edge] + point->replica;

	paths_code_count(code, point, mode_image_word_at(paths->mode->image, word));
}

static void emit_step(struct paths_plan *paths, const struct paths_places *places,
		      const struct point *point, struct machine_code *code, uint32_t index)
{
	const struct path_edge *path_edge = &paths->graph.path_edges[index];

	if (paths->own.of[index] != PATH_NONE)
		emit_own(paths, point, code, index);
	else if (path_edge->counted != PATH_ON)
		paths_code_end(code, point, places, path_edge);
	if (paths->owned && paths->late && path_edge->takes)
		path_spill_begin(&paths->spill, code, point, places);
	paths_code_change(code, point, places, path_edge);
}

static void emit_path_edge(struct paths_plan *paths, const struct paths_places *places,
			   const struct point *point, struct machine_code *code, uint32_t index)
{
	const struct path_edge *path_edge = &paths->graph.path_edges[index];

	if (path_edge->kind == PATH_START && paths->owned && !paths->late)
		path_spill_begin(&paths->spill, code, point, places);
	if (path_edge->kind == PATH_START)
		paths_code_begin(code, point, places, paths->calls);
	emit_step(paths, places, point, code, index);
	if (path_edge->leaves)
		paths_code_leave(code, places);
}

static void paths_emit(const struct mode_plan *plan, const struct point *point,
		       struct machine_code *code)
{
	struct paths_plan *paths = plan->data;
	struct paths_places places = paths->places;
	uint32_t path_edge, back;

	places.measures &= point->measures;
	places.traces &= point->measures;
	path_edge = paths->path_edge_of[point->edge];
	back = paths->back_of[point->edge];
	if (back != PATH_NONE) {
		if (is_kept(paths, point, back))
			path_spill_after(&paths->spill, code, point, &places, paths->lazily[back]);
		emit_step(paths, &places, point, code, back);
	} else if (paths->graph.path_edges[path_edge].back != PATH_NONE) {
		path_spill_before(code, point, &places, paths->lazily[path_edge]);
	} else if (point->replica > 0) {
		emit_own(paths, point, code, path_edge);
	} else {
		emit_path_edge(paths, &places, point, code, path_edge);
	}
}

static void paths_emit_cold_stubs(const struct mode_plan *plan, struct machine_code *code)
{
	struct paths_plan *paths = plan->data;

	path_spill_emit_cold_stubs(&paths->spill, code, &paths->places);
}

/* --- storing -------------------------------------------------------------- */

static int paths_commit(struct mode_image *image, const struct mode_plan *plan)
{
	const struct paths_plan *paths = plan->data;
	struct paths_map *map = image->data;

	if (paths->first_word < map->leading_words)
		image->free_words -=
			paths_map_fixed(map_of(plan), &paths->graph) + (uint64_t)paths->own.count;
	return paths_map_add(map, plan->procedure->name, plan->procedure->address,
			     plan->procedure->graph, &paths->graph,
			     &(struct paths_procedure){.first_word = paths->first_word,
						       .first_array = paths->first_array,
						       .calls = paths->calls,
						       .own = paths->own.paths,
						       .own_count = paths->own.count});
}

static int paths_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	struct paths_map *map = image->data;

	map->words = image->words;
	return paths_map_encode(map, ret, bytes);
}

static void paths_end(struct mode_image *image)
{
	if (image->data != NULL)
		paths_map_deinit(image->data);
	free(image->data);
	image->data = NULL;
}

#define PATHS_MODE                                                                                 \
	.name = "paths", .section = PATHS_MAP_SECTION, .reader = "dcpipaths",                      \
	.number = PROFILE_LAYOUT_PATHS, .recursion = true, .metric = true, .room = true,           \
	.whole = true, .begin = paths_begin, .plan = paths_plan, .has_code = paths_has_code,       \
	.emit = paths_emit, .emit_cold_stubs = paths_emit_cold_stubs, .commit = paths_commit,      \
	.drop = paths_drop, .encode = paths_encode, .end = paths_end

static const struct instrument_mode paths_sampled_mode = {
	PATHS_MODE,
	.bursts = true,
	.both = true,
};

const struct instrument_mode paths_mode = {
	PATHS_MODE,
	.early = true,
	.loops = paths_loops,
	.sampled = &paths_sampled_mode,
};
