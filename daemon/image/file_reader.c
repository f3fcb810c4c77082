// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/file_reader.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define MAY_READ 4U
#define MAY_SEARCH 1U
#define ACCESS_LIST "system.posix_acl_access"
/* A longer access control list permits nothing. */
#define ACCESS_LIST_BYTES 4096

static void groups_take(struct file_reader *reader, const char *at)
{
	unsigned long group;
	char *end;

	for (;; at = end) {
		group = strtoul(at, &end, 10);
		if (end == at)
			return;
		if (reader->group_count == FILE_READER_GROUPS_MAX) {
			reader->has_groups = false;
			return;
		}
		reader->groups[reader->group_count++] = (uint32_t)group;
	}
}

static void status_line_take(struct file_reader *reader, const char *line)
{
	uint32_t group;

	if (sscanf(line, "Uid: %u %*u %*u %u", &reader->user, &reader->file_user) == 2)
		reader->known = true;
	else if (sscanf(line, "Gid: %*u %*u %*u %u", &group) == 1)
		reader->groups[reader->group_count++] = group;
	else if (strncmp(line, "Groups:", strlen("Groups:")) == 0)
		groups_take(reader, line + strlen("Groups:"));
}

int file_reader_of_process(struct file_reader *reader, uint32_t pid)
{
	_cleanup_file_ FILE *status = NULL;
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;
	char path[32];

	*reader = (struct file_reader){.has_groups = true};
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	status = fopen(path, "re");
	if (status == NULL)
		return -ESRCH;
	/* "Groups" comes after "Uid" and "Gid". */
	while (getline(&line, &capacity, status) > 0) {
		status_line_take(reader, line);
		if (strncmp(line, "Groups:", strlen("Groups:")) == 0)
			break;
	}
	return reader->known ? 0 : -ESRCH;
}

static bool is_member(const struct file_reader *reader, uint32_t group)
{
	for (size_t i = 0; i < reader->group_count; i++) {
		if (reader->groups[i] == group)
			return true;
	}
	return false;
}

static bool mode_permits(const struct file_reader *reader, uint32_t user, const struct stat *status,
			 unsigned int access)
{
	bool group = (status->st_mode & (access << 3)) != 0;
	bool other = (status->st_mode & access) != 0;

	if (user == 0)
		return true;
	if (user == status->st_uid)
		return (status->st_mode & (access << 6)) != 0;
	if (is_member(reader, status->st_gid))
		return group;
	return other && (group || reader->has_groups);
}

/* Return true if there is no access control list, or if each entry of the list grants @access. */
static bool list_permits(int fd, unsigned int access)
{
	union {
		struct posix_acl_xattr_header header;
		char bytes[ACCESS_LIST_BYTES];
	} list;
	struct posix_acl_xattr_entry entry;
	char path[64];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bytes = getxattr(path, ACCESS_LIST, &list, sizeof(list));
	if (bytes < 0)
		return errno == ENODATA || errno == EOPNOTSUPP;
	for (size_t at = sizeof(list.header); at + sizeof(entry) <= (size_t)bytes;
	     at += sizeof(entry)) {
		memcpy(&entry, list.bytes + at, sizeof(entry));
		if ((le16toh(entry.e_perm) & access) == 0)
			return false;
	}
	return true;
}

static bool user_permits(const struct file_reader *reader, uint32_t user, int fd,
			 const struct stat *status, unsigned int access)
{
	if (!mode_permits(reader, user, status, access))
		return false;
	return user == 0 || user == status->st_uid || list_permits(fd, access);
}

/* Return true if this process may read files regardless of their modes. */
static bool is_privileged(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	return (data[0].effective & (1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH)) != 0;
}

static bool permits(const struct file_reader *reader, int fd, const struct stat *status,
		    unsigned int access)
{
	const mode_t all = (mode_t)(access << 6 | access << 3 | access);

	if (reader->known)
		return user_permits(reader, reader->user, fd, status, access) &&
		       user_permits(reader, reader->file_user, fd, status, access);
	if (!is_privileged())
		return true;
	return (status->st_mode & all) == all && list_permits(fd, access);
}

bool file_reader_permits(const struct file_reader *reader, int fd, const struct stat *status)
{
	return permits(reader, fd, status, MAY_READ);
}

/* Open a name in a directory that the reader may search. */
static int name_open(const struct file_reader *reader, int directory, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH,
	};
	struct stat status;
	int fd;

	if (fstat(directory, &status) < 0)
		return -errno;
	if (!permits(reader, directory, &status, MAY_SEARCH))
		return -EPERM;
	fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int file_reader_open(const struct file_reader *reader, const char *path)
{
	_cleanup_free_ char *names = strdup(path);
	char *rest, *name;
	int fd, next;

	if (names == NULL)
		return -ENOMEM;
	if (path[0] != '/')
		return -EINVAL;
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (name = strtok_r(names, "/", &rest); fd >= 0 && name != NULL;
	     name = strtok_r(NULL, "/", &rest)) {
		next = name_open(reader, fd, name);
		close(fd);
		fd = next;
	}
	return fd;
}
