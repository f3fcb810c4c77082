// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of the map of a program with timed paths, and the reader of the files that the
 * program records in. An accepted map must encode and decode to itself. All rows listed from an
 * accepted file must be possible.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/variation/variation_listing.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"

FUZZ_MAP(paths_map, (void))

/* Read an area of a procedure with one node and 64 paths, each along its own edge. */
static void try_area(const uint8_t *data, size_t bytes)
{
	static struct counts_node node = {.address = 0x1000, .bytes = 4, .insns = 1};
	static struct path_edge path_edges[64];
	static uint32_t first[2] = {0, 64};
	static struct path_start start;
	static char path_text[] = "x", build_id[] = "", metric[] = "cycles";
	struct paths_procedure procedure = {.name = "p",
					    .nodes = &node,
					    .graph = {.path_edges = path_edges,
						      .first = first,
						      .starts = &start,
						      .node_count = 1,
						      .path_edge_count = 64,
						      .start_count = 1,
						      .count = 64}};
	struct paths_map map = {.image = 1,
				.path = path_text,
				.build_id = build_id,
				.metric = metric,
				.timed = true,
				.procedures = &procedure,
				.procedure_count = 1};
	struct profile_layout_header header = {.magic = PROFILE_LAYOUT_MAGIC,
					       .version = PROFILE_LAYOUT_VERSION,
					       .image = 1,
					       .blocks = 1,
					       .block_bytes = sizeof(struct variation_area),
					       .area_bytes = sizeof(struct variation_area),
					       .mode = PROFILE_LAYOUT_VARIATION};
	struct variation_profile profile = {0};
	struct variation_listing listing;
	struct variation_stability stability;
	struct error err;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	for (uint32_t i = 0; i < 64; i++)
		path_edges[i] = (struct path_edge){.kind = PATH_END, .to = PATH_NONE, .value = i};
	require(fd >= 0 &&
		ftruncate(fd, PROFILE_LAYOUT_PAGE + sizeof(struct variation_area)) == 0 &&
		pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	if (bytes > sizeof(struct variation_area))
		bytes = sizeof(struct variation_area);
	require(pwrite(fd, data, bytes, PROFILE_LAYOUT_PAGE) == (ssize_t)bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	require(variation_profile_add(&profile, &map, path, &err) == 0);
	require(variation_listing_make(&listing, &map, &profile, false) == 0);
	for (size_t i = 0; i < listing.row_count; i++)
		require(listing.rows[i].net <= listing.rows[i].times->total &&
			listing.rows[i].times->least > 0);
	require(variation_stability_find(&stability, &listing, &listing) == 0);
	require(stability.common == stability.count && stability.both == listing.row_count);
	variation_listing_deinit(&listing);
	variation_profile_deinit(&profile);
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
		try_paths_map(copy, bytes - 1);
	else
		try_area(copy, bytes - 1);
	free(copy);
	return 0;
}
