/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call profiles and calling context trees as the profile database keeps them
 * (db/profile_recording.h). Recordings of several epochs are added up: first all of their
 * procedures become a map's, then what was recorded is added to a profile or tree of these.
 */
#ifndef DCPI_INSTRUMENT_CALL_RECORDING_H
#define DCPI_INSTRUMENT_CALL_RECORDING_H

#include <stdbool.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_profile.h"
#include "instrument/calls/context_tree.h"
#include "lib/u64_map.h"

struct profile_recording;
struct recording_builder;

/** call_recording_metric() - as it is told, "cycles"; "" for none. */
const char *call_recording_metric(enum call_metric metric);

/** Where in the file an address is. Return: false: nowhere. */
typedef bool (*call_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * call_recording_make() - a profile as a recording
 * @builder:   empty before. Of what it becomes mode and metric are left to the caller
 * @processes: that were added to @profile
 */
void call_recording_make(struct recording_builder *builder, const struct call_map *map,
			 const struct call_profile *profile, size_t processes,
			 call_offset_fn offset_of, const void *context);

/** call_recording_make_tree() - a tree, likewise. */
void call_recording_make_tree(struct recording_builder *builder, const struct call_map *map,
			      const struct context_tree *tree, size_t processes,
			      call_offset_fn offset_of, const void *context);

/**
 * struct call_recorded - procedures of all recordings, zero-initialised is empty; freed by
 * call_recorded_deinit()
 * @map:   without a number
 * @index: address to index + 1
 */
struct call_recorded {
	struct call_map map;
	struct u64_map index;
};

void call_recorded_deinit(struct call_recorded *recorded);

/**
 * call_recorded_procedures() - add a recording's procedures
 * @recording: of calls or contexts, not trusted
 * @path, @build_id: of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL of another metric than those before; -ENOMEM.
 */
int call_recorded_procedures(struct call_recorded *recorded,
			     const struct profile_recording *recording, const char *path,
			     const char *build_id);

/**
 * call_recorded_calls() - add a recording of calls
 * @profile: of as many procedures as @recorded's map has, when all are in it
 *
 * Return: as of call_recorded_procedures().
 */
int call_recorded_calls(const struct call_recorded *recorded,
			const struct profile_recording *recording, struct call_profile *profile);

/** call_recorded_contexts() - likewise, contexts to a tree. */
int call_recorded_contexts(const struct call_recorded *recorded,
			   const struct profile_recording *recording, struct context_tree *tree);

#endif
