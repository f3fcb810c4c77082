/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pictures of graphs, drawn by graphviz' program "dot". It runs as a process of its own,
 * without a shell: who only wants the graph as text needs no graphviz, and what its
 * layout takes of time and memory, or a bug of it, is not ours.
 */
#ifndef DCPI_GRAPHVIZ_H
#define DCPI_GRAPHVIZ_H

#include <stdio.h>

struct error;

/** graphviz_file() - a file without a name, in memory. Return: NULL with @err set: there is none.
 */
FILE *graphviz_file(const char *what, struct error *err);

/**
 * graphviz_run() - run "dot" and wait for it
 * @format: of dot's
 * @fds:    its standard input, output and error
 *
 * Return: its status, as of waitpid(2); -EINVAL: that is no format; -ENOENT: there is no "dot".
 */
int graphviz_run(const char *format, const int fds[3]);

/**
 * graphviz_draw() - draw a graph
 * @graph:  in graphviz' language, read from its beginning
 * @format: a format of dot's: "svg", "ps:cairo"; NULL: the graph as it is
 * @output: gets the picture, if it could be drawn whole
 *
 * Return: 0; -ENOENT there is no program "dot"; -EIO it failed; errors of the files.
 */
int graphviz_draw(FILE *graph, const char *format, FILE *output, struct error *err);

#endif
