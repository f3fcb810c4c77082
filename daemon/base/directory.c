// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/directory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cleanup.h"
#include "lib/error.h"

int directory_make_parent(const char *path, struct error *err)
{
	_cleanup_free_ char *folder = strdup(path);
	char *slash;

	if (folder == NULL)
		return error_set(err, ENOMEM, "out of memory");
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return 0;
	*slash = '\0';
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return error_set_errno(err, "cannot make the folder %s", folder);
	return 0;
}
