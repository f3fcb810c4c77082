/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The overflow handlers: one for each combination of DCPI_START_* flags, compiled from one
 * template, so that a sample does not pay for features that are off.
 *
 * Context: any, NMI included. Handlers take no locks, allocate no memory and execute no barriers.
 * They execute atomic operations only in a handler that interrupted another one.
 */
#ifndef DCPI_HANDLER_H
#define DCPI_HANDLER_H

#include <linux/perf_event.h>

/**
 * handler_choose() - return the handler for a configuration
 * @flags: DCPI_START_*
 *
 * The handler expects a struct sampler_event as the counter's context.
 */
perf_overflow_handler_t handler_choose(u32 flags);

#endif
