/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pictures of graphs, drawn by Graphviz's program "dot". It runs as a separate process, without a
 * shell. Output as text therefore needs no Graphviz, and the time, memory and bugs of its layout do
 * not affect this process.
 */
#ifndef DCPI_GRAPHVIZ_H
#define DCPI_GRAPHVIZ_H

#include <stdio.h>

struct error;

/** graphviz_file() - create an unnamed file in memory. Return: NULL with @err set on failure */
FILE *graphviz_file(const char *what, struct error *err);

/**
 * graphviz_run() - run "dot" and wait for it
 * @format: an output format of dot
 * @fds:    its standard input, output and error
 *
 * Return: its status, as from waitpid(2); -EINVAL: invalid format name; -ENOENT: "dot" is not
 * found.
 */
int graphviz_run(const char *format, const int fds[3]);

/**
 * graphviz_draw() - draw a graph
 * @graph:  in the DOT language, read from its beginning
 * @format: an output format of dot: "svg", "ps:cairo"; NULL: the graph is copied unchanged
 * @output: receives the picture, only if it was drawn completely
 *
 * Return: 0; -ENOENT: "dot" is not found; -EIO: dot failed; errors of the files.
 */
int graphviz_draw(FILE *graph, const char *format, FILE *output, struct error *err);

#endif
