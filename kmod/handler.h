/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overflow handlers: one for each combination of what can be asked for,
 * compiled from one template, so that a sample pays for nothing else.
 *
 * They run in any context, NMI included: no lock, allocation or barrier, no
 * atomic operation but on the way of a handler that interrupted another.
 */
#ifndef DCPI_HANDLER_H
#define DCPI_HANDLER_H

#include <linux/perf_event.h>

/**
 * handler_choose() - the handler for a configuration
 * @flags: DCPI_START_*
 *
 * It expects a struct sampler_event as the counter's context.
 */
perf_overflow_handler_t handler_choose(u32 flags);

#endif
