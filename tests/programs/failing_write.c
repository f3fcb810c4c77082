// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library to preload: while the file FAILING_WRITE exists, writes at an offset fail (SQLite
 * writes so), as on a file system that has become read-only.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
	if (access(getenv("FAILING_WRITE"), F_OK) == 0) {
		errno = EROFS;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, data, bytes, offset);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
	return pwrite64(fd, data, bytes, offset);
}
