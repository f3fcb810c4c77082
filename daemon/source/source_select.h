/* SPDX-License-Identifier: GPL-2.0-only */
/* Selection of a source. */
#ifndef DCPI_SOURCE_SELECT_H
#define DCPI_SOURCE_SELECT_H

#include "daemon/source/source.h"

/* Size of the message that explains why a source was chosen. */
#define SOURCE_REASON_BYTES 640

/** source_select_find() - return the source with a name; NULL if there is none, as for "auto". */
const struct source_ops *source_select_find(const char *name);

/** source_select_unknown() - describe a source that does not exist. Return: -EINVAL */
int source_select_unknown(const char *name, struct error *err);

/**
 * source_select_open() - open the source with a name
 * @ret:    out; freed by its close operation
 * @name:   "kmod", "bpf", "perf" or "replay"; "auto": the first of kmod, bpf and perf that can be
 *          opened
 * @config: what to collect
 * @reason: out: why this source was chosen, one line
 *
 * Return: 0; -EINVAL if there is no such source, or it cannot record or replay a trace; otherwise
 * the error of the source, with "auto" that of the last one tried.
 */
int source_select_open(struct source **ret, const char *name, const struct source_config *config,
		       char reason[SOURCE_REASON_BYTES], struct error *err);

#endif
