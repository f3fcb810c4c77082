// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/debug_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/image/elf_file.h"
#include "lib/cache_folder.h"
#include "lib/cleanup.h"
#include "lib/sandbox.h"

/* libdebuginfod's default time for remembering that a file is missing. */
#define MISSING_SECONDS 600
#define CHECK_SECONDS 5

static char *cache_directory(void)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *directory = NULL;
	int length = -1;

	if (path != NULL && *path != '\0')
		return strdup(path);
	if (cache != NULL && *cache == '/')
		length = asprintf(&directory, "%s/debuginfod_client", cache);
	else if (home != NULL && *home == '/')
		length = asprintf(&directory, "%s/.cache/debuginfod_client", home);
	return length < 0 ? NULL : directory;
}

static char *cache_path(const struct debug_server_request *request)
{
	_cleanup_free_ char *directory = cache_directory();
	char id[2 * DEBUG_SERVER_ID_BYTES_MAX + 1], *path;

	if (directory == NULL)
		return NULL;
	debug_server_id(id, request);
	return asprintf(&path, "%s/%s/%s", directory, id, debug_server_kind_name(request->kind)) < 0
		       ? NULL
		       : path;
}

static bool cache_is_whole(const struct elf_file *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) != NULL && header.e_shoff <= file->bytes &&
	       (uint64_t)header.e_shnum * header.e_shentsize <= file->bytes - header.e_shoff;
}

/* struct candidate - a file that may be the requested one */
struct candidate {
	const struct debug_server_request *request;
	int fd;
	uint64_t bytes;
};

static bool candidate_matches(void *context)
{
	const struct candidate *candidate = context;
	const struct debug_server_request *request = candidate->request;
	struct elf_file file = {0};
	const uint8_t *id = NULL;
	bool same;

	if (elf_file_from_fd(&file, candidate->fd, candidate->bytes) < 0)
		return false;
	same = cache_is_whole(&file) && elf_file_build_id(&file, &id) == request->bytes &&
	       memcmp(id, request->id, request->bytes) == 0;
	elf_file_close(&file);
	return same;
}

/* Files from servers are parsed in a sandbox only, not in the process that asks the servers. */
static bool is_requested(const struct debug_server_request *request, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct candidate candidate = {.request = request, .fd = fd};
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	candidate.bytes = (uint64_t)status.st_size;
	return sandbox_check(candidate_matches, &candidate, CHECK_SECONDS);
}

enum debug_cache_state debug_cache_find(const struct debug_server_request *request, char **path)
{
	_cleanup_free_ char *file = cache_path(request);
	struct stat status;

	if (file == NULL || stat(file, &status) < 0)
		return DEBUG_CACHE_UNKNOWN;
	if (status.st_size == 0)
		return time(NULL) - status.st_mtime < MISSING_SECONDS ? DEBUG_CACHE_MISSING
								      : DEBUG_CACHE_UNKNOWN;
	if (!is_requested(request, file))
		return DEBUG_CACHE_UNKNOWN;
	*path = take_ptr(file);
	return DEBUG_CACHE_FOUND;
}

int debug_cache_incoming(const struct debug_server_request *request)
{
	_cleanup_free_ char *path = cache_path(request);
	char *slash;
	int fd;

	if (path == NULL)
		return -ENOENT;
	cache_folder_make(path);
	slash = strrchr(path, '/');
	*slash = '\0';
	fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int debug_cache_put(const struct debug_server_request *request, int fd, char **path)
{
	_cleanup_free_ char *file = cache_path(request);
	char open_file[32];

	if (file == NULL)
		return -ENOMEM;
	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
	if (!is_requested(request, open_file))
		return -EBADMSG;
	/*
	 * An empty file means that servers do not have the file. Another process may have been
	 * faster.
	 */
	if (linkat(AT_FDCWD, open_file, AT_FDCWD, file, AT_SYMLINK_FOLLOW) < 0) {
		if (errno != EEXIST || unlink(file) < 0 ||
		    linkat(AT_FDCWD, open_file, AT_FDCWD, file, AT_SYMLINK_FOLLOW) < 0)
			return -errno;
	}
	*path = take_ptr(file);
	return 0;
}
