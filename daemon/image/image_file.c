// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/file_digest.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"

#define LINK_BYTES 96
/* Timestamps of changes have the resolution of the clock tick, at 100 Hz or more. */
#define TICK_NS (10 * NS_PER_MS)

/*
 * The link refers to the mapped file itself as long as the mapping exists; following it needs
 * privileges.
 */
static void mapping_link(char link[LINK_BYTES], const struct image_event *event)
{
	snprintf(link, LINK_BYTES, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, event->pid,
		 event->start, event->start + event->bytes);
}

int image_file_pin(const struct image_event *event)
{
	char link[LINK_BYTES];

	mapping_link(link, event);
	return open(link, O_PATH | O_CLOEXEC);
}

int image_file_open_in_root(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* @process: use its root directory; NULL: ours */
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

static uint64_t time_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec;
}

static struct image_file_key key_of(const struct stat *status)
{
	return (struct image_file_key){
		.device = status->st_dev,
		.inode = status->st_ino,
		.bytes = (uint64_t)status->st_size,
		.modified_ns = time_ns(&status->st_mtim),
		.changed_ns = time_ns(&status->st_ctim),
	};
}

int image_file_get_key(int fd, struct image_file_key *key)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENODEV;
	*key = key_of(&status);
	return 0;
}

/* Convert the time of an event of this boot to CLOCK_REALTIME. */
static uint64_t event_real_ns(const struct image_event *event)
{
	return (uint64_t)clock_real_ns() - clock_monotonic_ns() + event->time_ns;
}

enum generation_match {
	GENERATION_SAME,
	GENERATION_OTHER,
	GENERATION_NOT_KNOWN,
};

/*
 * A file handle contains the inode's generation among other values, because it must not refer to a
 * later file with the same inode number.
 */
static enum generation_match generation_match(uint64_t version, int fd)
{
	union {
		struct file_handle head;
		unsigned char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	uint32_t generation = (uint32_t)version, word;
	int mount;

	if (version == 0 || name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH) < 0)
		return GENERATION_NOT_KNOWN;
	for (size_t at = 0; at + sizeof(word) <= handle.head.handle_bytes; at += sizeof(word)) {
		memcpy(&word, handle.head.f_handle + at, sizeof(word));
		if (word == generation)
			return GENERATION_SAME;
	}
	return GENERATION_OTHER;
}

static bool is_on(int fd, long type)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && (long)status.f_type == type;
}

/* On btrfs and overlayfs, mappings and stat() show different devices. */
static bool is_device_ambiguous(int fd)
{
	return is_on(fd, BTRFS_SUPER_MAGIC) || is_on(fd, OVERLAYFS_SUPER_MAGIC);
}

/*
 * If overlayfs also shows another inode, the name of the mapping must match the name in the event,
 * as seen from our root directory.
 */
static bool is_mapping_name(const struct image_event *event, int fd)
{
	char link[LINK_BYTES], name[PATH_MAX];
	size_t bytes = event->path != NULL ? strlen(event->path) : 0;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n > 0 && bytes > 0 && (size_t)n >= bytes &&
	       memcmp(name + (size_t)n - bytes, event->path, bytes) == 0;
}

/*
 * Check a file at the path of a mapping with the same inode number. Unless the generation is known
 * to be the same, it may be a newer file. In any case it may have been written since. The file of a
 * scan is currently mapped.
 */
static bool is_file_of_path(const struct image_event *event, int fd,
			    const struct image_file_key *key, uint64_t before_ns)
{
	if (event->device != key->device && !is_device_ambiguous(fd))
		return false;
	switch (generation_match(event->version, fd)) {
	case GENERATION_SAME:
		return event->has_state || key->changed_ns <= before_ns;
	case GENERATION_OTHER:
		return false;
	case GENERATION_NOT_KNOWN:
		break;
	}
	return event->scanned || event->has_state || key->changed_ns + TICK_NS <= before_ns;
}

/*
 * Return true if the file that was found is the mapped file. The process may have exec'd since, and
 * have another program at the same addresses; its path may refer to another file by now. On btrfs
 * and overlayfs, mappings show other devices than stat(); on overlayfs also other inodes. In that
 * case size and time must suffice, or the mapping's name.
 */
static bool is_mapped_file(const struct image_event *event, int fd,
			   const struct image_file_key *key, bool by_path, uint64_t before_ns)
{
	if (event->has_state &&
	    (event->file_bytes != key->bytes || event->modified_ns != key->modified_ns))
		return false;
	if (event->inode == 0)
		return !by_path;
	if (event->inode != key->inode && by_path)
		return event->has_state && is_on(fd, OVERLAYFS_SUPER_MAGIC) &&
		       key->changed_ns <= before_ns;
	if (event->inode != key->inode)
		return event->device != key->device &&
		       (event->has_state || is_mapping_name(event, fd));
	if (by_path)
		return is_file_of_path(event, fd, key, before_ns);
	return event->has_state || generation_match(event->version, fd) != GENERATION_OTHER;
}

/*
 * Set @key and return @fd if it is the file that the event mapped, otherwise close @fd.
 * @before_ns: when it was mapped, CLOCK_REALTIME
 */
static int check_file(int fd, const struct image_event *event, struct image_file_key *key,
		      bool by_path, uint64_t before_ns)
{
	_cleanup_close_ int found = fd;
	int result;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	result = image_file_get_key(fd, key);
	if (result < 0)
		return result;
	return is_mapped_file(event, fd, key, by_path, before_ns) ? take_fd(found) : -ENOENT;
}

