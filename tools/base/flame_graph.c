// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/flame_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"

/* In pixels. */
#define WIDTH 1200.0
#define MARGIN 10.0
#define ROW 17.0
#define HEAD 44.0
#define THINNEST 0.2
#define LETTER 6.8
#define PADDING 3.0

/* Position of a node in the drawing. */
struct box {
	uint64_t total;
	uint32_t depth;
	double x;
	double width;
};

struct drawing {
	const struct flame_graph *graph;
	struct box *boxes;
	uint32_t *order; /* nodes by parent, then by name */
	uint32_t depth;
};

static void put_text(FILE *stream, const char *text, size_t bytes)
{
	for (; bytes > 0 && *text != '\0'; text++, bytes--) {
		switch (*text) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? '?' : *text, stream);
		}
	}
}

static int by_parent(const void *a, const void *b, void *context)
{
	const struct drawing *drawing = context;
	const struct stack_node *nodes = drawing->graph->tree.nodes;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r;

	if (nodes[x].parent != nodes[y].parent)
		return nodes[x].parent < nodes[y].parent ? -1 : 1;
	r = strcmp(nodes[x].name, nodes[y].name);
	return r != 0 ? r : (x > y) - (x < y);
}

static void sum_up(const struct drawing *drawing)
{
	const struct stack_tree *tree = &drawing->graph->tree;

	for (size_t i = 0; i < tree->count; i++)
		drawing->boxes[i].total = tree->nodes[i].value;
	for (size_t i = tree->count; i-- > 1;)
		drawing->boxes[tree->nodes[i].parent].total += drawing->boxes[i].total;
}

/* Compute the positions. Parents have lower numbers, so they are placed before their children. */
static void place(struct drawing *drawing)
{
	const struct stack_tree *tree = &drawing->graph->tree;
	struct box *boxes = drawing->boxes;
	double all = (double)boxes[0].total, next = MARGIN;

	boxes[0].x = MARGIN;
	boxes[0].width = WIDTH - 2 * MARGIN;
	for (size_t i = 1; i < tree->count; i++) {
		uint32_t number = drawing->order[i - 1];
		uint32_t parent = tree->nodes[number].parent;
		struct box *box = &boxes[number];

		if (i == 1 || tree->nodes[drawing->order[i - 2]].parent != parent)
			next = boxes[parent].x;
		box->depth = boxes[parent].depth + 1;
		box->x = next;
		box->width = all > 0 ? (double)box->total / all * (WIDTH - 2 * MARGIN) : 0;
		next += box->width;
		if (box->width >= THINNEST && box->depth > drawing->depth)
			drawing->depth = box->depth;
	}
}

/* Print a warm colour, which is the same for all boxes with this name. */
static void put_colour(FILE *stream, const char *name)
{
	uint32_t hash = UINT32_C(0x811c9dc5);

	for (; *name != '\0'; name++)
		hash = (hash ^ (unsigned char)*name) * UINT32_C(0x01000193);
	fprintf(stream, "rgb(%u,%u,%u)", 208 + hash % 46, 90 + hash / 46 % 130,
		30 + hash / 5980 % 55);
}

/* Print as much of a name as fits. */
static void put_label(FILE *stream, const char *name, double x, double y, double width)
{
	size_t letters = (size_t)((width - 2 * PADDING) / LETTER), length = text_width(name);
	bool cut = length > letters;

	if (letters < 3)
		return;
	fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\">", x + PADDING, y + ROW - 5);
	put_text(stream, name, cut ? (size_t)(text_skip(name, letters - 2) - name) : strlen(name));
	fputs(cut ? "..</text>" : "</text>", stream);
}

static void put_box(FILE *stream, const struct drawing *drawing, size_t number)
{
	const struct flame_graph *graph = drawing->graph;
	const struct box *box = &drawing->boxes[number];
	const char *name = number > 0 ? graph->tree.nodes[number].name : "all";
	double y = HEAD + ROW * (double)(drawing->depth - box->depth);

	fputs("<g><title>", stream);
	put_text(stream, name, strlen(name));
	fprintf(stream, " (%" PRIu64 " ", box->total);
	put_text(stream, graph->unit, strlen(graph->unit));
	fprintf(stream,
		", %.2f%%)</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		"height=\"%.1f\" fill=\"",
		100.0 * (double)box->total / (double)drawing->boxes[0].total, box->x, y, box->width,
		ROW - 1);
	put_colour(stream, name);
	fputs("\" rx=\"1\"/>", stream);
	put_label(stream, name, box->x, y, box->width);
	fputs("</g>\n", stream);
}

static void flame_graph_draw(FILE *stream, const struct drawing *drawing)
{
	double height = HEAD + ROW * (double)(drawing->depth + 1) + MARGIN;

	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%.0f\" "
		"height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n"
		"<style>text { font: 11px \"DejaVu Sans Mono\", monospace; fill: #000 } "
		"g:hover rect { stroke: #000; stroke-width: 0.7 }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfbf3\"/>\n"
		"<text x=\"%.0f\" y=\"27\" text-anchor=\"middle\" "
		"style=\"font-size: 15px\">",
		WIDTH, height, WIDTH, height, WIDTH / 2);
	put_text(stream, drawing->graph->title, strlen(drawing->graph->title));
	fputs("</text>\n", stream);
	for (size_t i = 0; i < drawing->graph->tree.count; i++) {
		if (drawing->boxes[i].width >= THINNEST && drawing->boxes[i].total > 0)
			put_box(stream, drawing, i);
	}
	fputs("</svg>\n", stream);
}

int flame_graph_write(FILE *stream, const struct flame_graph *graph)
{
	size_t count = graph->tree.count;
	_cleanup_free_ struct box *boxes = calloc(count + 1, sizeof(*boxes));
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	struct drawing drawing = {.graph = graph, .boxes = boxes, .order = order};

	if (boxes == NULL || order == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i < count; i++)
		order[i - 1] = i;
	if (count > 1)
		qsort_r(order, count - 1, sizeof(*order), by_parent, &drawing);
	sum_up(&drawing);
	place(&drawing);
	flame_graph_draw(stream, &drawing);
	return 0;
}
