// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/graphviz.h"
#include "tools/base/json_tree.h"

/* Size of a block in inches, Graphviz's unit. */
#define BLOCK_WIDTH "2.5"
#define BLOCK_HEIGHT "0.75"
#define POINTS 72.0

/* Edges with more points are malformed. */
#define EDGE_POINTS_MAX 4096

CLEANUP_DEFINE(json, struct json_object *, json_object_put)

static void print_edges(FILE *stream, const struct cfg *cfg, const bool *shown, uint32_t block)
{
	const struct cfg_block *place = &cfg->blocks[block];

	for (uint32_t i = place->out; i < place->out + place->out_count; i++) {
		uint32_t to = cfg->edges[i].to;

		if (to < cfg->block_count && shown[to])
			fprintf(stream, "b%" PRIu32 " -> b%" PRIu32 ";\n", block, to);
	}
}

/* Print the graph in the DOT language: numbers of blocks, without any text. */
static void print_dot(FILE *stream, const struct cfg *cfg, const bool *shown)
{
	fputs("digraph g {\nnode [shape=box, fixedsize=true, width=" BLOCK_WIDTH
	      ", height=" BLOCK_HEIGHT "];\nedge [arrowhead=none];\nnodesep=0.4; ranksep=0.5;\n",
	      stream);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (shown[i])
			fprintf(stream, "b%" PRIu32 ";\n", i);
	}
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (shown[i])
			print_edges(stream, cfg, shown, i);
	}
	fputs("}\n", stream);
}

/* struct layout - reads words of Graphviz's format "plain"; @height: of the picture, in inches */
struct layout {
	const struct cfg *cfg;
	char *next;
	double height;
	bool bad;
};

static char *layout_word(struct layout *layout)
{
	char *word = strtok_r(NULL, " ", &layout->next);

	layout->bad |= word == NULL;
	return word;
}

static double layout_number(struct layout *layout)
{
	char *word = layout_word(layout), *end = word;
	double number = word != NULL ? strtod(word, &end) : 0;

	if (word == NULL || end == word || *end != '\0' || !isfinite(number)) {
		layout->bad = true;
		return 0;
	}
	return number;
}

/* Return the address of the block "b12". */
static uint64_t layout_block(struct layout *layout)
{
	char *word = layout_word(layout), *end = NULL;
	unsigned long number;

	if (word == NULL || *word != 'b')
		goto bad;
	number = strtoul(word + 1, &end, 10);
	if (*end == '\0' && number < layout->cfg->block_count)
		return layout->cfg->insns[layout->cfg->blocks[number].first].address;
bad:
	layout->bad = true;
	return 0;
}

/* A point is exact enough, and short. */
static struct json_object *points_json(double inches)
{
	char text[32];

	snprintf(text, sizeof(text), "%.0f", inches * POINTS);
	return json_object_new_double_s(strtod(text, NULL), text);
}

static int append(struct json_object *array, struct json_object *item)
{
	if (item != NULL && json_object_array_add(array, item) == 0)
		return 0;
	json_object_put(item);
	return -ENOMEM;
}

static int add_point(struct json_object *array, struct layout *layout)
{
	double x = layout_number(layout), y = layout->height - layout_number(layout);

	return append(array, points_json(x)) < 0 ? -ENOMEM : append(array, points_json(y));
}

static int add_size(struct json_object *graph, struct layout *layout)
{
	double width;

	layout_number(layout); /* the scale, which is 1 */
	width = layout_number(layout);
	layout->height = layout_number(layout);
	if (json_tree_add(graph, "width", points_json(width)) < 0)
		return -ENOMEM;
	return json_tree_add(graph, "height", points_json(layout->height));
}

/* Add the address of a block and the position of its centre. */
static int add_node(struct json_object *graph, struct layout *layout)
{
	struct json_object *node = json_object_new_array();

	if (node == NULL || append(json_object_object_get(graph, "blocks"), node) < 0 ||
	    append(node, json_object_new_uint64(layout_block(layout))) < 0)
		return -ENOMEM;
	return add_point(node, layout);
}

/* Add both blocks of an edge, and the points of its B-spline. */
static int add_edge(struct json_object *graph, struct layout *layout)
{
	struct json_object *edge = json_object_new_array();
	double count;

	if (edge == NULL || append(json_object_object_get(graph, "edges"), edge) < 0 ||
	    append(edge, json_object_new_uint64(layout_block(layout))) < 0 ||
	    append(edge, json_object_new_uint64(layout_block(layout))) < 0)
		return -ENOMEM;
	count = layout_number(layout);
	layout->bad |= !(count >= 1 && count <= EDGE_POINTS_MAX);
	for (double i = 0; !layout->bad && i < count; i++) {
		if (add_point(edge, layout) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_line(struct json_object *graph, char *line, struct layout *layout)
{
	const char *kind = strtok_r(line, " ", &layout->next);

	if (kind == NULL)
		return 0;
	if (strcmp(kind, "graph") == 0)
		return add_size(graph, layout);
	if (strcmp(kind, "node") == 0)
		return add_node(graph, layout);
	return strcmp(kind, "edge") == 0 ? add_edge(graph, layout) : 0;
}

/* Read a line; one that ends with a backslash continues in the next. Return: NULL at the end. */
static char *next_line(FILE *plain, char **buffer, size_t *capacity)
{
	size_t used = 0;
	int c;

	while ((c = getc(plain)) != EOF && c != '\n') {
		if (used + 2 > *capacity) {
			size_t more = *capacity > 0 ? 2 * *capacity : 1024;
			char *larger = realloc(*buffer, more);

			if (larger == NULL)
				return NULL;
			*buffer = larger;
			*capacity = more;
		}
		if (c == '\\' && (c = getc(plain)) == '\n')
			continue;
		(*buffer)[used++] = (char)c;
	}
	if (c == EOF && used == 0)
		return NULL;
	if (*capacity == 0)
		return (*buffer = calloc(1, *capacity = 1));
	(*buffer)[used] = '\0';
	return *buffer;
}

static int read_plain(struct json_object *graph, FILE *plain, const struct cfg *cfg,
		      struct error *err)
{
	_cleanup_free_ char *buffer = NULL;
	struct layout layout = {.cfg = cfg};
	size_t capacity = 0;
	char *line;
	int r = 0;

	rewind(plain);
	while (r == 0 && !layout.bad && (line = next_line(plain, &buffer, &capacity)) != NULL)
		r = read_line(graph, line, &layout);
	if (layout.bad)
		return error_set(err, EIO, "dot: its output is malformed");
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

int page_graph_make(struct json_object **ret, const struct calc_procedure *procedure,
		    const bool *shown, struct error *err)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	_cleanup_file_ FILE *dot = graphviz_file("graph", err);
	_cleanup_file_ FILE *plain = dot != NULL ? graphviz_file("picture", err) : NULL;
	_cleanup_(cleanup_json) struct json_object *graph = json_object_new_object();
	int r;

	if (plain == NULL)
		return -err->errnum;
	if (graph == NULL || json_tree_add(graph, "blocks", json_object_new_array()) < 0 ||
	    json_tree_add(graph, "edges", json_object_new_array()) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	print_dot(dot, cfg, shown);
	r = graphviz_draw(dot, "plain", plain, err);
	if (r == 0)
		r = read_plain(graph, plain, cfg, err);
	if (r == 0)
		*ret = take_ptr(graph);
	return r;
}
