/* SPDX-License-Identifier: GPL-2.0-only */
/* Choosing a source. */
#ifndef DCPI_SOURCE_SELECT_H
#define DCPI_SOURCE_SELECT_H

#include "daemon/source/source.h"

/* Room for the line that says why a source was chosen. */
#define SOURCE_REASON_BYTES 640

/** source_select_find() - the source of a name; NULL: there is none, as of "auto". */
const struct source_ops *source_select_find(const char *name);

/**
 * source_select_open() - open the source of a name
 * @ret:    out; freed by its close operation
 * @name:   "kmod", "bpf", "perf" or "replay"; "auto": the first of the first
 *          three that can be opened
 * @config: what to collect
 * @reason: out: why it is this one, one line
 *
 * Return: 0; -EINVAL no such source, or it cannot record or replay a trace; else the error of the
 * source, of "auto": of the last one.
 */
int source_select_open(struct source **ret, const char *name, const struct source_config *config,
		       char reason[SOURCE_REASON_BYTES], struct error *err);

#endif
