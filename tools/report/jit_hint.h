/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Advice for reports with many samples of unknown code: runtimes that compile while a program
 * runs, and the option by which each of them announces the names of its code.
 */
#ifndef DCPI_JIT_HINT_H
#define DCPI_JIT_HINT_H

#include <stdint.h>

#include "db/profile_read.h"

struct error;

#define JIT_HINT_RUNTIMES 12

/**
 * struct jit_hint - samples by runtime; zero-initialised: empty
 * @unknown: by runtime: samples of unknown code in its processes
 * @images:  by runtime: samples of its files
 */
struct jit_hint {
	uint64_t unknown[JIT_HINT_RUNTIMES];
	uint64_t images[JIT_HINT_RUNTIMES];
};

/**
 * jit_hint_load() - add the samples that a filter selects
 *
 * A process belongs to a runtime by its command name ("node"). A process with another name belongs
 * to a runtime if it has samples in the runtime's files.
 *
 * Return: 0 or the reader's error.
 */
int jit_hint_load(struct jit_hint *hint, struct profile_reader *reader,
		  const struct profile_filter *filter, struct error *err);

/**
 * jit_hint_text() - make a line of advice about a runtime
 * @runtime: 0 .. JIT_HINT_RUNTIMES - 1
 * @all:     samples in the report
 * @ret:     out: malloc'd; NULL: advice is not justified, that is, unknown samples are less than
 *           10% of the runtime's samples or less than 1% of @all
 *
 * Return: 0 or -ENOMEM.
 */
int jit_hint_text(const struct jit_hint *hint, size_t runtime, uint64_t all, char **ret);

#endif
