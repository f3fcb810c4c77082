// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"

/* The kernel's limit on nested user namespaces is 32. */
#define NESTED_MAX 33

static int real_uid(uint32_t pid, uint32_t *uid)
{
	static const char field[] = "\nUid:";
	_cleanup_close_ int fd = -1;
	char path[32], text[2048];
	const char *line;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n < 0)
		return -ESRCH;
	text[n] = '\0';
	/* The kernel escapes newlines of the name on the first line. */
	line = strstr(text, field);
	if (line == NULL)
		return -ESRCH;
	*uid = (uint32_t)strtoul(line + strlen(field), NULL, 10);
	return 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Find the creator of the outermost namespace, below that of this process, that contains @pid.
 *
 * Return: 0; -ENOENT: the process is in the namespace of this process, or its namespaces cannot
 * be inspected.
 */
static int namespace_owner(uint32_t pid, uint32_t *uid)
{
	_cleanup_close_ int fd = -1;
	struct stat ours, status;
	char path[32];
	int i, parent;

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	if (stat("/proc/self/ns/user", &ours) < 0 || stat(path, &status) < 0 ||
	    is_same_file(&ours, &status))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (i = 0; fd >= 0 && i < NESTED_MAX; i++) {
		parent = ioctl(fd, NS_GET_PARENT);
		if (parent < 0)
			return -ENOENT;
		if (fstat(parent, &status) == 0 && is_same_file(&ours, &status)) {
			close(parent);
			return ioctl(fd, NS_GET_OWNER_UID, uid) < 0 ? -ENOENT : 0;
		}
		close(fd);
		fd = parent;
	}
	return -ENOENT;
}

int process_owner(uint32_t pid, uint32_t *uid)
{
	uint32_t owner;
	int r = real_uid(pid, uid);

	if (r == 0 && namespace_owner(pid, &owner) == 0 && owner != 0)
		*uid = owner;
	return r;
}
