/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call profiles and calling context trees as recordings of db/profile_recording.h, in which the
 * profile database stores them. To add up recordings of several epochs, first add all of their
 * procedures to a map, then add the recordings to a profile or tree of these procedures.
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

/** call_recording_metric() - return the name of a metric, "cycles"; "" for none */
const char *call_recording_metric(enum call_metric metric);

/** Convert an address to a file offset. Return: false: it is not in the file. */
typedef bool (*call_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * call_recording_make() - convert a profile to a recording
 * @builder:   empty before. The caller sets mode and metric of the result
 * @processes: number of processes added to @profile
 */
void call_recording_make(struct recording_builder *builder, const struct call_map *map,
			 const struct call_profile *profile, size_t processes,
			 call_offset_fn offset_of, const void *context);

/** call_recording_make_tree() - convert a tree to a recording */
void call_recording_make_tree(struct recording_builder *builder, const struct call_map *map,
			      const struct context_tree *tree, size_t processes,
			      call_offset_fn offset_of, const void *context);

/**
 * struct call_recorded - procedures of all recordings, zero-initialised is empty; freed by
 * call_recorded_deinit()
 * @map:   without image number
 * @index: maps an address to an index + 1
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
 * Return: 0; -EBADMSG damaged; -EINVAL another metric than in previous recordings; -ENOMEM.
 */
int call_recorded_procedures(struct call_recorded *recorded,
			     const struct profile_recording *recording, const char *path,
			     const char *build_id);

/**
 * call_recorded_calls() - add a recording of calls
 * @profile: has as many procedures as @recorded's map, after all were added
 *
 * Return: as call_recorded_procedures().
 */
int call_recorded_calls(const struct call_recorded *recorded,
			const struct profile_recording *recording, struct call_profile *profile);

/** call_recorded_contexts() - add a recording of contexts to a tree */
int call_recorded_contexts(const struct call_recorded *recorded,
			   const struct profile_recording *recording, struct context_tree *tree);

#endif
