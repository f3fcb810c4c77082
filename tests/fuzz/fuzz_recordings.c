// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the readers of paths, calls, contexts, bursts and times of paths: the maps of rewritten
 * files, and the recordings in the database. The first byte chooses.
 *
 * The checksum of a recording is set to the correct value. Half of the time, numbers above 64 are
 * made small, because most numbers are indices. An accepted map must encode and decode to itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/recording_blob.h"
#include "instrument/bursts/bursts_recording.h"
#include "instrument/bursts/data_streams.h"
#include "instrument/calls/call_recording.h"
#include "instrument/paths/paths_listing.h"
#include "instrument/paths/paths_recording.h"
#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_recording.h"
#include "tests/fuzz/fuzz.h"

#define CRC_BYTES 4

FUZZ_MAP(call_map, (void))

FUZZ_MAP(paths_map, (void))

FUZZ_MAP(bursts_map, (void))

static void try_paths(const struct profile_recording *recording)
{
	struct paths_recorded recorded = {0};
	struct paths_listing listing;
	int r = 0;

	for (int i = 0; r == 0 && i < 2; i++)
		r = paths_recorded_add(&recorded, recording, "/x");
	if (r == 0 && paths_recorded_end(&recorded) == 0 &&
	    paths_listing_make_recorded(&listing, &recorded, 0.01) == 0)
		paths_listing_deinit(&listing);
	paths_recorded_deinit(&recorded);
}

static void try_calls(const struct profile_recording *recording)
{
	struct call_recorded recorded = {.map = {.image = 0}};
	struct context_statistics statistics;
	struct call_profile profile;
	struct context_tree tree;
	uint32_t procedures;

	if (call_recorded_procedures(&recorded, recording, "/x", "") == 0) {
		procedures = (uint32_t)recorded.map.procedure_count;
		require(call_profile_init(&profile, procedures) == 0);
		require(context_tree_init(&tree, procedures) == 0);
		call_recorded_calls(&recorded, recording, &profile);
		call_recorded_contexts(&recorded, recording, &tree);
		context_tree_sum(&tree);
		context_tree_statistics(&tree, &recorded.map, &statistics);
		call_profile_deinit(&profile);
		context_tree_deinit(&tree);
	}
	call_recorded_deinit(&recorded);
}

static void try_bursts(const struct profile_recording *recording)
{
	const struct data_streams_options all = {2, 40, 0.9, 0};
	struct bursts_recorded recorded = {.map = {.image = 0}};
	struct data_streams streams;
	int r = 0;

	for (int i = 0; r == 0 && i < 2; i++)
		r = bursts_recorded_add(&recorded, recording, "/x");
	if (r == 0) {
		require(bursts_recorded_end(&recorded) == 0);
		for (size_t i = 0; i < recorded.profile.count; i++) {
			uint32_t number = recorded.profile.all[i].number;

			require(number < recorded.map.reference_count);
			require(bursts_map_find(&recorded.map, number) <
				recorded.map.procedure_count);
		}
		require(data_streams_find(&streams, &recorded.map, &recorded.profile, &all) == 0);
		data_streams_deinit(&streams);
	}
	bursts_recorded_deinit(&recorded);
}

static void try_variation(const struct profile_recording *recording)
{
	struct variation_recorded recorded = {.time_count = 0};
	struct variation_stability stability;
	struct variation_listing listing;
	int r = 0;

	for (int i = 0; r == 0 && i < 2; i++)
		r = variation_recorded_add(&recorded, recording, "/x", "");
	if (r == 0 && variation_recorded_end(&recorded) == 0 &&
	    variation_listing_make_recorded(&listing, &recorded, true) == 0) {
		for (size_t i = 0; i < listing.row_count; i++)
			require(listing.rows[i].net <= listing.rows[i].times->total);
		require(variation_stability_find(&stability, &listing, &listing) == 0);
		variation_listing_deinit(&listing);
	}
	variation_recorded_deinit(&recorded);
}

static void make_small(struct recording_content *content)
{
	for (unsigned int t = 0; t < content->recording.table_count; t++) {
		const struct profile_recording_table *table = &content->recording.tables[t];

		for (size_t i = 0; i < table->rows * table->columns; i++) {
			if (content->values[t][i] > 64)
				content->values[t][i] %= 8;
		}
	}
}

static void try_recording(uint8_t *data, size_t bytes, int small)
{
	struct recording_content content = {0};
	uint32_t crc = (uint32_t)crc32_z(0, data, bytes - CRC_BYTES);

	for (size_t i = 0; i < CRC_BYTES; i++)
		data[bytes - CRC_BYTES + i] = (uint8_t)(crc >> 8 * i);
	if (recording_blob_decode(&content, 0, data, bytes) == 0) {
		if (small)
			make_small(&content);
		content.recording.metric = "cycles";
		try_paths(&content.recording);
		try_calls(&content.recording);
		try_bursts(&content.recording);
		try_variation(&content.recording);
	}
	recording_content_deinit(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy;

	if (bytes < 1 + CRC_BYTES)
		return 0;
	copy = malloc(bytes - 1);
	require(copy != NULL);
	memcpy(copy, data + 1, bytes - 1);
	switch (data[0] % 5) {
	case 0:
		try_call_map(copy, bytes - 1);
		break;
	case 1:
		try_paths_map(copy, bytes - 1);
		break;
	case 2:
		try_bursts_map(copy, bytes - 1);
		break;
	default:
		try_recording(copy, bytes - 1, data[0] % 5 == 4);
	}
	free(copy);
	return 0;
}
