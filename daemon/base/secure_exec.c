// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/secure_exec.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/cleanup.h"

/* Find the file that execvp(3) would run. Return: allocated; NULL if there is none. */
static char *command_find(const char *command)
{
	const char *path = getenv("PATH");
	char *file;

	if (strchr(command, '/') != NULL)
		return strdup(command);
	for (path = path != NULL ? path : "/bin:/usr/bin"; *path != '\0'; path++) {
		size_t bytes = strcspn(path, ":");

		if (asprintf(&file, "%.*s/%s", bytes > 0 ? (int)bytes : 1, bytes > 0 ? path : ".",
			     command) < 0)
			return NULL;
		if (access(file, X_OK) == 0)
			return file;
		free(file);
		path += bytes;
		if (*path == '\0')
			break;
	}
	return NULL;
}

/* The kernel ignores the set-ID bits of scripts. */
static bool is_script(const char *file)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[2] = "";

	return fd >= 0 && read(fd, start, 2) == 2 && memcmp(start, "#!", 2) == 0;
}

static bool ignores_privileges(const char *file)
{
	struct statvfs system;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	       (statvfs(file, &system) == 0 && (system.f_flag & ST_NOSUID) != 0);
}

static const char *privileges(const char *file, const struct stat *status)
{
	if (ignores_privileges(file) || is_script(file))
		return NULL;
	if ((status->st_mode & S_ISUID) != 0 && status->st_uid != getuid())
		return "it is set-user-ID";
	/* Without group execute permission, the set-group-ID bit has another meaning. */
	if ((status->st_mode & S_ISGID) != 0 && (status->st_mode & S_IXGRP) != 0 &&
	    status->st_gid != getgid())
		return "it is set-group-ID";
	if (geteuid() != 0 && getxattr(file, "security.capability", NULL, 0) > 0)
		return "it has file capabilities";
	return NULL;
}

const char *secure_exec_reason(const char *command)
{
	_cleanup_free_ char *file = command_find(command);
	struct stat status;

	if (file == NULL || stat(file, &status) < 0 || access(file, X_OK) < 0)
		return NULL;
	if (access(file, R_OK) < 0)
		return "its file may be executed but not read";
	return privileges(file, &status);
}
