/* SPDX-License-Identifier: GPL-2.0-only */
/* What the register of a numbered path graph must do on each way. Internal to path_graph.c. */
#ifndef DCPI_INSTRUMENT_PATH_REGISTER_H
#define DCPI_INSTRUMENT_PATH_REGISTER_H

#include "instrument/paths/path_graph.h"

/**
 * path_register_place() - fill in what the ways' code does, and which nodes are known
 * @order: nodes that are reached, each behind those that it leads to; @ordered of them
 *
 * Return: 0 or -ENOMEM.
 */
int path_register_place(struct path_graph *graph, const uint32_t *order, uint32_t ordered);

#endif
