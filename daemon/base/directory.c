// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* @folder may have been replaced since mkdir(): set the mode and the group through a descriptor. */
static void folder_set(const char *folder, mode_t mode, gid_t group)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fchown(fd, (uid_t)-1, group) < 0)
		log_info("cannot change the group of '%s': %s", folder, strerror(errno));
	fchmod(fd, mode);
}

int directory_make_parent(const char *path, mode_t mode, gid_t group, struct error *err)
{
	_cleanup_free_ char *folder = strdup(path);
	char *slash;

	if (folder == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return 0;
	*slash = '\0';
	if (mkdir(folder, mode) == 0)
		folder_set(folder, mode, group);
	else if (errno != EEXIST)
		return error_set_errno(err, ERROR_CREATE, folder);
	return 0;
}
