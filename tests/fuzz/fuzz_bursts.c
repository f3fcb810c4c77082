// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the readers of burst recordings and of listings of their data streams. The first byte
 * chooses the input: a whole file, or the contents after a valid header. All references of an
 * accepted file are in the map, and there are at most as many streams as references.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/bursts/burst_layout.h"
#include "instrument/bursts/bursts_report.h"
#include "instrument/bursts/streams_report.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"

#define REFERENCES 24
#define RECORDS 4096
#define AREA (sizeof(struct burst_area) + RECORDS * sizeof(struct burst_record))

/* Two procedures with the same number of instructions. */
static void make_map(struct bursts_map *map)
{
	uint64_t addresses[REFERENCES];

	for (size_t i = 0; i < REFERENCES; i++)
		addresses[i] = 0x1000 + 4 * i;
	*map = (struct bursts_map){.image = 1, .path = strdup("x"), .build_id = strdup("")};
	require(bursts_map_add(map, "p", 0x1000, addresses, REFERENCES / 2) == 0);
	require(bursts_map_add(map, "q", 0x1000 + 4 * REFERENCES / 2, addresses + REFERENCES / 2,
			       REFERENCES / 2) == 0);
}

static void look(const struct bursts_map *map, const struct bursts_profile *profile)
{
	const struct data_streams_options options = {2, 40, 0.9, 0};
	const struct bursts_report_options rows = {.rows = BURSTS_INSTRUCTIONS};
	struct data_streams streams;
	struct error err;
	FILE *out = fopen("/dev/null", "w");
	double own;

	require(out != NULL);
	for (size_t i = 0; i < profile->count; i++)
		require(profile->all[i].number < map->reference_count && profile->all[i].burst > 0);
	require(bursts_report_print(out, map, profile, &rows, &err) >= 0);
	fclose(out);
	if (profile->count == 0)
		return;
	require(data_streams_find(&streams, map, profile, &options) == 0);
	require(streams.covered <= streams.references);
	require(data_streams_overlap(&own, &streams, &streams) == 0);
	require(own >= 0 && own <= 1.0000001);
	data_streams_deinit(&streams);
}

static void try_profile(const char *path)
{
	struct bursts_profile profile = {0};
	struct bursts_map map;
	struct error err;

	make_map(&map);
	if (bursts_profile_add(&profile, &map, path, &err) == 0)
		look(&map, &profile);
	bursts_profile_deinit(&profile);
	bursts_map_deinit(&map);
}

static void try_listing(const char *path)
{
	struct data_streams streams;
	struct error err;
	double own;

	if (streams_report_read(&streams, path, &err) < 0)
		return;
	require(data_streams_overlap(&own, &streams, &streams) == 0);
	data_streams_deinit(&streams);
}

static void put_head(int fd)
{
	struct profile_layout_header header = {.magic = PROFILE_LAYOUT_MAGIC,
					       .version = PROFILE_LAYOUT_VERSION,
					       .image = 1,
					       .blocks = 1,
					       .block_bytes = AREA,
					       .area_bytes = AREA,
					       .mode = PROFILE_LAYOUT_BURSTS};

	require(ftruncate(fd, (off_t)(PROFILE_LAYOUT_PAGE + AREA)) == 0 &&
		pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char path[64];
	off_t at = 0;
	int fd;

	if (bytes < 2)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	require(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data[0] % 4 < 2) {
		put_head(fd);
		at = PROFILE_LAYOUT_PAGE;
		bytes = bytes - 1 > AREA ? AREA + 1 : bytes;
	}
	require(pwrite(fd, data + 1, bytes - 1, at) == (ssize_t)(bytes - 1));
	if (data[0] % 4 < 3)
		try_profile(path);
	else
		try_listing(path);
	close(fd);
	return 0;
}
