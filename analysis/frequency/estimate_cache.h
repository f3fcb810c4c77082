/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cached estimates of a procedure in little memory, kept from the pass that compares procedures
 * until the pass that prints them. The second pass rebuilds the graph but reuses the estimates.
 */
#ifndef DCPI_ESTIMATE_CACHE_H
#define DCPI_ESTIMATE_CACHE_H

#include "analysis/frequency/frequency.h"

struct estimate_cache;

/** estimate_cache_bytes() - return the bytes that frequency_keep() allocates for a graph. */
size_t estimate_cache_bytes(const struct cfg *cfg);

/**
 * frequency_keep() - pack estimates with a precision of seven digits
 * @ret: out; freed by free()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_keep(struct estimate_cache **ret, const struct frequency *frequency,
		   const struct cfg *cfg);

/**
 * frequency_from_kept() - unpack cached estimates
 * @ret:    out; freed by frequency_deinit()
 * @cfg:    the same graph
 * @factor: factor by which all estimates are multiplied
 *
 * Return: 0; -ENOMEM; -EINVAL if the graph has a different number of blocks or edges.
 */
int frequency_from_kept(struct frequency *ret, const struct estimate_cache *kept,
			const struct cfg *cfg, double factor);

#endif