int image_file_open(const struct image_event *event, struct image_file_key *key)
{
	uint64_t before_ns = event_real_ns(event);
	int fd = check_file(image_file_pin(event), event, key, false, before_ns);

	if (fd == -ENOENT || fd == -EACCES)
		fd = check_file(open_in_root(event, &event->pid), event, key, true, before_ns);
	if ((fd == -ENOENT || fd == -EACCES) && event->inode != 0 && !event->scanned)
		fd = check_file(open_in_root(event, NULL), event, key, true, before_ns);
	return fd;
}

void image_file_claim(struct image_file_claim *claim, const struct image_event *event)
{
	*claim = (struct image_file_claim){
		.device = event->device,
		.inode = event->inode,
		.version = event->version,
		.file_bytes = event->file_bytes,
		.modified_ns = event->modified_ns,
		.before_ns = event_real_ns(event),
		.has_state = event->has_state,
		.scanned = event->scanned,
	};
	if (event->has_user)
		claim->reader = (struct file_reader){
			.known = true, .user = event->user, .file_user = event->file_user};
	else
		file_reader_of_process(&claim->reader, event->pid);
}

/* Files of these file systems have no contents of their own, and reading them has side effects. */
static bool is_kernels_data(int fd)
{
	static const long types[] = {PROC_SUPER_MAGIC,	  SYSFS_MAGIC,	      DEBUGFS_MAGIC,
				     TRACEFS_MAGIC,	  SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC,
				     CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,	      PSTOREFS_MAGIC,
				     SELINUX_MAGIC,	  DEVPTS_SUPER_MAGIC, NSFS_MAGIC};
	struct statfs status;

	if (fstatfs(fd, &status) < 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if ((long)status.f_type == types[i])
			return true;
	}
	return false;
}

/* Check a file, regardless of how it was found. Return: 0, or the errors of image_file_check(). */
static int claim_check(const struct image_file_claim *claim, int fd, struct stat *status)
{
	if (fstat(fd, status) < 0)
		return -errno;
	if (!S_ISREG(status->st_mode) || is_kernels_data(fd))
		return -ENODEV;
	if (claim->has_state && (claim->file_bytes != (uint64_t)status->st_size ||
				 claim->modified_ns != time_ns(&status->st_mtim)))
		return -ESTALE;
	return file_reader_permits(&claim->reader, fd, status) ? 0 : -EPERM;
}

int image_file_check(const struct image_file_claim *claim, int fd, struct stat *status)
{
	int result = claim_check(claim, fd, status);

	if (result < 0 || claim->inode == 0)
		return result;
	if (claim->device != status->st_dev)
		return claim->has_state || is_device_ambiguous(fd) ? 0 : -ESTALE;
	return claim->inode == status->st_ino &&
			       generation_match(claim->version, fd) != GENERATION_OTHER
		       ? 0
		       : -ESTALE;
}

/*
 * A file with a reused inode number was changed after the mapping. On btrfs, several files may have
 * the same number, and only their generations differ. On overlayfs neither number need be that of
 * the mapped file.
 */
static int claim_match_path(const struct image_file_claim *claim, int fd, const struct stat *status)
{
	uint64_t changed_ns = time_ns(&status->st_ctim);
	enum generation_match generation;

	if (claim->inode == 0 || is_on(fd, OVERLAYFS_SUPER_MAGIC))
		return -ENOTUNIQ;
	if (claim->inode != status->st_ino || changed_ns > claim->before_ns)
		return -ESTALE;
	generation = generation_match(claim->version, fd);
	if (generation == GENERATION_OTHER)
		return -ESTALE;
	if (claim->device != status->st_dev && !is_on(fd, BTRFS_SUPER_MAGIC))
		return -ESTALE;
	if (generation == GENERATION_SAME)
		return 0;
	if (claim->device != status->st_dev)
		return -ENOTUNIQ;
	return claim->has_state || claim->scanned || changed_ns + TICK_NS <= claim->before_ns
		       ? 0
		       : -ENOTUNIQ;
}

int image_file_open_claimed(const struct image_file_claim *claim, const char *path,
			    struct stat *status)
{
	_cleanup_close_ int fd = -1;
	int result;

	if (claim->inode == 0)
		return -ENOTUNIQ;
	fd = file_reader_open(&claim->reader, path);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if (fstat(fd, status) < 0)
		return -errno;
	result = claim_match_path(claim, fd, status);
	if (result == 0)
		result = claim_check(claim, fd, status);
	return result < 0 ? result : take_fd(fd);
}

static bool is_state(const char *path, const struct image_file_key *state)
{
	struct image_file_key key;
	struct stat status;

	if (fstatat(AT_FDCWD, path, &status, AT_NO_AUTOMOUNT) < 0)
		return false;
	key = key_of(&status);
	return memcmp(&key, state, sizeof(key)) == 0;
}

bool image_file_unchanged(const struct image_event *event, const struct image_file_key *state)
{
	char link[LINK_BYTES];

	mapping_link(link, event);
	return is_state(link, state) ||
	       (event->path != NULL && event->path[0] == '/' && is_state(event->path, state) &&
		state->changed_ns <= event_real_ns(event));
}

int image_file_open_recorded(const struct image_event *event, int64_t before_ns,
			     struct image_file_key *key)
{
	/* Old records contain no inode: the path and the time must suffice. */
	bool by_path = event->inode != 0;
	_cleanup_close_ int fd =
		check_file(open_in_root(event, NULL), event, key, by_path, (uint64_t)before_ns);

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
	result = image_file_get_key(fd, key);
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
