// SPDX-License-Identifier: GPL-2.0-only
#include "lib/local_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

static void directory_create(const char *path)
{
	char directory[LOCAL_SOCKET_PATH_BYTES];
	char *slash;
	mode_t mask;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (slash == NULL || slash == directory)
		return;
	*slash = '\0';
	/* Every process that may connect must be able to search it. bind() reports an error. */
	mask = umask(022);
	mkdir(directory, 0755);
	umask(mask);
}

/* Remove a socket only if no process listens on it. */
static int stale_remove(const struct sockaddr_un *address, int type, struct error *err)
{
	_cleanup_close_ int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (lstat(address->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, EADDRINUSE, "'%s' is not a socket", address->sun_path);
	if (fd < 0)
		return error_set_errno(err, ERROR_SOCKET);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return error_set(err, EADDRINUSE, "another daemon listens on '%s'",
				 address->sun_path);
	unlink(address->sun_path);
	return 0;
}

int local_socket_bind(const char *path, int type, mode_t mode, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, EINVAL, ERROR_SOCKET_PATH, path);
	strcpy(address.sun_path, path);
	directory_create(path);
	r = stale_remove(&address, type, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(err, ERROR_SOCKET);
	mask = umask(0777 & ~mode);
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address));
	if (r < 0)
		r = error_set_errno(err, "cannot listen on '%s'", path);
	umask(mask);
	return r < 0 ? r : take_fd(fd);
}
