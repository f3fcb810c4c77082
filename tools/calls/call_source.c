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
struct session {
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
	const struct session *session = context;

	return call_recorded_calls(&session->source->recorded, recording, session->profile);
}

static int take_contexts(void *context, const struct profile_recording *recording)
{
	const struct session *session = context;

	return call_recorded_contexts(&session->source->recorded, recording, session->tree);
}

static int take_thread(void *context, const struct call_thread *thread)
{
	const struct session *session = context;

	return session->tree != NULL
		       ? context_tree_add(session->tree, &session->source->recorded.map, thread)
		       : call_profile_add(session->profile, thread);
}

/* Initialise the result after the map has been read. */
static int call_source_begin(const struct session *session, struct error *err)
{
	uint32_t procedures = (uint32_t)session->source->recorded.map.procedure_count;
	int r = session->tree != NULL ? context_tree_init(session->tree, procedures)
				      : call_profile_init(session->profile, procedures);

	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static int check_policy(const struct session *session, const char *program, struct error *err)
{
	enum call_policy wanted = session->tree != NULL ? CALL_POLICY_CONTEXT : CALL_POLICY_CALLS;

	if (session->source->recorded.map.policy == wanted)
		return 0;
	return error_set(err, EINVAL,
			 wanted == CALL_POLICY_CALLS ? "'%s' records contexts: use dcpicct"
						     : "'%s' records calls: use dcpicalls",
			 program);
}

/* Read an instrumented program and its recording files. */
static int read_files(struct session *session, const struct cli *cli, struct error *err)
{
	struct call_map *map = &session->source->recorded.map;
	int r;

	if (cli->operand_count < 2)
		return error_set(err, EINVAL,
				 "a rewritten program and the files that it recorded are required");
	r = call_map_read(map, cli->operands[0], err);
	if (r == 0)
		r = check_policy(session, cli->operands[0], err);
	if (r == 0)
		r = call_source_begin(session, err);
	for (size_t i = 1; r == 0 && i < cli->operand_count; i++) {
		uint64_t shared = 0;

		r = call_map_visit(map, cli->operands[i], take_thread, session, &shared, err);
		*session->shared += shared;
	}
	return r;
}

static int read_database(struct session *session, struct cli *cli, struct error *err)
{
	struct recording_source *recordings = &session->source->recordings;
	int r = recording_source_open(
		recordings, cli,
		session->tree != NULL ? PROFILE_RECORDING_CONTEXT : PROFILE_RECORDING_CALLS, err);

	if (r == 0)
		r = recording_source_visit(recordings, take_procedures, session->source, err);
	if (r == 0)
		r = call_source_begin(session, err);
	if (r == 0)
		r = recording_source_visit(recordings,
					   session->tree != NULL ? take_contexts : take_calls,
					   session, err);
	return r;
}

static int read_either(struct session *session, struct cli *cli, struct error *err)
{
	return cli->operand_count > 0 ? read_files(session, cli, err)
				      : read_database(session, cli, err);
}

int call_source_calls(struct call_source *source, struct cli *cli, struct call_profile *profile,
		      struct error *err)
{
	struct session session = {.source = source, .profile = profile, .shared = &profile->shared};

	return read_either(&session, cli, err);
}

int call_source_contexts(struct call_source *source, struct cli *cli, struct context_tree *tree,
			 struct error *err)
{
	struct session session = {.source = source, .tree = tree, .shared = &tree->shared};

	return read_either(&session, cli, err);
}

void call_source_close(struct call_source *source)
{
	call_recorded_deinit(&source->recorded);
	recording_source_close(&source->recordings);
}
