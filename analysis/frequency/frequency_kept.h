/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates of a procedure in little memory, from the pass that compares procedures to the
 * one that prints them: the graph is made anew then, the estimates need not be.
 */
#ifndef DCPI_FREQUENCY_KEPT_H
#define DCPI_FREQUENCY_KEPT_H

#include "analysis/frequency/frequency.h"

struct frequency_kept;

/** frequency_kept_bytes() - what frequency_keep() takes for a graph. */
size_t frequency_kept_bytes(const struct cfg *cfg);

/**
 * frequency_keep() - pack estimates, to seven digits
 * @ret: out; freed by free()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_keep(struct frequency_kept **ret, const struct frequency *frequency,
		   const struct cfg *cfg);

/**
 * frequency_from_kept() - and unpack them
 * @ret:    out; freed by frequency_deinit()
 * @cfg:    the same graph
 * @factor: that all are multiplied by
 *
 * Return: 0; -ENOMEM; -EINVAL the graph has another number of blocks or edges.
 */
int frequency_from_kept(struct frequency *ret, const struct frequency_kept *kept,
			const struct cfg *cfg, double factor);

#endif
