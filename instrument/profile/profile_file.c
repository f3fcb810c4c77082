// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_read.h"

#define BLOCK_BYTES_MAX (UINT64_C(1) << 40)

static int profile_file_check(const struct profile_layout_header *header, uint64_t image,
			      uint64_t words, const char *path, struct error *err)
{
	if (header->magic != PROFILE_LAYOUT_MAGIC || header->version != PROFILE_LAYOUT_VERSION)
		return error_set(err, EBADMSG, "'%s' is not a profile of a rewritten program",
				 path);
	if (header->image != image)
		return error_set(err, ESTALE,
				 "'%s' is of another program, or of another rewritten file of it",
				 path);
	if (header->counters != words || words > BLOCK_BYTES_MAX / sizeof(uint64_t) ||
	    header->block_bytes < words * sizeof(uint64_t) || header->block_bytes > BLOCK_BYTES_MAX)
		return error_set(err, EBADMSG, ERROR_DAMAGED, path);
	return 0;
}

int profile_file_open(struct profile_file *ret, const char *path, uint64_t image, uint64_t words,
		      struct error *err)
{
	_cleanup_close_ int fd = broker_open(BROKER_OPERAND, path, O_RDONLY | O_NONBLOCK, 0);
	struct profile_file file = {.fd = -1};
	struct stat status;
	uint64_t there;
	int r;

	if (fd < 0)
		return error_set(err, -fd, ERROR_OPEN ": %s", path, strerror(-fd));
	if (fstat(fd, &status) < 0)
		return error_set_errno(err, ERROR_OPEN, path);
	if (!S_ISREG(status.st_mode) ||
	    file_read_exactly(fd, &file.header, sizeof(file.header), 0) < 0)
		return error_set(err, EBADMSG, "'%s' is not a profile of a rewritten program",
				 path);
	r = profile_file_check(&file.header, image, words, path, err);
	if (r < 0)
		return r;
	file.blocks = file.header.blocks < PROFILE_LAYOUT_BLOCKS ? file.header.blocks
								 : PROFILE_LAYOUT_BLOCKS;
	there = file.header.block_bytes > 0 && status.st_size > PROFILE_LAYOUT_PAGE
			? ((uint64_t)status.st_size - PROFILE_LAYOUT_PAGE) / file.header.block_bytes
			: 0;
	if (file.blocks > there)
		file.blocks = there;
	file.fd = take_fd(fd);
	*ret = file;
	return 0;
}

void profile_file_close(struct profile_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int profile_file_read(const struct profile_file *file, uint64_t block, uint64_t at, void *buffer,
		      size_t bytes)
{
	if (at > file->header.block_bytes || bytes > file->header.block_bytes - at)
		return -EBADMSG;
	return file_read_exactly(file->fd, buffer, bytes,
				 PROFILE_LAYOUT_PAGE + block * file->header.block_bytes + at);
}

uint64_t profile_file_hole(const struct profile_file *file, uint64_t block, uint64_t at)
{
	uint64_t begin = PROFILE_LAYOUT_PAGE + block * file->header.block_bytes;
	off_t data;

	if (at >= file->header.block_bytes)
		return 0;
	data = lseek(file->fd, (off_t)(begin + at), SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? file->header.block_bytes - at : 0;
	data -= (off_t)begin;
	return (uint64_t)data < file->header.block_bytes ? (uint64_t)data - at
							 : file->header.block_bytes - at;
}
