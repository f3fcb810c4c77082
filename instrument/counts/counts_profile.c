// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/profile/profile_file.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

static int add_blocks(struct counts_profile *profile, const struct profile_file *file)
{
	_cleanup_free_ uint64_t *block = malloc((profile->count + 1) * sizeof(*block));
	int r = block != NULL ? 0 : -ENOMEM;

	for (uint64_t i = 0; r == 0 && i < file->blocks; i++) {
		r = profile_file_read(file, i, file->header.area_bytes, block,
				      profile->count * sizeof(*block));
		for (size_t k = 0; r == 0 && k < profile->count; k++)
			profile->counters[k] += block[k];
	}
	return r;
}

int counts_profile_add(struct counts_profile *profile, const struct counts_map *map,
		       const char *path, struct error *err)
{
	struct profile_file file;
	int r = profile_file_open(&file, path, map->image, map->counters, err);

	if (r < 0)
		return r;
	if (profile->counters == NULL) {
		profile->counters = calloc(map->counters + (size_t)1, sizeof(*profile->counters));
		profile->count = map->counters;
		profile->image = map->image;
	}
	r = profile->counters != NULL ? add_blocks(profile, &file) : -ENOMEM;
	if (r == 0) {
		profile->files++;
		profile->threads += file.header.blocks;
		profile->shared += file.header.shared;
	}
	profile_file_close(&file);
	return r < 0 ? error_set(err, -r, ERROR_READ, path) : 0;
}

void counts_profile_deinit(struct counts_profile *profile)
{
	free(profile->counters);
	*profile = (struct counts_profile){0};
}
