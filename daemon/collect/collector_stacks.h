/* SPDX-License-Identifier: GPL-2.0-only */
/* The unwinder of a collector, and its measurement of off-CPU time. */
#ifndef DCPI_COLLECTOR_STACKS_H
#define DCPI_COLLECTOR_STACKS_H

#include "daemon/source/source.h"

struct collector;
struct error;

/**
 * collector_stacks_open() - create both, if they are wanted; the collector closes them
 * @generation, @sync: callbacks of the source, with @collector as context
 *
 * Return: 0; -ENOMEM; if off-CPU time is required, the errors of off_cpu_open().
 */
int collector_stacks_open(struct collector *collector, source_generation_fn generation,
			  source_sync_fn sync, struct error *err);

#endif
