// SPDX-License-Identifier: GPL-2.0-only
#include "lib/file_read.h"

#include <errno.h>
#include <unistd.h>

int file_read_exactly(int fd, void *buffer, size_t bytes, uint64_t offset)
{
	uint8_t *position = buffer;

	if (offset > INT64_MAX - bytes)
		return -EIO;
	while (bytes > 0) {
		ssize_t n = pread(fd, position, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		position += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}
