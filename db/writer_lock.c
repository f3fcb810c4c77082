// SPDX-License-Identifier: GPL-2.0-only
#include "db/writer_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

int writer_lock_take(int *fd, const char *path, struct error *err)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int lock = -1;

	if (asprintf(&name, "%s-lock", path) < 0) {
		name = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	/* Mode 0600: other users must not open the file, since reading it is enough to lock it. */
	lock = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (lock < 0)
		return error_set_errno(err, ERROR_OPEN, name);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(err, EBUSY, "'%s' is being written by another process",
					 path);
		return error_set_errno(err, "cannot lock '%s'", name);
	}
	*fd = take_fd(lock);
	return 0;
}

bool writer_lock_is_held(const char *path)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int lock = -1;

	if (asprintf(&name, "%s-lock", path) < 0) {
		name = NULL;
		return true;
	}
	lock = broker_open(BROKER_DATABASE, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (lock < 0)
		return lock != -ENOENT;
	return flock(lock, LOCK_SH | LOCK_NB) < 0;
}
