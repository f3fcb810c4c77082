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

/* One that no instruction has is damage, or is being written: it is left out. */
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

static int add_block(struct bursts_profile *profile, const struct bursts_map *map,
		     const struct profile_file *file, uint64_t block, struct burst_area *area)
{
	size_t head = offsetof(struct burst_area, all);
	uint64_t made, kept;
	int r = profile_file_read(file, block, 0, area, head);

	if (r < 0)
		return r;
	made = area->bytes / sizeof(struct burst_record);
	kept = made < BURST_RECORDS ? made : BURST_RECORDS;
	r = profile_file_read(file, block, head, area->all, kept * sizeof(struct burst_record));
	if (r == 0)
		r = add_records(profile, map, area->all, kept);
	profile->bursts += area->turns.burst > 0 ? area->turns.burst - 1 : 0;
	profile->lost += made - kept;
	profile->threads++;
	return r;
}

int bursts_profile_add(struct bursts_profile *profile, const struct bursts_map *map,
		       const char *path, struct error *err)
{
	_cleanup_free_ struct burst_area *area = malloc(sizeof(*area));
	struct profile_file file;
	int r;

	if (area == NULL)
		return error_set(err, ENOMEM, "no memory for %s", path);
	r = profile_file_open(&file, path, map->image, 0, err);
	if (r < 0)
		return r;
	if (file.header.mode != PROFILE_LAYOUT_BURSTS || file.header.area_bytes < sizeof(*area))
		r = error_set(err, EBADMSG, "%s is damaged", path);
	for (uint64_t i = 0; r == 0 && i < file.blocks; i++) {
		r = add_block(profile, map, &file, i, area);
		if (r < 0)
			r = error_set(err, -r, "cannot read %s", path);
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
