// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/flow/flow_mode.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_paths.h"
#include "instrument/calls/calls_mode.h"
#include "instrument/clone/recursion.h"
#include "instrument/flow/flow_code.h"
#include "instrument/paths/paths_map.h"
#include "instrument/paths/paths_mode.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define LINE 64U

/* The image as the two other modes see it, each with its own options and data. */
struct flow_image {
	struct mode_options call_options;
	struct mode_options path_options;
	struct mode_image calls;
	struct mode_image paths;
};

struct flow_plan {
	struct mode_plan calls;
	struct mode_plan paths;
};

static void copy_image(struct mode_image *ret, const struct mode_image *image)
{
	const struct mode_options *options = ret->options;
	void *data = ret->data;

	*ret = *image;
	ret->options = options;
	ret->data = data;
}

/* Copy the members that the rewriter has set to the images of the two modes. */
static struct flow_image *flow_of(const struct mode_image *image)
{
	struct flow_image *flow = image->data;

	copy_image(&flow->calls, image);
	copy_image(&flow->paths, image);
	return flow;
}

static int begin_modes(struct mode_image *image, struct error *err)
{
	struct flow_image *flow = flow_of(image);
	struct paths_map *map;
	int r = context_mode.begin(&flow->calls, err);

	if (r == 0)
		r = paths_mode.begin(&flow->paths, err);
	if (r < 0)
		return r;
	map = flow->paths.data;
	map->contexts = (uint32_t)(flow->calls.area_bytes + LINE - 1) & ~(LINE - 1);
	map->end = flow_code_end;
	((struct call_map *)flow->calls.data)->flow_at = map->contexts;
	image->area_bytes = map->contexts + CALL_PATHS_BYTES;
	image->private_bytes = flow->paths.private_bytes;
	image->slack_bytes = flow->paths.slack_bytes;
	image->words = flow->paths.words;
	image->free_words = flow->paths.free_words;
	for (size_t i = 0; i < PROFILE_LAYOUT_PARAMETERS; i++)
		image->parameters[i] = flow->calls.parameters[i];
	return 0;
}

static int flow_begin(struct mode_image *image, struct error *err)
{
	struct flow_image *flow = calloc(1, sizeof(*flow));

	image->data = flow;
	if (flow == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (image->recursion->candidates->count > CALL_PATHS_PROCEDURES_MAX)
		return error_set(err, ENOTSUP, "more than %u procedures",
				 CALL_PATHS_PROCEDURES_MAX);
	flow->call_options = *image->options;
	flow->call_options.metric = "none";
	flow->call_options.frames = true;
	flow->path_options = *image->options;
	flow->calls.options = &flow->call_options;
	flow->paths.options = &flow->path_options;
	return begin_modes(image, err);
}

static int flow_plan(struct mode_plan *plan, struct error *err)
{
	struct flow_image *flow = flow_of(plan->image);
	struct flow_plan *both = calloc(1, sizeof(*both));
	int r;

	plan->data = both;
	if (both == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	both->calls = *plan;
	both->calls.image = &flow->calls;
	both->calls.data = NULL;
	both->paths = both->calls;
	both->paths.image = &flow->paths;
	r = context_mode.plan(&both->calls, err);
	if (r == 0)
		r = paths_mode.plan(&both->paths, err);
	plan->words = both->paths.words;
	return r;
}

static void flow_drop(struct mode_plan *plan)
{
	struct flow_plan *both = plan->data;

	if (both == NULL)
		return;
	context_mode.drop(&both->calls);
	paths_mode.drop(&both->paths);
	free(both);
}

static bool flow_has_code(const struct mode_plan *plan, const struct point *point)
{
	const struct flow_plan *both = plan->data;

	return context_mode.has_code(&both->calls, point) ||
	       paths_mode.has_code(&both->paths, point);
}

static void emit_one(const struct instrument_mode *mode, const struct mode_plan *plan,
		     const struct point *point, struct machine_code *code)
{
	if (mode->has_code(plan, point))
		mode->emit(plan, point, code);
}

/* The frame has to exist while paths are counted: it is made before, and removed after. */
static void flow_emit(const struct mode_plan *plan, const struct point *point,
		      struct machine_code *code)
{
	const struct flow_plan *both = plan->data;
	bool leaves = point->kind == POINT_EDGE &&
		      plan->procedure->graph->edges[point->edge].kind == COUNT_LEAVE;

	flow_of(plan->image);
	if (leaves)
		emit_one(&paths_mode, &both->paths, point, code);
	emit_one(&context_mode, &both->calls, point, code);
	if (!leaves)
		emit_one(&paths_mode, &both->paths, point, code);
}

static void flow_emit_cold_stubs(const struct mode_plan *plan, struct machine_code *code)
{
	const struct flow_plan *both = plan->data;

	context_mode.emit_cold_stubs(&both->calls, code);
	paths_mode.emit_cold_stubs(&both->paths, code);
}

static int flow_commit(struct mode_image *image, const struct mode_plan *plan)
{
	struct flow_image *flow = flow_of(image);
	const struct flow_plan *both = plan->data;
	int r = context_mode.commit(&flow->calls, &both->calls);

	if (r == 0)
		r = paths_mode.commit(&flow->paths, &both->paths);
	image->free_words = flow->paths.free_words;
	return r;
}

static int flow_encode(const struct mode_image *image, uint8_t **ret, size_t *bytes)
{
	struct flow_image *flow = flow_of(image);
	struct call_map *map = flow->calls.data;
	int r = paths_mode.encode(&flow->paths, &map->flow, &map->flow_bytes);

	map->words = (uint32_t)image->words;
	return r < 0 ? r : context_mode.encode(&flow->calls, ret, bytes);
}

static void flow_end(struct mode_image *image)
{
	struct flow_image *flow = image->data;

	if (flow != NULL) {
		context_mode.end(&flow->calls);
		paths_mode.end(&flow->paths);
	}
	free(flow);
	image->data = NULL;
}

const struct instrument_mode flow_mode = {
	.name = "context-paths",
	.section = CALL_MAP_SECTION,
	.reader = "dcpicct",
	.number = PROFILE_LAYOUT_CALLS,
	.recursion = true,
	.room = true,
	.whole = true,
	.sites = true,
	.begin = flow_begin,
	.plan = flow_plan,
	.has_code = flow_has_code,
	.emit = flow_emit,
	.emit_cold_stubs = flow_emit_cold_stubs,
	.commit = flow_commit,
	.drop = flow_drop,
	.encode = flow_encode,
	.end = flow_end,
};
