// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/call_source.h"

#include <errno.h>

#include "lib/error.h"

/* What the database has, on its way into one of these. */
struct reading {
	struct call_source *source;
	struct call_profile *profile;
	struct context_tree *tree;
};

static int take_procedures(void *context, const struct profile_recording *recording)
{
	struct call_source *source = context;

	return call_recorded_procedures(&source->recorded, recording, source->recordings.path,
					source->recordings.build_id);
}

static int take_calls(void *context, const struct profile_recording *recording)
{
	const struct reading *reading = context;

	return call_recorded_calls(&reading->source->recorded, recording, reading->profile);
}

static int take_contexts(void *context, const struct profile_recording *recording)
{
	const struct reading *reading = context;

	return call_recorded_contexts(&reading->source->recorded, recording, reading->tree);
}

static int read_procedures(struct call_source *source, struct cli *cli,
			   enum profile_recording_mode mode, struct error *err)
{
	int r = recording_source_open(&source->recordings, cli, mode, err);

	return r < 0 ? r
		     : recording_source_visit(&source->recordings, take_procedures, source, err);
}

int call_source_calls(struct call_source *source, struct cli *cli, struct call_profile *profile,
		      struct error *err)
{
	struct reading reading = {.source = source, .profile = profile};
	int r = read_procedures(source, cli, PROFILE_RECORDING_CALLS, err);

	if (r < 0)
		return r;
	if (call_profile_init(profile, (uint32_t)source->recorded.map.procedure_count) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return recording_source_visit(&source->recordings, take_calls, &reading, err);
}

int call_source_contexts(struct call_source *source, struct cli *cli, struct context_tree *tree,
			 struct error *err)
{
	struct reading reading = {.source = source, .tree = tree};
	int r = read_procedures(source, cli, PROFILE_RECORDING_CONTEXT, err);

	if (r < 0)
		return r;
	if (context_tree_init(tree, (uint32_t)source->recorded.map.procedure_count) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return recording_source_visit(&source->recordings, take_contexts, &reading, err);
}

void call_source_close(struct call_source *source)
{
	call_recorded_deinit(&source->recorded);
	recording_source_close(&source->recordings);
}
