/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads calls and contexts that an instrumented program recorded: from its files, or else from the
 * database, summed over all epochs.
 */
#ifndef DCPI_CALL_SOURCE_H
#define DCPI_CALL_SOURCE_H

#include "instrument/calls/call_recording.h"
#include "tools/report/recording_source.h"

/**
 * struct call_source - zero-initialised: empty; freed by call_source_close()
 * @recordings: their image and epochs
 * @recorded:   their procedures
 */
struct call_source {
	struct recording_source recordings;
	struct call_recorded recorded;
};

/**
 * call_source_calls() - read calls
 * @cli:     its operands are an instrumented program and its recording files; without operands, the
 *           recordings are those of recording_source_open()
 * @profile: out; freed by call_profile_deinit(), also after an error
 *
 * Return: 0; -ENOENT: no recordings in the database, if @recordings.reader is set; -EINVAL: the
 * program records something else; -ENOMEM; errors of call_map_read(), call_map_visit(),
 * recording_source_open() and recording_source_visit().
 */
int call_source_calls(struct call_source *source, struct cli *cli, struct call_profile *profile,
		      struct error *err);

/** call_source_contexts() - read contexts into a tree, with the same parameters and errors */
int call_source_contexts(struct call_source *source, struct cli *cli, struct context_tree *tree,
			 struct error *err);

void call_source_close(struct call_source *source);

#endif
