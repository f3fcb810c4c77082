// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/symbol_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/file_stamps.h"
#include "analysis/image/image_elf.h"
#include "analysis/image/procedure_index.h"
#include "lib/cache_folder.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

#define INDEX_BYTES_MAX (1LL << 30)
#define NAME_BYTES (2 * PROFILE_IDENTITY_BYTES_MAX + 2)

char *symbol_cache_directory(void)
{
	return cache_folder_path("symbols", "DCPI_SYMBOL_CACHE");
}

/* "ab/cdef...": a file's name in the cache. */
static void make_name(char name[NAME_BYTES], const struct profile_image *image)
{
	size_t length = 0;

	for (size_t i = 0; i < image->identity_bytes; i++)
		length += (size_t)snprintf(name + length, NAME_BYTES - length, "%02x%s",
					   image->identity[i], i == 0 ? "/" : "");
}

/* What is not known by a build-id, or depends on where the program was started, is not kept. */
static bool is_kept(const struct profile_image *image, const struct debug_file_options *options)
{
	return options->cache != NULL && !options->debuginfod &&
	       image->identity_kind == PROFILE_IDENTITY_BUILD_ID && image->identity_bytes >= 2 &&
	       *image->path == '/' && (options->directory == NULL || *options->directory == '/');
}

/*
 * Files of one build-id may differ in the symbols that they have: one may be the other,
 * stripped. Return: malloc'd, or NULL.
 */
static char *make_key(const struct profile_image *image, const struct debug_file_options *options)
{
	const char *directory =
		options->directory != NULL ? options->directory : DEBUG_FILE_DIRECTORY;
	char *key;

	return asprintf(&key, "%s\n%s", image->path, directory) < 0 ? NULL : key;
}

/* Reads a file that only we could write. Return: malloc'd, or NULL. */
static void *read_index(const char *path, size_t *bytes)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_free_ void *memory = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid() || status.st_size <= 0 || status.st_size > INDEX_BYTES_MAX)
		return NULL;
	*bytes = (size_t)status.st_size;
	memory = malloc(*bytes);
	if (memory == NULL || file_read_exactly(fd, memory, *bytes, 0) < 0)
		return NULL;
	cache_folder_touch(fd);
	return take_ptr(memory);
}

static int load(struct procedure_table **ret, const char *path, const char *key)
{
	size_t bytes = 0;
	void *memory = read_index(path, &bytes);

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

/* Whole or not at all; two at a time write the same. */
static void write_index(char *path, const void *bytes, size_t count)
{
	_cleanup_free_ char *part = NULL;
	int fd;
	bool whole;

	if (asprintf(&part, "%s.XXXXXX", path) < 0) {
		part = NULL;
		return;
	}
	cache_folder_make(part);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0)
		return;
	whole = write_all(fd, bytes, count);
	whole = close(fd) == 0 && whole;
	if (!whole || rename(part, path) < 0)
		unlink(part);
	cache_folder_expire(path, 0);
}

/* A copy that its owner could write is known by a build-id that anybody can give a file. */
static bool is_users_copy(const struct procedure_table *table)
{
	static const char suffix[] = ".user.elf";
	const char *path = image_elf_path(procedure_table_image(table));
	size_t length = strlen(path);

	return length >= sizeof(suffix) &&
	       strcmp(path + length - (sizeof(suffix) - 1), suffix) == 0;
}

static void store(const struct procedure_table *table, char *path, const char *key,
		  const struct file_stamps *stamps)
{
	_cleanup_free_ void *bytes = NULL;
	size_t count;

	if (!stamps->failed && !is_users_copy(table) &&
	    procedure_index_make(table, stamps, key, &bytes, &count) == 0)
		write_index(path, bytes, count);
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
	if (load(ret, path, key) == 0)
		return 0;
	noting.stamps = &stamps;
	r = procedure_table_open(ret, image, &noting, err);
	if (r == 0)
		store(*ret, path, key, &stamps);
	file_stamps_deinit(&stamps);
	return r;
}
