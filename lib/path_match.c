// SPDX-License-Identifier: GPL-2.0-only
#include "lib/path_match.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/broker.h"
#include "lib/cleanup.h"

#define PATHS_DEFAULT "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

/* The last pattern, and the file that it names via $PATH or as an absolute path; "" if none. */
static _Thread_local char resolved_pattern[NAME_MAX + 1];
static _Thread_local char resolved[PATH_MAX];

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool real_path(const char *path, char ret[PATH_MAX])
{
	_cleanup_free_ char *real = broker_realpath(path);

	return real != NULL && snprintf(ret, PATH_MAX, "%s", real) < PATH_MAX;
}

static void resolve_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (path = path != NULL ? path : PATHS_DEFAULT; *path != '\0'; path += *path == ':') {
		size_t bytes = strcspn(path, ":");
		int n = snprintf(file, sizeof(file), "%.*s/%s", (int)bytes, path, name);

		path += bytes;
		if (n < (int)sizeof(file) && real_path(file, resolved))
			return;
	}
	resolved[0] = '\0';
}

/* Cached, because programs compare one pattern with many paths. */
static const char *resolve(const char *name)
{
	if (strcmp(name, resolved_pattern) != 0) {
		snprintf(resolved_pattern, sizeof(resolved_pattern), "%s", name);
		resolve_in_path(name);
	}
	return resolved;
}

static bool is_linked(const char *path, const char *link)
{
	char target[PATH_MAX];

	return real_path(link, target) && strcmp(target, path) == 0;
}

/* Look for a link in the folder of the file, or in $PATH. */
static bool is_linked_by_name(const char *path, const char *name)
{
	const char *last = last_part(path);
	char link[PATH_MAX];

	if (strlen(name) > NAME_MAX || *name == '\0')
		return false;
	if (snprintf(link, sizeof(link), "%.*s%s", (int)(last - path), path, name) <
		    (int)sizeof(link) &&
	    is_linked(path, link))
		return true;
	return strcmp(resolve(name), path) == 0;
}

bool path_is_pattern(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

bool path_names_file(const char *name)
{
	char file[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return real_path(name, file);
	return *name != '\0' && strlen(name) <= NAME_MAX && *resolve(name) != '\0';
}

bool path_match(const char *path, const char *pattern)
{
	/* "[bpf]" is a pattern that does not match its own text. */
	if (strcmp(path, pattern) == 0 || fnmatch(pattern, path, 0) == 0 ||
	    fnmatch(pattern, last_part(path), 0) == 0)
		return true;
	if (path[0] != '/' || path_is_pattern(pattern))
		return false;
	return strchr(pattern, '/') != NULL ? is_linked(path, pattern)
					    : is_linked_by_name(path, pattern);
}
