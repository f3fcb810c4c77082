// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive/archive_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/image_store.h"

#define INCOMING "incoming"
#define INCOMING_BYTES 48
/* The database needs the space more: this fraction of the file system stays free. */
#define FREE_SHARE 20

struct copy {
	char name[IMAGE_STORE_NAME_BYTES];
	uint64_t bytes;
	int64_t expires_ns;
};

/*
 * @incoming: name of a copy in progress, if the file system does not support unnamed files. It is
 *            unique to this shelf, because an abandoned copier may continue while another one has
 *            the directory
 * @is_named: the most recent copy has that name
 */
struct archive_dir {
	int fd;
	char incoming[INCOMING_BYTES];
	bool is_named;
	gid_t group;
	uint64_t bytes_max;
	struct copy *copies;
	size_t count;
	size_t capacity;
	uint64_t bytes;
	uint64_t evicted;
};

static void group_give(struct archive_dir *shelf, int fd)
{
	if (fchown(fd, (uid_t)-1, shelf->group) < 0)
		shelf->group = (gid_t)-1; /* not permitted */
}

static void evict_to(struct archive_dir *shelf, uint64_t bytes_max, size_t copies_max)
{
	while ((shelf->bytes > bytes_max || shelf->count > copies_max) && shelf->count > 0) {
		struct copy *first = &shelf->copies[0];
		size_t i;

		for (i = 1; i < shelf->count; i++) {
			if (shelf->copies[i].expires_ns < first->expires_ns)
				first = &shelf->copies[i];
		}
		/* A copy that cannot be removed is no longer counted. */
		if (unlinkat(shelf->fd, first->name, 0) == 0)
			shelf->evicted++;
		shelf->bytes -= first->bytes;
		*first = shelf->copies[--shelf->count];
	}
}

static int copy_add(struct archive_dir *shelf, const char *name, const struct stat *status)
{
	struct copy *copy;

	if (shelf->count == ARCHIVE_DIR_MAX ||
	    array_reserve(&shelf->copies, &shelf->capacity, shelf->count + 1,
			  sizeof(*shelf->copies)) < 0)
		return -ENOMEM;
	copy = &shelf->copies[shelf->count++];
	snprintf(copy->name, sizeof(copy->name), "%s", name);
	copy->bytes = (uint64_t)status->st_blocks * 512;
	copy->expires_ns =
		(int64_t)status->st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status->st_mtim.tv_nsec;
	shelf->bytes += copy->bytes;
	return 0;
}

/* Call @visit for each entry of a directory except "." and "..". */
static int directory_walk(struct archive_dir *shelf, const char *path,
			  int (*visit)(struct archive_dir *shelf, const char *parent,
				       const char *name))
{
	int fd = openat(shelf->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct dirent *entry;
	DIR *directory;

	if (fd < 0)
		return 0; /* not a directory: some other file */
	directory = fdopendir(fd);
	if (directory == NULL) {
		close(fd);
		return -ENOMEM;
	}
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] != '.')
			rc = visit(shelf, path, entry->d_name);
	}
	closedir(directory);
	return rc;
}

static int file_visit(struct archive_dir *shelf, const char *parent, const char *name)
{
	char path[IMAGE_STORE_NAME_BYTES];
	struct stat status;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", parent, name) >= sizeof(path) ||
	    fstatat(shelf->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return 0;
	return copy_add(shelf, path, &status);
}

static int folder_visit(struct archive_dir *shelf, const char *parent, const char *name)
{
	(void)parent;
	return strlen(name) == 2 ? directory_walk(shelf, name, file_visit) : 0;
}

/* Remove an incomplete copy of a previous owner of the directory. */
static int incoming_visit(struct archive_dir *shelf, const char *parent, const char *name)
{
	(void)parent;
	if (strncmp(name, INCOMING, strlen(INCOMING)) == 0)
		unlinkat(shelf->fd, name, 0);
	return 0;
}

static void incoming_name(struct archive_dir *shelf)
{
	static atomic_uint shelves;

	snprintf(shelf->incoming, sizeof(shelf->incoming), INCOMING "-%d-%u", (int)getpid(),
		 atomic_fetch_add(&shelves, 1));
}

int archive_dir_open(struct archive_dir **ret, const char *directory, uint64_t bytes_max,
		     int64_t group, struct error *err)
{
	struct archive_dir *shelf = calloc(1, sizeof(*shelf));
	bool made;
	int rc;

	if (shelf == NULL)
		return error_set(err, ENOMEM, "out of memory");
	*shelf = (struct archive_dir){
		.fd = -1, .group = group < 0 ? (gid_t)-1 : (gid_t)group, .bytes_max = bytes_max};
	made = mkdir(directory, 0750) == 0;
	shelf->fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shelf->fd < 0) {
		rc = error_set_errno(err, "cannot open %s", directory);
		archive_dir_close(shelf);
		return rc;
	}
	if (made)
		group_give(shelf, shelf->fd);
	incoming_name(shelf);
	directory_walk(shelf, ".", incoming_visit);
	rc = directory_walk(shelf, ".", folder_visit);
	if (rc < 0 && shelf->count < ARCHIVE_DIR_MAX) {
		archive_dir_close(shelf);
		return error_set(err, ENOMEM, "out of memory");
	}
	evict_to(shelf, bytes_max, ARCHIVE_DIR_MAX);
	*ret = shelf;
	return 0;
}

