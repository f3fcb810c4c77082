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
#include "lib/error_text.h"
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
 *            unique to this archive, because an abandoned copier may continue while another one has
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

static void group_give(struct archive_dir *archive, int fd)
{
	if (fchown(fd, (uid_t)-1, archive->group) < 0)
		archive->group = (gid_t)-1; /* not permitted */
}

static void evict_to(struct archive_dir *archive, uint64_t bytes_max, size_t copies_max)
{
	while ((archive->bytes > bytes_max || archive->count > copies_max) && archive->count > 0) {
		struct copy *first = &archive->copies[0];
		size_t i;

		for (i = 1; i < archive->count; i++) {
			if (archive->copies[i].expires_ns < first->expires_ns)
				first = &archive->copies[i];
		}
		/* A copy that cannot be removed is no longer counted. */
		if (unlinkat(archive->fd, first->name, 0) == 0)
			archive->evicted++;
		archive->bytes -= first->bytes;
		*first = archive->copies[--archive->count];
	}
}

static int copy_add(struct archive_dir *archive, const char *name, const struct stat *status)
{
	struct copy *copy;

	if (archive->count == ARCHIVE_DIR_MAX ||
	    array_reserve(&archive->copies, &archive->capacity, archive->count + 1,
			  sizeof(*archive->copies)) < 0)
		return -ENOMEM;
	copy = &archive->copies[archive->count++];
	snprintf(copy->name, sizeof(copy->name), "%s", name);
	copy->bytes = (uint64_t)status->st_blocks * 512;
	copy->expires_ns =
		(int64_t)status->st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status->st_mtim.tv_nsec;
	archive->bytes += copy->bytes;
	return 0;
}

/* Call @visit for each entry of a directory except "." and "..". */
static int directory_walk(struct archive_dir *archive, const char *path,
			  int (*visit)(struct archive_dir *archive, const char *parent,
				       const char *name))
{
	int fd = openat(archive->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc = 0;
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
			rc = visit(archive, path, entry->d_name);
	}
	closedir(directory);
	return rc;
}

static int file_visit(struct archive_dir *archive, const char *parent, const char *name)
{
	char path[IMAGE_STORE_NAME_BYTES];
	struct stat status;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", parent, name) >= sizeof(path) ||
	    fstatat(archive->fd, path, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode))
		return 0;
	return copy_add(archive, path, &status);
}

static int folder_visit(struct archive_dir *archive, const char *parent, const char *name)
{
	(void)parent;
	return strlen(name) == 2 ? directory_walk(archive, name, file_visit) : 0;
}

/* Remove an incomplete copy of a previous owner of the directory. */
static int incoming_visit(struct archive_dir *archive, const char *parent, const char *name)
{
	(void)parent;
	if (strncmp(name, INCOMING, strlen(INCOMING)) == 0)
		unlinkat(archive->fd, name, 0);
	return 0;
}

static void incoming_name(struct archive_dir *archive)
{
	static atomic_uint shelves;

	snprintf(archive->incoming, sizeof(archive->incoming), INCOMING "-%d-%u", (int)getpid(),
		 atomic_fetch_add(&shelves, 1));
}

