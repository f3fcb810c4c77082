// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/file_digest.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"

/* What exactly is mapped there, as long as the mapping stands; needs privilege. */
int image_file_pin(const struct image_event *event)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, event->pid,
		 event->start, event->start + event->bytes);
	return open(path, O_PATH | O_CLOEXEC);
}

int image_file_open_in_root(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* @process: its root; NULL: ours */
static int open_in_root(const struct image_event *event, const uint32_t *process)
{
	_cleanup_close_ int root = -1;
	char path[64];

	snprintf(path, sizeof(path), "/");
	if (process != NULL)
		snprintf(path, sizeof(path), "/proc/%u/root", *process);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : image_file_open_in_root(root, event->path, 0);
}

static int get_key(int fd, struct image_file_key *key)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENODEV;
	key->device = status.st_dev;
	key->inode = status.st_ino;
	key->bytes = (uint64_t)status.st_size;
	key->modified_ns =
		(uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
	key->version = 0;
	return 0;
}

/*
 * Whether what was found is what was mapped. The process may have exec'd since,
 * and have another program at the same addresses, or its path may be another
 * file's now. On btrfs and overlayfs mappings show other devices than stat does;
 * overlayfs other inodes, too, so that size and time must do.
 */
static bool is_mapped_file(const struct image_event *event, const struct image_file_key *key,
			   bool by_path)
{
	if (event->version != 0 &&
	    (event->file_bytes != key->bytes || event->modified_ns != key->modified_ns))
		return false;
	if (event->inode == 0 || event->inode == key->inode)
		return true;
	return event->device != key->device && (event->version != 0 || !by_path);
}

/* Becomes the file's key if @fd is what the event mapped. @fd is closed if not. */
static int check_file(int fd, const struct image_event *event, struct image_file_key *key,
		      bool by_path)
{
	_cleanup_close_ int found = fd;
	int result;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	result = get_key(fd, key);
	if (result < 0)
		return result;
	return is_mapped_file(event, key, by_path) ? take_fd(found) : -ENOENT;
}

int image_file_open(const struct image_event *event, struct image_file_key *key)
{
	int fd = check_file(image_file_pin(event), event, key, false);

	if (fd == -ENOENT || fd == -EACCES)
		fd = check_file(open_in_root(event, &event->pid), event, key, true);
	if (fd == -ENOENT && event->version != 0)
		fd = check_file(open_in_root(event, NULL), event, key, true);
	return fd;
}

int image_file_open_recorded(const struct image_event *event, int64_t before_ns,
			     struct image_file_key *key)
{
	_cleanup_close_ int fd = check_file(open_in_root(event, NULL), event, key, true);

	if (fd < 0)
		return take_fd(fd);
	return key->modified_ns < (uint64_t)before_ns ? take_fd(fd) : -ENOENT;
}

int image_file_open_executable(uint32_t pid, char path[PATH_MAX], struct image_file_key *key)
{
	_cleanup_close_ int fd = -1;
	char link[64];
	ssize_t n;
	int result;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	fd = open(link, O_PATH | O_CLOEXEC);
	n = fd >= 0 ? readlink(link, path, PATH_MAX - 1) : -1;
	if (n < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	path[n] = '\0';
	result = get_key(fd, key);
	return result < 0 ? result : take_fd(fd);
}

int image_file_readable(int fd)
{
	char path[64];
	int readable;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return readable < 0 ? -errno : readable;
}

static void set_identity(struct profile_image *image, enum profile_identity_kind kind,
			 const uint8_t *data, size_t bytes)
{
	image->identity_kind = kind;
	image->identity_bytes = bytes;
	memcpy(image->identity, data, bytes);
}

int image_file_identify(struct profile_image *image, int fd, const struct image_file_key *key)
{
	uint8_t digest[FILE_DIGEST_BYTES];
	_cleanup_close_ int readable = -1;
	struct build_id build_id;
	int result, elf;

	readable = image_file_readable(fd);
	if (readable < 0)
		return readable;
	elf = build_id_from_file(&build_id, readable);
	if (elf == 0) {
		set_identity(image, PROFILE_IDENTITY_BUILD_ID, build_id.data, build_id.bytes);
		return 0;
	}
	result = file_digest(digest, readable, key->bytes);
	if (result < 0)
		return result;
	set_identity(image, PROFILE_IDENTITY_DIGEST, digest, sizeof(digest));
	return elf == -ENOEXEC ? -ENOEXEC : 0;
}
