/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls and contexts that a rewritten program recorded: out of its files, or else out of the
 * database, all epochs' sum.
 */
#ifndef DCPI_CALL_SOURCE_H
#define DCPI_CALL_SOURCE_H

#include "instrument/calls/call_recording.h"
#include "tools/report/recording_source.h"

/**
 * struct call_source - zero-initialised is empty; freed by call_source_close()
 * @recordings: which image and epochs they are of
 * @recorded:   their procedures
 */
struct call_source {
	struct recording_source recordings;
	struct call_recorded recorded;
};

/**
 * call_source_calls() - read calls
 * @cli:     its operands are a rewritten program and the files it recorded in; without any, as
 *           of recording_source_open()
 * @profile: out; freed by call_profile_deinit(), if there is an error too
 *
 * Return: 0; -ENOENT the database has none, if @recordings.reader is there; -EINVAL the
 * program records something else; -ENOMEM; errors of call_map_read(), call_map_visit(),
 * recording_source_open() and recording_source_visit().
 */
int call_source_calls(struct call_source *source, struct cli *cli, struct call_profile *profile,
		      struct error *err);

/** call_source_contexts() - likewise, contexts, into a tree. */
int call_source_contexts(struct call_source *source, struct cli *cli, struct context_tree *tree,
			 struct error *err);

void call_source_close(struct call_source *source);

#endif
