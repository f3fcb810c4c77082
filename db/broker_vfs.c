// SPDX-License-Identifier: GPL-2.0-only
#include "db/broker_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/broker.h"

static int broker_vfs_fail(int r)
{
	errno = -r;
	return -1;
}

static int open_file(const char *path, int flags, int mode)
{
	int fd = broker_open(BROKER_DATABASE, path, flags, (mode_t)mode);

	return fd < 0 ? broker_vfs_fail(fd) : fd;
}

static int access_file(const char *path, int mode)
{
	int r = broker_access(path, mode);

	return r < 0 ? broker_vfs_fail(r) : 0;
}

static int stat_file(const char *path, struct stat *status)
{
	int r = broker_stat(path, status);

	return r < 0 ? broker_vfs_fail(r) : 0;
}

/* Database paths come from realpath(3) and contain no symbolic links. */
static ssize_t read_link(const char *path, char *buffer, size_t bytes)
{
	(void)path;
	(void)buffer;
	(void)bytes;
	return broker_vfs_fail(-EINVAL);
}

static int unlink_file(const char *path)
{
	int r = broker_unlink(BROKER_DATABASE, path);

	return r < 0 ? broker_vfs_fail(r) : 0;
}

void broker_vfs_use(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr function;
	} calls[] = {
		{"open", (sqlite3_syscall_ptr)open_file},
		{"access", (sqlite3_syscall_ptr)access_file},
		{"stat", (sqlite3_syscall_ptr)stat_file},
		{"lstat", (sqlite3_syscall_ptr)stat_file},
		{"readlink", (sqlite3_syscall_ptr)read_link},
		{"unlink", (sqlite3_syscall_ptr)unlink_file},
	};
	static bool used;
	sqlite3_vfs *vfs;

	if (used || broker_socket() < 0)
		return;
	used = true;
	vfs = sqlite3_vfs_find(NULL);
	for (size_t i = 0; vfs != NULL && i < sizeof(calls) / sizeof(*calls); i++)
		vfs->xSetSystemCall(vfs, calls[i].name, calls[i].function);
}
