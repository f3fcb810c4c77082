// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instrument/profile_layout.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/file_read.h"

static int check(const struct profile_layout_header *header, const struct counts_map *map,
		 const char *path, struct error *err)
{
	if (header->magic != PROFILE_LAYOUT_MAGIC || header->version != PROFILE_LAYOUT_VERSION)
		return error_set(err, EBADMSG, "%s is no profile of a rewritten program", path);
	if (header->image != map->image)
		return error_set(err, ESTALE,
				 "%s is of another program, or another rewriting of it", path);
	if (header->counters != map->counters ||
	    header->block_bytes < header->counters * sizeof(uint64_t) ||
	    header->block_bytes > (UINT64_C(1) << 40))
		return error_set(err, EBADMSG, "%s is damaged", path);
	return 0;
}

static int add_block(struct counts_profile *profile, int fd, uint64_t offset, uint64_t *block)
{
	int r = file_read_exactly(fd, block, profile->count * sizeof(*block), offset);

	for (size_t i = 0; r == 0 && i < profile->count; i++)
		profile->counters[i] += block[i];
	return r;
}

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

int counts_profile_add(struct counts_profile *profile, const struct counts_map *map,
		       const char *path, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ uint64_t *block = NULL;
	struct profile_layout_header header;
	struct stat status;
	uint64_t blocks;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, "cannot open %s", path);
	if (!S_ISREG(status.st_mode) || file_read_exactly(fd, &header, sizeof(header), 0) < 0)
		return error_set(err, EBADMSG, "%s is no profile of a rewritten program", path);
	r = check(&header, map, path, err);
	if (r < 0)
		return r;
	if (profile->counters == NULL) {
		profile->counters = calloc(map->counters + (size_t)1, sizeof(*profile->counters));
		profile->count = map->counters;
		profile->image = map->image;
	}
	block = malloc((profile->count + 1) * sizeof(*block));
	if (profile->counters == NULL || block == NULL)
		return error_set(err, ENOMEM, "no memory for %s", path);
	blocks = header.blocks < PROFILE_LAYOUT_BLOCKS ? header.blocks : PROFILE_LAYOUT_BLOCKS;
	for (uint64_t i = 0; r == 0 && i < blocks; i++) {
		uint64_t offset = PROFILE_LAYOUT_PAGE + i * header.block_bytes;

		if (offset + header.block_bytes <= (uint64_t)status.st_size)
			r = add_block(profile, fd, offset, block);
	}
	if (r < 0)
		return error_set(err, -r, "cannot read %s", path);
	add_times(profile, fd);
	profile->files++;
	profile->threads += header.blocks;
	profile->shared += header.shared;
	return 0;
}

void counts_profile_deinit(struct counts_profile *profile)
{
	free(profile->counters);
	*profile = (struct counts_profile){0};
}
