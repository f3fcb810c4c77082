// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "instrument/profile/profile_file.h"
#include "lib/cleanup.h"
#include "lib/error.h"

static int64_t ns_of(const struct statx_timestamp *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Not every file system knows when a file was made. */
static void add_times(struct counts_profile *profile, int fd)
{
	int64_t first, last;
	struct statx times;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &times) < 0)
		return;
	last = ns_of(&times.stx_mtime);
	first = times.stx_mask & STATX_BTIME ? ns_of(&times.stx_btime) : last;
	if (profile->files == 0 || first < profile->first_ns)
		profile->first_ns = first;
	if (profile->files == 0 || last > profile->last_ns)
		profile->last_ns = last;
}

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
		add_times(profile, file.fd);
		profile->files++;
		profile->threads += file.header.blocks;
		profile->shared += file.header.shared;
	}
	profile_file_close(&file);
	return r < 0 ? error_set(err, -r, "cannot read %s", path) : 0;
}

void counts_profile_deinit(struct counts_profile *profile)
{
	free(profile->counters);
	*profile = (struct counts_profile){0};
}
