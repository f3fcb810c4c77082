// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/bursts_profile.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "instrument/bursts/burst_layout.h"
#include "instrument/profile/profile_file.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Number of records that are read at once. */
#define PIECE 65536

/* A record with an invalid instruction number is damaged, or is being written: it is left out. */
static int add_records(struct bursts_profile *profile, const struct bursts_map *map,
		       const struct burst_record *records, size_t count)
{
	if (array_reserve(&profile->all, &profile->capacity, profile->count + count,
			  sizeof(*profile->all)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (records[i].reference >= map->reference_count || records[i].burst == 0)
			continue;
		profile->all[profile->count++] = (struct bursts_reference){
			.address = records[i].address,
			.number = records[i].reference,
			.burst = records[i].burst,
			.thread = profile->threads,
		};
	}
	return 0;
}

/* Read piece by piece; nothing was recorded where the file has holes. */
static int add_kept(struct bursts_profile *profile, const struct bursts_map *map,
		    const struct profile_file *file, uint64_t block, uint64_t kept)
{
	_cleanup_free_ struct burst_record *piece = malloc(PIECE * sizeof(*piece));
	uint64_t done = 0;
	int r = piece != NULL ? 0 : -ENOMEM;

	while (r == 0 && done < kept) {
		uint64_t at = sizeof(struct burst_area) + done * sizeof(*piece);
		uint64_t hole = profile_file_hole(file, block, at) / sizeof(*piece);
		uint64_t count = kept - done < PIECE ? kept - done : PIECE;

		if (hole > 0) {
			done += hole;
			continue;
		}
		r = profile_file_read(file, block, at, piece, count * sizeof(*piece));
		if (r == 0)
			r = add_records(profile, map, piece, count);
		done += count;
	}
	return r;
}

static int bursts_profile_add_block(struct bursts_profile *profile, const struct bursts_map *map,
				    const struct profile_file *file, uint64_t block)
{
	uint64_t room =
		(file->header.area_bytes - sizeof(struct burst_area)) / sizeof(struct burst_record);
	struct burst_area area;
	uint64_t made, kept;
	int r = profile_file_read(file, block, 0, &area, sizeof(area));

	if (r < 0)
		return r;
	made = area.bytes / sizeof(struct burst_record);
	kept = made < room ? made : room;
	r = add_kept(profile, map, file, block, kept);
	profile->bursts += area.bursts.burst > 0 ? area.bursts.burst - 1 : 0;
	profile->lost += made - kept;
	profile->threads++;
	return r;
}

int bursts_profile_add(struct bursts_profile *profile, const struct bursts_map *map,
		       const char *path, struct error *err)
{
	struct profile_file file;
	int r = profile_file_open(&file, path, map->image, 0, err);

	if (r < 0)
		return r;
	if (file.header.mode != PROFILE_LAYOUT_BURSTS ||
	    file.header.area_bytes < sizeof(struct burst_area))
		r = error_set(err, EBADMSG, ERROR_DAMAGED, path);
	for (uint64_t i = 0; r == 0 && i < file.blocks; i++) {
		r = bursts_profile_add_block(profile, map, &file, i);
		if (r < 0)
			r = error_set(err, -r, ERROR_READ, path);
	}
	profile->shared += file.header.shared;
	profile_file_close(&file);
	return r;
}

void bursts_profile_deinit(struct bursts_profile *profile)
{
	free(profile->all);
	*profile = (struct bursts_profile){0};
}
