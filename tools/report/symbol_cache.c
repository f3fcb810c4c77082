// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/symbol_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/file_stamps.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/procedure_index.h"
#include "lib/broker.h"
#include "lib/cache_folder.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"
#include "lib/image_store.h"

#define INDEX_BYTES_MAX (1LL << 30)
#define NAME_BYTES (2 * PROFILE_IDENTITY_BYTES_MAX + 2)

char *symbol_cache_directory(void)
{
	return cache_folder_path("symbols", "DCPI_SYMBOL_CACHE");
}

/* Make "ab/cdef...", the name of a file in the cache. */
static void make_name(char name[NAME_BYTES], const struct profile_image *image)
{
	size_t length = 0;

	for (size_t i = 0; i < image->identity_bytes; i++)
		length += (size_t)snprintf(name + length, NAME_BYTES - length, "%02x%s",
					   image->identity[i], i == 0 ? "/" : "");
}

/* Return true if the identity is derived from the contents and long enough for a name. */
static bool has_key(const struct profile_image *image)
{
	return (image->identity_kind == PROFILE_IDENTITY_BUILD_ID ||
		image->identity_kind == PROFILE_IDENTITY_CONTENT) &&
	       image->identity_bytes >= 2;
}

/*
 * Return true if an index of the image is cached. Images without an absolute path, and options that
 * depend on the working directory or use debuginfod, are not.
 */
static bool is_kept(const struct profile_image *image, const struct debug_file_options *options)
{
	return options->cache != NULL && !options->debuginfod && has_key(image) &&
	       *image->path == '/' && (options->directory == NULL || *options->directory == '/');
}

/*
 * Make the key of an index. It includes the path, because files with the same build-id may have
 * different symbols: one may be stripped. Return: malloc'd, or NULL.
 */
static char *make_key(const struct profile_image *image, const struct debug_file_options *options)
{
	const char *directory =
		options->directory != NULL ? options->directory : DEBUG_FILE_DIRECTORY;
	char *key;

	return asprintf(&key, "%s\n%s", image->path, directory) < 0 ? NULL : key;
}

/* Return true for DIRECTORY/ab/cdef0123... */
static bool is_index_path(const char *directory, const char *path)
{
	size_t bytes = directory != NULL ? strlen(directory) : 0;

	return bytes > 0 && strncmp(path, directory, bytes) == 0 && path[bytes] == '/' &&
	       strspn(path + bytes + 1, "0123456789abcdef") == 2 && path[bytes + 3] == '/' &&
	       path[bytes + 4] != '\0' &&
	       strspn(path + bytes + 4, "0123456789abcdef") == strlen(path + bytes + 4);
}

int symbol_cache_open_index(const char *directory, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (!is_index_path(directory, path))
		return -EPERM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
		return -EPERM;
	cache_folder_touch(fd);
	return take_fd(fd);
}

/* Return: the contents, malloc'd, or NULL. */
static void *read_index(const char *directory, const char *path, size_t *bytes)
{
	_cleanup_close_ int fd = broker_socket() >= 0 ? broker_open(BROKER_INDEX, path, O_RDONLY, 0)
						      : symbol_cache_open_index(directory, path);
	_cleanup_free_ void *memory = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size <= 0 ||
	    status.st_size > INDEX_BYTES_MAX)
		return NULL;
	*bytes = (size_t)status.st_size;
	memory = malloc(*bytes);
	if (memory == NULL || file_read_exactly(fd, memory, *bytes, 0) < 0)
		return NULL;
	return take_ptr(memory);
}

static int symbol_cache_load(struct procedure_table **ret, const char *directory, const char *path,
			     const char *key)
{
	size_t bytes = 0;
	void *memory = read_index(directory, path, &bytes);

	if (memory == NULL)
		return -ENOENT;
	return procedure_index_open(ret, memory, bytes, key);
}

static bool write_all(int fd, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t n = write(fd, bytes, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		count -= (size_t)n;
	}
	return true;
}

static int copy_contents(int to, int from)
{
	char buffer[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, buffer, sizeof(buffer), at)) > 0) {
		at += n;
		if (at > INDEX_BYTES_MAX || !write_all(to, buffer, (size_t)n))
			return -EIO;
	}
	return n < 0 ? -errno : 0;
}

/*
 * The index is renamed into place, so it is complete or missing; concurrent writers store the same.
 */
int symbol_cache_store_index(const char *directory, const char *path, int contents)
{
	_cleanup_free_ char *part = NULL;
	int fd, r;

	if (!is_index_path(directory, path) || contents < 0)
		return -EPERM;
	if (asprintf(&part, "%s.XXXXXX", path) < 0) {
		part = NULL;
		return -ENOMEM;
	}
	cache_folder_make(part);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = copy_contents(fd, contents);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(part, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(part);
	cache_folder_expire(path, 0);
	return r;
}

static void write_index(const char *directory, const char *path, const void *bytes, size_t count)
{
	_cleanup_close_ int fd = memfd_create("index", MFD_CLOEXEC);
	struct broker_packet packet;

	if (fd < 0 || !write_all(fd, bytes, count))
		return;
	if (broker_socket() < 0) {
		symbol_cache_store_index(directory, path, fd);
		return;
	}
	broker_packet_init(&packet, BROKER_STORE_INDEX);
	packet.fds[0] = fd;
	if (broker_packet_set_text(&packet, path) == 0)
		broker_ask(&packet);
}

static void symbol_cache_store(const struct procedure_table *table, const char *directory,
			       const char *path, const char *key, const struct file_stamps *stamps)
{
	_cleanup_free_ void *bytes = NULL;
	size_t count;

	if (!stamps->failed && procedure_index_make(table, stamps, key, &bytes, &count) == 0)
		write_index(directory, path, bytes, count);
}

int symbol_cache_open(struct procedure_table **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err)
{
	struct debug_file_options noting = *options;
	struct file_stamps stamps = {0};
	_cleanup_free_ char *path = NULL, *key = NULL;
	char name[NAME_BYTES];
	int r;

	if (!is_kept(image, options))
		return procedure_table_open(ret, image, options, err);
	make_name(name, image);
	if (asprintf(&path, "%s/%s", options->cache, name) < 0)
		path = NULL;
	key = make_key(image, options);
	if (path == NULL || key == NULL)
		return procedure_table_open(ret, image, options, err);
	if (symbol_cache_load(ret, options->cache, path, key) == 0)
		return 0;
	noting.stamps = &stamps;
	r = procedure_table_open(ret, image, &noting, err);
	if (r == 0)
		symbol_cache_store(*ret, options->cache, path, key, &stamps);
	file_stamps_deinit(&stamps);
	return r;
}
