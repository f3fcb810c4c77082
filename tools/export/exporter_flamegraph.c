// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flame graph, as SVG. Sample stacks have two frames, image and procedure; only the first event
 * is drawn.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/flame_graph.h"
#include "tools/base/text.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"

static int flamegraph_draw(FILE *file, const char *title, const char *unit,
			   const struct stack_tree *tree, struct error *err)
{
	_cleanup_free_ char *clean = text_clean(title);
	const struct flame_graph graph = {.title = clean, .unit = unit, .tree = *tree};

	if (clean == NULL || flame_graph_write(file, &graph) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

/* @nodes: room for the root and two nodes per row; the names in them are malloc'd. */
static size_t make_nodes(const struct export_profile *profile, struct stack_node *nodes,
			 uint64_t *samples)
{
	const char *image = NULL;
	size_t count = 1, next;
	uint32_t parent = 0;

	for (size_t row = 0; row < profile->row_count; row = next) {
		const struct tally_row *first = &profile->rows[row];

		if (first->image != image) {
			parent = (uint32_t)count;
			nodes[count++].name = text_clean(exporter_image_name(first));
		}
		image = first->image;
		next = exporter_procedure(profile, row, samples);
		nodes[count++] =
			(struct stack_node){text_clean(first->procedure), parent, samples[0]};
	}
	return count;
}

static int write_samples(FILE *file, const struct export_profile *profile, struct error *err)
{
	_cleanup_free_ uint64_t *samples = calloc(profile->event_count + 1, sizeof(*samples));
	_cleanup_free_ struct stack_node *nodes =
		calloc(2 * profile->row_count + 1, sizeof(*nodes));
	struct stack_tree tree = {.nodes = nodes};
	int r = 0;

	if (samples == NULL || nodes == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	tree.count = make_nodes(profile, nodes, samples);
	for (size_t i = 1; r == 0 && i < tree.count; i++)
		r = nodes[i].name != NULL ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = flamegraph_draw(file, profile->comment, "samples", &tree, err);
	for (size_t i = 1; i < tree.count; i++)
		free((void *)(uintptr_t)nodes[i].name);
	return r;
}

static int flamegraph_write_contexts(FILE *file, const struct export_contexts *contexts,
				     struct error *err)
{
	return flamegraph_draw(file, export_contexts_title(contexts),
			       contexts->unit != NULL ? contexts->unit : contexts->metric,
			       &contexts->stacks, err);
}

const struct exporter exporter_flamegraph = {
	.name = "flamegraph",
	.summary = "a flame graph as SVG, of samples two frames deep, first event",
	.write = write_samples,
	.write_contexts = flamegraph_write_contexts,
};
