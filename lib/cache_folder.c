// SPDX-License-Identifier: GPL-2.0-only
#include "lib/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/cleanup.h"

#define DAY_SECONDS 86400
#define KEEP_DAYS 30

char *cache_folder_path(const char *what, const char *variable)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *wanted = getenv(variable);
	struct stat status;
	char *path = NULL;
	bool own = base != NULL && *base == '/';

	if (wanted != NULL && strcmp(wanted, "off") == 0)
		return NULL;
	if (!own)
		base = home != NULL && *home == '/' ? home : NULL;
	if (base == NULL || (stat(base, &status) == 0 && status.st_uid != geteuid()))
		return NULL;
	if (asprintf(&path, "%s%s/dcpi/%s", base, own ? "" : "/.cache", what) < 0)
		return NULL;
	return path;
}

void cache_folder_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

void cache_folder_touch(int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && time(NULL) - status.st_mtime > DAY_SECONDS)
		futimens(fd, NULL);
}

struct cached_file {
	char *name;
	time_t used;
	uint64_t bytes;
};

struct cached_files {
	struct cached_file *list;
	size_t count;
	size_t capacity;
};

static void add_file(struct cached_files *files, const char *name, const struct stat *status)
{
	if (array_reserve(&files->list, &files->capacity, files->count + 1, sizeof(*files->list)) <
	    0)
		return;
	files->list[files->count] = (struct cached_file){
		.name = strdup(name),
		.used = status->st_mtime,
		.bytes = (uint64_t)status->st_size,
	};
	files->count += files->list[files->count].name != NULL;
}

static int latest_first(const void *a, const void *b)
{
	const struct cached_file *x = a, *y = b;

	return (x->used < y->used) - (x->used > y->used);
}

static void cache_folder_forget(int folder, struct cached_files *files, uint64_t bytes_max)
{
	uint64_t bytes = 0;

	if (files->count > 0)
		qsort(files->list, files->count, sizeof(*files->list), latest_first);
	for (size_t i = 0; i < files->count; i++) {
		const struct cached_file *file = &files->list[i];

		bytes += file->bytes;
		if ((bytes_max > 0 && bytes > bytes_max) ||
		    time(NULL) - file->used > (time_t)KEEP_DAYS * DAY_SECONDS)
			unlinkat(folder, file->name, 0);
		free(file->name);
	}
	free(files->list);
}

void cache_folder_expire(const char *path, uint64_t bytes_max)
{
	_cleanup_free_ char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
	DIR *directory = folder != NULL ? opendir(folder) : NULL;
	struct cached_files files = {0};
	const struct dirent *entry;
	struct stat status;

	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode))
			add_file(&files, entry->d_name, &status);
	}
	cache_folder_forget(dirfd(directory), &files, bytes_max);
	closedir(directory);
}
