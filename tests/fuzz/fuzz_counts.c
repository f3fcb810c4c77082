// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of the counter map of a rewritten file, and the reader of the files that programs
 * count in. In these files the constants of the header are always set to valid values, and in most
 * inputs also the fields that must agree with the map. An accepted map must encode and decode to
 * itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/counts/counts_map.h"
#include "instrument/counts/counts_profile.h"
#include "instrument/profile/profile_layout.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"

/* More counters would only use more memory, and test no more code. */
#define COUNTERS_MAX 100000

static void solve(const struct counts_map *map)
{
	uint64_t *counters, *nodes, *edges;
	size_t i;

	if (map->counters > COUNTERS_MAX)
		return;
	counters = calloc(map->counters + (size_t)1, sizeof(*counters));
	nodes = calloc(map->node_count + 1, sizeof(*nodes));
	edges = calloc(map->edge_count + 1, sizeof(*edges));
	require(counters != NULL && nodes != NULL && edges != NULL);
	for (i = 0; i < map->counters; i++)
		counters[i] = i * 0x9e3779b97f4a7c15;
	for (i = 0; i < map->procedure_count; i++)
		counts_map_solve(map, &map->procedures[i], counters, nodes, edges);
	free(counters);
	free(nodes);
	free(edges);
}

FUZZ_MAP(counts_map, solve)

static void try_profile(uint8_t *data, size_t bytes, bool agree)
{
	struct counts_map map = {.image = 1, .counters = 5};
	struct counts_profile profile = {0};
	struct profile_layout_header header;
	struct error err;
	char path[64];
	int fd;

	if (bytes < offsetof(struct profile_layout_header, owners))
		return;
	memcpy(&header, data, offsetof(struct profile_layout_header, owners));
	header.magic = PROFILE_LAYOUT_MAGIC;
	header.version = PROFILE_LAYOUT_VERSION;
	if (agree) {
		header.image = map.image;
		header.counters = map.counters;
		header.block_bytes %= 4 * PROFILE_LAYOUT_PAGE;
		header.area_bytes %= 4 * PROFILE_LAYOUT_PAGE;
		header.blocks %= 2 * PROFILE_LAYOUT_BLOCKS;
	}
	memcpy(data, &header, offsetof(struct profile_layout_header, owners));
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	/* Blocks are whole pages; the rest of the file is zero. */
	require(ftruncate(fd, 64 * PROFILE_LAYOUT_PAGE) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (counts_profile_add(&profile, &map, path, &err) == 0)
		require(profile.count == map.counters && profile.files == 1);
	counts_profile_deinit(&profile);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy;

	if (bytes < 2)
		return 0;
	copy = malloc(bytes - 1);
	require(copy != NULL);
	memcpy(copy, data + 1, bytes - 1);
	if (data[0] % 2 == 0)
		try_counts_map(copy, bytes - 1);
	else
		try_profile(copy, bytes - 1, data[0] % 8 != 1);
	free(copy);
	return 0;
}
