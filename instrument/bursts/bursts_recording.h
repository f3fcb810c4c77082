/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * References to memory as the profile database keeps them (db/profile_recording.h): with the
 * instructions that made them, so that who reads them needs no map.
 */
#ifndef DCPI_INSTRUMENT_BURSTS_RECORDING_H
#define DCPI_INSTRUMENT_BURSTS_RECORDING_H

#include <stdbool.h>

#include "instrument/bursts/bursts_profile.h"
#include "lib/u64_map.h"

struct profile_recording;
struct recording_builder;

/** Where in the file an address is. Return: false: nowhere. */
typedef bool (*bursts_offset_fn)(const void *context, uint64_t address, uint64_t *offset);

/**
 * bursts_recording_make() - a profile as a recording
 * @builder:   empty before. Of what it becomes mode and metric are left to the caller
 * @processes: that were added to @profile
 *
 * Addresses that the database has no room for, which no program has either, are lost.
 */
void bursts_recording_make(struct recording_builder *builder, const struct bursts_map *map,
			   const struct bursts_profile *profile, size_t processes,
			   bursts_offset_fn offset_of, const void *context);

/** struct bursts_instruction - of the procedure with that index in the map. */
struct bursts_instruction {
	uint32_t procedure;
	uint64_t address;
};

/**
 * struct bursts_recorded - recordings, added up; threads of one come behind those of another
 * @map:     after bursts_recorded_end(): as of a rewritten program, of what was referred to by
 * @profile: likewise
 * @instructions: as they were added; until the end references have these numbers
 * @procedures: address to index + 1
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
 * @path:      of the image
 *
 * Return: 0; -EBADMSG damaged; -EINVAL bursts came otherwise than in those before; -ENOMEM.
 */
int bursts_recorded_add(struct bursts_recorded *recorded, const struct profile_recording *recording,
			const char *path);

/** bursts_recorded_end() - all have been added. Return: 0 or -ENOMEM. */
int bursts_recorded_end(struct bursts_recorded *recorded);

#endif
