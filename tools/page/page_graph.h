/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a procedure's control-flow graph: Graphviz places the blocks and routes the edges,
 * and the page draws them, in its own colours. Graphviz gets only the shape of the graph.
 *
 * Sizes are in points, from the top left corner.
 */
#ifndef DCPI_PAGE_GRAPH_H
#define DCPI_PAGE_GRAPH_H

#include <stdbool.h>

#include "tools/annotate/calc_procedure.h"

struct error;
struct json_object;

/**
 * page_graph_make() - lay out some blocks of a graph, by their addresses, and the edges between
 * them
 * @shown: by block: it is part of the picture
 *
 * Return: 0; -ENOENT: Graphviz is not installed; -EIO: it failed, or its output is malformed;
 * -ENOMEM.
 */
int page_graph_make(struct json_object **ret, const struct calc_procedure *procedure,
		    const bool *shown, struct error *err);

#endif
