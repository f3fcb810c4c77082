/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * References to memory as the profile database stores them (db/profile_recording.h): with their
 * instructions, so that readers need no map.
 */
#ifndef DCPI_INSTRUMENT_BURSTS_RECORDING_H
#define DCPI_INSTRUMENT_BURSTS_RECORDING_H

#include <stdbool.h>

#include "instrument/bursts/bursts_profile.h"
#include "lib/u64_map.h"

struct profile_recording;
struct recording_builder;

/** Convert an address to a file offset. Return: false: it is not in the file. */
typedef bool (*bursts_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * bursts_recording_make() - convert a profile to a recording
 * @builder:   empty before. The caller sets mode and metric of the result
 * @processes: number of processes added to @profile
 *
 * Addresses that exceed the database's maximum, which no program uses, are lost.
 */
void bursts_recording_make(struct recording_builder *builder, const struct bursts_map *map,
			   const struct bursts_profile *profile, size_t processes,
			   bursts_offset_fn offset_of, const void *context);

/** struct bursts_instruction - @procedure: index in the map */
struct bursts_instruction {
	uint32_t procedure;
	uint64_t address;
};

/**
 * struct bursts_recorded - sums of recordings; their threads are concatenated
 * @map:     after bursts_recorded_end(): as of a rewritten program, with the referring instructions
 * @profile: after bursts_recorded_end(): all references
 * @instructions: in the order of addition; references have these numbers before the end
 * @procedures: maps an address to an index + 1
 *
 * Zero-initialised is empty; freed by bursts_recorded_deinit().
 */
struct bursts_recorded {
	struct bursts_map map;
	struct bursts_profile profile;
	struct bursts_instruction *instructions;
	size_t instruction_count;
	size_t instruction_capacity;
	struct u64_map procedures;
};

void bursts_recorded_deinit(struct bursts_recorded *recorded);

/**
 * bursts_recorded_add() - add a recording
 * @recording: not trusted
 * @path:      path of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL the settings of bursts differ from previous recordings;
 * -ENOMEM.
 */
int bursts_recorded_add(struct bursts_recorded *recorded, const struct profile_recording *recording,
			const char *path);

/** bursts_recorded_end() - finish after all recordings were added. Return: 0 or -ENOMEM. */
int bursts_recorded_end(struct bursts_recorded *recorded);

#endif
