// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/call_source.h"

#include <errno.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/cli.h"

/*
 * State while recordings are read into either @profile or @tree; the other is NULL. @shared: of
 * that one
 */
struct reading {
	struct call_source *source;
	struct call_profile *profile;
	struct context_tree *tree;
	uint64_t *shared;
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

static int take_thread(void *context, const struct call_thread *thread)
{
	const struct reading *reading = context;

	return reading->tree != NULL ? context_tree_add(reading->tree, thread)
				     : call_profile_add(reading->profile, thread);
}

/* Initialise the result after the map has been read. */
static int call_source_begin(const struct reading *reading, struct error *err)
{
	uint32_t procedures = (uint32_t)reading->source->recorded.map.procedure_count;
	int r = reading->tree != NULL ? context_tree_init(reading->tree, procedures)
				      : call_profile_init(reading->profile, procedures);

	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static int check_policy(const struct reading *reading, const char *program, struct error *err)
{
	enum call_policy wanted = reading->tree != NULL ? CALL_POLICY_CONTEXT : CALL_POLICY_CALLS;

	if (reading->source->recorded.map.policy == wanted)
		return 0;
	return error_set(err, EINVAL,
			 wanted == CALL_POLICY_CALLS ? "'%s' records contexts: use dcpicct"
						     : "'%s' records calls: use dcpicalls",
			 program);
}

/* Read an instrumented program and its recording files. */
static int read_files(struct reading *reading, const struct cli *cli, struct error *err)
{
	struct call_map *map = &reading->source->recorded.map;
	int r;

	if (cli->operand_count < 2)
		return error_set(err, EINVAL,
				 "a rewritten program and the files that it recorded are required");
	r = call_map_read(map, cli->operands[0], err);
	if (r == 0)
		r = check_policy(reading, cli->operands[0], err);
	if (r == 0)
		r = call_source_begin(reading, err);
	for (size_t i = 1; r == 0 && i < cli->operand_count; i++) {
		uint64_t shared = 0;

		r = call_map_visit(map, cli->operands[i], take_thread, reading, &shared, err);
		*reading->shared += shared;
	}
	return r;
}

static int read_database(struct reading *reading, struct cli *cli, struct error *err)
{
	struct recording_source *recordings = &reading->source->recordings;
	int r = recording_source_open(
		recordings, cli,
		reading->tree != NULL ? PROFILE_RECORDING_CONTEXT : PROFILE_RECORDING_CALLS, err);

	if (r == 0)
		r = recording_source_visit(recordings, take_procedures, reading->source, err);
	if (r == 0)
		r = call_source_begin(reading, err);
	if (r == 0)
		r = recording_source_visit(recordings,
					   reading->tree != NULL ? take_contexts : take_calls,
					   reading, err);
	return r;
}

static int read_either(struct reading *reading, struct cli *cli, struct error *err)
{
	return cli->operand_count > 0 ? read_files(reading, cli, err)
				      : read_database(reading, cli, err);
}

int call_source_calls(struct call_source *source, struct cli *cli, struct call_profile *profile,
		      struct error *err)
{
	struct reading reading = {.source = source, .profile = profile, .shared = &profile->shared};

	return read_either(&reading, cli, err);
}

int call_source_contexts(struct call_source *source, struct cli *cli, struct context_tree *tree,
			 struct error *err)
{
	struct reading reading = {.source = source, .tree = tree, .shared = &tree->shared};

	return read_either(&reading, cli, err);
}

void call_source_close(struct call_source *source)
{
	call_recorded_deinit(&source->recorded);
	recording_source_close(&source->recordings);
}