int archive_dir_open(struct archive_dir **ret, const char *directory, uint64_t bytes_max,
		     int64_t group, struct error *err)
{
	struct archive_dir *archive = calloc(1, sizeof(*archive));
	bool made;
	int rc;

	if (archive == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	*archive = (struct archive_dir){
		.fd = -1, .group = group < 0 ? (gid_t)-1 : (gid_t)group, .bytes_max = bytes_max};
	made = mkdir(directory, 0750) == 0;
	archive->fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (archive->fd < 0) {
		rc = error_set_errno(err, ERROR_OPEN, directory);
		archive_dir_close(archive);
		return rc;
	}
	if (made)
		group_give(archive, archive->fd);
	incoming_name(archive);
	directory_walk(archive, ".", incoming_visit);
	rc = directory_walk(archive, ".", folder_visit);
	if (rc < 0 && archive->count < ARCHIVE_DIR_MAX) {
		archive_dir_close(archive);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	evict_to(archive, bytes_max, ARCHIVE_DIR_MAX);
	*ret = archive;
	return 0;
}

void archive_dir_close(struct archive_dir *archive)
{
	if (archive == NULL)
		return;
	if (archive->fd >= 0) {
		unlinkat(archive->fd, archive->incoming, 0);
		close(archive->fd);
	}
	free(archive->copies);
	free(archive);
}

bool archive_dir_has(const struct archive_dir *archive, const char *name)
{
	return faccessat(archive->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int room_check(const struct archive_dir *archive, uint64_t bytes)
{
	struct statvfs status;
	uint64_t available, all;

	if (fstatvfs(archive->fd, &status) < 0)
		return -errno;
	available = (uint64_t)status.f_bavail * status.f_frsize;
	all = (uint64_t)status.f_blocks * status.f_frsize;
	return available < bytes || available - bytes < all / FREE_SHARE ? -ENOSPC : 0;
}

int archive_dir_incoming(struct archive_dir *archive, uint64_t bytes, int *error)
{
	int fd;

	*error = room_check(archive, bytes);
	if (*error < 0)
		return -1;
	fd = openat(archive->fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	archive->is_named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
	if (archive->is_named) {
		unlinkat(archive->fd, archive->incoming, 0);
		fd = openat(archive->fd, archive->incoming,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		*error = -errno;
	return fd;
}

void archive_dir_discard(struct archive_dir *archive)
{
	if (archive->is_named)
		unlinkat(archive->fd, archive->incoming, 0);
}

static struct copy *copy_find(struct archive_dir *archive, const char *name)
{
	size_t i;

	for (i = 0; i < archive->count; i++) {
		if (strcmp(archive->copies[i].name, name) == 0)
			return &archive->copies[i];
	}
	return NULL;
}

static struct timespec expiry_time(int64_t expires_ns)
{
	return (struct timespec){.tv_sec = (time_t)(expires_ns / (int64_t)NS_PER_SECOND),
				 .tv_nsec = (long)(expires_ns % (int64_t)NS_PER_SECOND)};
}

static int time_set(struct archive_dir *archive, const char *name, int64_t expires_ns)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, expiry_time(expires_ns)};

	return utimensat(archive->fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Give a copy its name, replacing an existing file. */
static int name_give(const struct archive_dir *archive, int fd, const char *name)
{
	char path[64];

	if (archive->is_named)
		return renameat(archive->fd, archive->incoming, archive->fd, name) < 0 ? -errno : 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unlinkat(archive->fd, name, 0);
	return linkat(AT_FDCWD, path, archive->fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Create the directory named after the first two digits. */
static void folder_make(struct archive_dir *archive, const char *name)
{
	char folder[3] = {name[0], name[1], '\0'};
	_cleanup_close_ int fd = -1;

	if (mkdirat(archive->fd, folder, 0750) < 0)
		return;
	fd = openat(archive->fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		group_give(archive, fd);
}

int archive_dir_put(struct archive_dir *archive, int fd, const char *name, int64_t expires_ns)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, expiry_time(expires_ns)};
	struct stat status;
	uint64_t bytes;
	int rc;

	if (fstat(fd, &status) < 0)
		return -errno;
	bytes = (uint64_t)status.st_blocks * 512;
	evict_to(archive, bytes < archive->bytes_max ? archive->bytes_max - bytes : 0,
		 ARCHIVE_DIR_MAX - 1);
	folder_make(archive, name);
	futimens(fd, times);
	group_give(archive, fd);
	if (fchmod(fd, 0640) < 0)
		return -errno;
	rc = name_give(archive, fd, name);
	if (rc < 0)
		return rc;
	fstat(fd, &status);
	rc = copy_add(archive, name, &status);
	if (rc < 0)
		unlinkat(archive->fd, name, 0); /* otherwise it would never be evicted */
	return rc;
}

int archive_dir_touch(struct archive_dir *archive, const char *name, int64_t expires_ns)
{
	struct copy *copy = copy_find(archive, name);
	int rc = 0;

	if (copy == NULL)
		return -ENOENT;
	if (expires_ns > copy->expires_ns)
		rc = time_set(archive, name, expires_ns);
	if (rc == -ENOENT) { /* removed by another program */
		archive->bytes -= copy->bytes;
		*copy = archive->copies[--archive->count];
	} else if (expires_ns > copy->expires_ns) {
		copy->expires_ns = expires_ns;
	}
	return rc;
}

void archive_dir_count(const struct archive_dir *archive, uint64_t *files, uint64_t *bytes,
		       uint64_t *evicted)
{
	*files = archive->count;
	*bytes = archive->bytes;
	*evicted = archive->evicted;
}
