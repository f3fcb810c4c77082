// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define DELETED " (deleted)"

int image_system_open(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	/* If the path contains a symbolic link, it refers to a file with another path. */
	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static bool is_at(const struct image_system *claim, const char *path)
{
	_cleanup_close_ int fd = image_system_open(path);
	struct file_writers writers;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_dev != claim->status.st_dev ||
	    status.st_ino != claim->status.st_ino)
		return false;
	/* Different mounts of a file may have different options. */
	writers = file_writers_get(fd, &status);
	return file_writers_only(&writers, geteuid());
}

static bool was_in_directory_of(const struct image_system *claim, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_close_ int fd = -1;
	char directory[PATH_MAX];
	struct stat status;
	size_t bytes = slash > path ? (size_t)(slash - path) : 1;

	if (slash == NULL || bytes >= sizeof(directory))
		return false;
	memcpy(directory, path, bytes);
	directory[bytes] = '\0';
	fd = image_system_open(directory);
	return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == claim->status.st_dev;
}

static bool is_deleted(const struct image_system *claim, const char *path)
{
	size_t bytes = strlen(path), suffix = strlen(DELETED);

	return claim->status.st_nlink == 0 && bytes > suffix &&
	       strcmp(path + bytes - suffix, DELETED) == 0;
}

int image_system_get(struct image_system *claim, int fd, const char *path)
{
	struct file_writers writers;

	*claim = (struct image_system){.trusted = false};
	if (fstat(fd, &claim->status) < 0)
		return -errno;
	writers = file_writers_get(fd, &claim->status);
	if (path[0] == '/' && (writers.owner == 0 || writers.owner == geteuid()))
		claim->system = is_deleted(claim, path) ? file_writers_only(&writers, geteuid()) &&
								  was_in_directory_of(claim, path)
							: is_at(claim, path);
	claim->trusted = claim->system || file_writers_only(&writers, geteuid());
	return 0;
}