void archive_dir_close(struct archive_dir *shelf)
{
	if (shelf == NULL)
		return;
	if (shelf->fd >= 0) {
		unlinkat(shelf->fd, shelf->incoming, 0);
		close(shelf->fd);
	}
	free(shelf->copies);
	free(shelf);
}

bool archive_dir_has(const struct archive_dir *shelf, const char *name)
{
	return faccessat(shelf->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int room_check(const struct archive_dir *shelf, uint64_t bytes)
{
	struct statvfs status;
	uint64_t available, all;

	if (fstatvfs(shelf->fd, &status) < 0)
		return -errno;
	available = (uint64_t)status.f_bavail * status.f_frsize;
	all = (uint64_t)status.f_blocks * status.f_frsize;
	return available < bytes || available - bytes < all / FREE_SHARE ? -ENOSPC : 0;
}

int archive_dir_incoming(struct archive_dir *shelf, uint64_t bytes, int *error)
{
	int fd;

	*error = room_check(shelf, bytes);
	if (*error < 0)
		return -1;
	fd = openat(shelf->fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	shelf->is_named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
	if (shelf->is_named) {
		unlinkat(shelf->fd, shelf->incoming, 0);
		fd = openat(shelf->fd, shelf->incoming,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		*error = -errno;
	return fd;
}

void archive_dir_discard(struct archive_dir *shelf)
{
	if (shelf->is_named)
		unlinkat(shelf->fd, shelf->incoming, 0);
}

static struct copy *copy_find(struct archive_dir *shelf, const char *name)
{
	size_t i;

	for (i = 0; i < shelf->count; i++) {
		if (strcmp(shelf->copies[i].name, name) == 0)
			return &shelf->copies[i];
	}
	return NULL;
}

static struct timespec expiry_time(int64_t expires_ns)
{
	return (struct timespec){.tv_sec = (time_t)(expires_ns / (int64_t)NS_PER_SECOND),
				 .tv_nsec = (long)(expires_ns % (int64_t)NS_PER_SECOND)};
}

static int time_set(struct archive_dir *shelf, const char *name, int64_t expires_ns)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, expiry_time(expires_ns)};

	return utimensat(shelf->fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Give a copy its name, replacing an existing file. */
static int name_give(const struct archive_dir *shelf, int fd, const char *name)
{
	char path[64];

	if (shelf->is_named)
		return renameat(shelf->fd, shelf->incoming, shelf->fd, name) < 0 ? -errno : 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unlinkat(shelf->fd, name, 0);
	return linkat(AT_FDCWD, path, shelf->fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Create the directory named after the first two digits. */
static void folder_make(struct archive_dir *shelf, const char *name)
{
	char folder[3] = {name[0], name[1], '\0'};
	_cleanup_close_ int fd = -1;

	if (mkdirat(shelf->fd, folder, 0750) < 0)
		return;
	fd = openat(shelf->fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		group_give(shelf, fd);
}

int archive_dir_put(struct archive_dir *shelf, int fd, const char *name, int64_t expires_ns)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, expiry_time(expires_ns)};
	struct stat status;
	uint64_t bytes;
	int rc;

	if (fstat(fd, &status) < 0)
		return -errno;
	bytes = (uint64_t)status.st_blocks * 512;
	evict_to(shelf, bytes < shelf->bytes_max ? shelf->bytes_max - bytes : 0,
		 ARCHIVE_DIR_MAX - 1);
	folder_make(shelf, name);
	futimens(fd, times);
	group_give(shelf, fd);
	if (fchmod(fd, 0640) < 0)
		return -errno;
	rc = name_give(shelf, fd, name);
	if (rc < 0)
		return rc;
	fstat(fd, &status);
	rc = copy_add(shelf, name, &status);
	if (rc < 0)
		unlinkat(shelf->fd, name, 0); /* otherwise it would never be evicted */
	return rc;
}

int archive_dir_touch(struct archive_dir *shelf, const char *name, int64_t expires_ns)
{
	struct copy *copy = copy_find(shelf, name);
	int rc = 0;

	if (copy == NULL)
		return -ENOENT;
	if (expires_ns > copy->expires_ns)
		rc = time_set(shelf, name, expires_ns);
	if (rc == -ENOENT) { /* removed by another program */
		shelf->bytes -= copy->bytes;
		*copy = shelf->copies[--shelf->count];
	} else if (expires_ns > copy->expires_ns) {
		copy->expires_ns = expires_ns;
	}
	return rc;
}

void archive_dir_count(const struct archive_dir *shelf, uint64_t *files, uint64_t *bytes,
		       uint64_t *evicted)
{
	*files = shelf->count;
	*bytes = shelf->bytes;
	*evicted = shelf->evicted;
}
