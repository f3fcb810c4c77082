// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/image_unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "daemon/image/image_file.h"
#include "daemon/unwind/unwind_build.h"
#include "lib/cleanup.h"
#include "lib/file_digest.h"
#include "loader-hook/build_id.h"
#include "loader-hook/vdso.h"

#ifndef ZFS_SUPER_MAGIC
#define ZFS_SUPER_MAGIC 0x2fc12fc1
#endif

/* File systems on a disk or in memory. */
static bool is_local(int fd)
{
	static const long types[] = {EXT4_SUPER_MAGIC,	XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,
				     F2FS_SUPER_MAGIC,	TMPFS_MAGIC,	      RAMFS_MAGIC,
				     SQUASHFS_MAGIC,	EROFS_SUPER_MAGIC_V1, OVERLAYFS_SUPER_MAGIC,
				     ISOFS_SUPER_MAGIC, ZFS_SUPER_MAGIC};
	struct statfs status;

	if (fstatfs(fd, &status) < 0)
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if ((long)status.f_type == types[i])
			return true;
	}
	return false;
}

static bool has_build_id(const struct image_unwind_identity *identity, int fd)
{
	struct build_id found;

	return build_id_from_file(&found, fd) == 0 && found.bytes == identity->bytes &&
	       memcmp(found.data, identity->data, found.bytes) == 0;
}

static bool has_digest(const struct image_unwind_identity *identity, int fd)
{
	uint8_t digest[FILE_DIGEST_BYTES];
	struct build_id build_id;
	struct stat status;

	return identity->bytes == sizeof(digest) && build_id_from_file(&build_id, fd) < 0 &&
	       fstat(fd, &status) == 0 && file_digest(digest, fd, (uint64_t)status.st_size) == 0 &&
	       memcmp(digest, identity->data, sizeof(digest)) == 0;
}

bool image_unwind_is_file(const struct image_unwind_identity *identity, int fd)
{
	if (identity->bytes == 0)
		return false;
	return identity->build_id ? has_build_id(identity, fd) : has_digest(identity, fd);
}

static void identity_get(struct image_unwind_identity *identity, const struct profile_image *image)
{
	const uint8_t *data;
	size_t bytes;

	*identity = (struct image_unwind_identity){.bytes = 0};
	data = profile_image_build_id(image, &bytes);
	identity->build_id = data != NULL;
	if (data == NULL && image->identity_kind == PROFILE_IDENTITY_DIGEST) {
		data = image->identity;
		bytes = image->identity_bytes;
	}
	if (data == NULL || bytes > sizeof(identity->data))
		return;
	memcpy(identity->data, data, bytes);
	identity->bytes = (uint32_t)bytes;
}

/* Return: a descriptor (O_PATH). */
static int file_find(const struct profile_image *image, const char *root_path)
{
	_cleanup_close_ int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = -1;
	struct image_file_key key;

	fd = root < 0 ? -1 : image_file_open_in_root(root, image->path, 0);
	if (fd < 0 || image_file_get_key(fd, &key) < 0)
		return -ENOENT;
	return is_local(fd) ? take_fd(fd) : -EREMOTE;
}

static bool is_system_identity(const struct profile_image *image)
{
	return image->identity_kind == PROFILE_IDENTITY_BUILD_ID ||
	       image->identity_kind == PROFILE_IDENTITY_DIGEST;
}

static bool is_same_file(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

int image_unwind_find(int files[IMAGE_UNWIND_FILES], struct image_unwind_identity *identity,
		      const struct profile_image *image, uint32_t pid)
{
	_cleanup_close_ int here = -1, there = -1;
	char root[64];

	files[0] = files[1] = -1;
	identity_get(identity, image);
	if (image->kind != PROFILE_IMAGE_FILE || identity->bytes == 0)
		return -ENOENT;
	here = file_find(image, "/");
	if (!is_system_identity(image)) {
		snprintf(root, sizeof(root), "/proc/%u/root", pid);
		there = file_find(image, root);
	}
	if (here < 0 && there < 0)
		return here == -EREMOTE || there == -EREMOTE ? -EREMOTE : -ENOENT;
	if (here < 0) {
		files[0] = take_fd(there);
		return 0;
	}
	if (there >= 0 && !is_same_file(here, there))
		files[1] = take_fd(there);
	files[0] = take_fd(here);
	return 0;
}

int image_unwind_build(struct unwind_table **ret, const struct image_unwind_identity *identity,
		       int fd, const struct unwind_wanted *wanted)
{
	const struct unwind_file file = {.fd = fd};

	return image_unwind_is_file(identity, fd) ? unwind_build_pages(ret, &file, wanted)
						  : -ENOENT;
}

int image_unwind_vdso(struct unwind_table **ret)
{
	struct unwind_file file = {.fd = -1};

	file.data = vdso_file(&file.bytes);
	return file.data != NULL ? unwind_build(ret, &file) : -ENOENT;
}
