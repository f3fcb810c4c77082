// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/library_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

/* A library is named "libz" or "libz.so.1", for example. */
static bool has_name(const char *library, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(library, wanted, length) == 0 &&
	       (library[length] == '\0' || library[length] == '.');
}

static int get_one(struct library_set *set, size_t index, const struct rewriter_options *options,
		   const char *folder, struct error *err)
{
	const struct needed_library *library = &set->needed.all[index];
	struct runnable *runnable = &set->runnables[index];
	_cleanup_free_ char *otherwise = NULL, *link = NULL;
	int r;

	if (asprintf(&otherwise, "%s/%s", folder, library->name) < 0 ||
	    asprintf(&link, "%s/%s", set->search, library->name) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = runnable_get(runnable, library->path, options, otherwise, err);
	if (r == 0 && symlink(runnable->path, link) < 0)
		r = error_set_errno(err, ERROR_CREATE, link);
	if (r < 0)
		runnable->path = NULL;
	return r;
}

/* A library that cannot be rewritten stays unchanged, unless it was requested by name. */
static int get_wanted(struct library_set *set, size_t index, const char *const *wanted,
		      size_t count, const struct rewriter_options *options, const char *folder,
		      struct error *err)
{
	const struct needed_library *library = &set->needed.all[index];
	bool all = false, named = false;
	int r;

	for (size_t w = 0; w < count; w++) {
		all |= *wanted[w] == '\0';
		named |= *wanted[w] != '\0' && has_name(library->name, wanted[w]);
	}
	if (!all && !named)
		return 0;
	r = get_one(set, index, options, folder, err);
	if (r == 0 || named)
		return r;
	fprintf(stderr, "dcpix: '%s' is not rewritten: %s\n", library->path, err->message);
	return 0;
}

static int unknown_library(const struct library_set *set, const char *program, const char *name,
			   struct error *err)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = name};
	char text[256];

	for (size_t i = 0; i < set->needed.count; i++)
		near_names_add(&near, set->needed.all[i].name);
	near_names_text(&near, text, sizeof(text));
	return error_set(err, ENOENT, "'%s' needs no library '%s'%s", program, name, text);
}

static int check_names(const struct library_set *set, const char *program,
		       const char *const *wanted, size_t count, struct error *err)
{
	for (size_t w = 0; w < count; w++) {
		size_t i = 0;

		while (i < set->needed.count && !has_name(set->needed.all[i].name, wanted[w]))
			i++;
		if (*wanted[w] != '\0' && i == set->needed.count)
			return unknown_library(set, program, wanted[w], err);
	}
	return 0;
}

int library_set_get(struct library_set *set, const char *program, const char *const *wanted,
		    size_t count, const struct rewriter_options *options, const char *folder,
		    struct error *err)
{
	int r = needed_libraries_find(&set->needed, program, err);

	if (r == 0)
		r = check_names(set, program, wanted, count, err);
	if (r < 0)
		return r;
	set->runnables = calloc(set->needed.count + 1, sizeof(*set->runnables));
	if (set->runnables == NULL || asprintf(&set->search, "%s/library", folder) < 0) {
		set->search = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (mkdir(set->search, 0700) < 0)
		return error_set_errno(err, ERROR_CREATE, set->search);
	for (size_t i = 0; r == 0 && i < set->needed.count; i++)
		r = get_wanted(set, i, wanted, count, options, folder, err);
	return r;
}

void library_set_release(struct library_set *set)
{
	for (size_t i = 0; set->runnables != NULL && i < set->needed.count; i++)
		runnable_release(&set->runnables[i]);
}

static void remove_link(const struct library_set *set, const char *name)
{
	_cleanup_free_ char *link = NULL;

	if (asprintf(&link, "%s/%s", set->search, name) >= 0)
		unlink(link);
}

void library_set_deinit(struct library_set *set)
{
	for (size_t i = 0; set->runnables != NULL && i < set->needed.count; i++) {
		if (set->search != NULL)
			remove_link(set, set->needed.all[i].name);
		runnable_deinit(&set->runnables[i]);
	}
	if (set->search != NULL)
		rmdir(set->search);
	free(set->runnables);
	free(set->search);
	needed_libraries_deinit(&set->needed);
	*set = (struct library_set){.search = NULL};
}
