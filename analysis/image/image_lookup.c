// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_lookup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_symbols.h"
#include "analysis/image/file_stamps.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/image_store.h"

/* Directory in which Fedora's packages keep links from build-ids to executables. */
#define SYSTEM_DIRECTORY "/usr/lib"

struct lookup {
	const struct profile_image *image;
	const struct debug_file_options *options;
	const char *path; /* of the image, without "(deleted)" */
};

/*
 * @path: ownership is transferred; NULL: there is no such path. @code: do not accept a debug file.
 */
static int try_path(struct image_elf **ret, const struct lookup *lookup, char *path,
		    enum image_elf_origin origin, bool code)
{
	struct image_elf *file;
	int r;

	if (path == NULL)
		return -ENOENT;
	file_stamps_note(lookup->options->stamps, path);
	r = image_elf_open(&file, lookup->image, path, origin, lookup->options, NULL);
	if (r < 0)
		return r;
	if (code && !image_elf_has_code(file)) {
		image_elf_close(file);
		return -ENOENT;
	}
	*ret = file;
	return 0;
}

static char *path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *path_format(const char *format, ...)
{
	va_list arguments;
	char *path;
	int length;

	va_start(arguments, format);
	length = vasprintf(&path, format, arguments);
	va_end(arguments);
	return length < 0 ? NULL : path;
}

int image_lookup_copy_name(char *ret, const struct profile_image *image, bool user)
{
	static const enum image_store_kind kinds[] = {
		[PROFILE_IDENTITY_BUILD_ID] = IMAGE_STORE_BUILD_ID,
		[PROFILE_IDENTITY_DIGEST] = IMAGE_STORE_DIGEST,
		[PROFILE_IDENTITY_CONTENT] = IMAGE_STORE_CONTENT,
	};

	if (image->identity_kind == PROFILE_IDENTITY_NONE ||
	    image->identity_kind == PROFILE_IDENTITY_FILE)
		return -EINVAL;
	return image_store_name(ret, kinds[image->identity_kind],
				user ? IMAGE_STORE_USER : IMAGE_STORE_ROOT, image->identity,
				image->identity_bytes);
}

/* Copies of files that other users may have written are looked up by their contents only. */
static int open_copy(struct image_elf **ret, const struct lookup *lookup)
{
	const struct profile_image *image = lookup->image;
	int last = image->identity_kind == PROFILE_IDENTITY_CONTENT;
	char name[IMAGE_STORE_NAME_BYTES];
	int r = -ENOENT;

	if (lookup->options->images == NULL)
		return -ENOENT;
	for (int user = 0; r < 0 && user <= last; user++) {
		if (image_lookup_copy_name(name, image, user) < 0)
			return -ENOENT;
		r = try_path(ret, lookup, path_format("%s/%s", lookup->options->images, name),
			     IMAGE_ELF_STORE, true);
	}
	return r;
}

static int open_by_build_id(struct image_elf **ret, const struct lookup *lookup,
			    const char *directory, const char *suffix, bool code)
{
	size_t bytes;
	const uint8_t *id = profile_image_build_id(lookup->image, &bytes);

	return try_path(ret, lookup, debug_file_path(directory, id, bytes, suffix),
			IMAGE_ELF_SYSTEM, code);
}

static const char *directory_of(const struct lookup *lookup)
{
	const char *directory = lookup->options->directory;

	return directory != NULL ? directory : DEBUG_FILE_DIRECTORY;
}

static int open_executable(struct image_elf **ret, const struct lookup *lookup)
{
	int r = open_by_build_id(ret, lookup, directory_of(lookup), "", true);

	return r < 0 ? open_by_build_id(ret, lookup, SYSTEM_DIRECTORY, "", true) : r;
}

static int open_served(struct image_elf **ret, const struct lookup *lookup,
		       enum debug_server_kind kind)
{
	size_t bytes;
	const uint8_t *id = profile_image_build_id(lookup->image, &bytes);

	if (!lookup->options->debuginfod)
		return -ENOENT;
	return try_path(ret, lookup, debug_server_find(kind, id, bytes), IMAGE_ELF_SYSTEM,
			kind == DEBUG_SERVER_EXECUTABLE);
}

static int open_served_executable(struct image_elf **ret, const struct lookup *lookup)
{
	return open_served(ret, lookup, DEBUG_SERVER_EXECUTABLE);
}

/* Without the image, the name in its .gnu_debuglink is unknown: try the usual ones. */
static int open_neighbour(struct image_elf **ret, const struct lookup *lookup)
{
	const char *slash = strrchr(lookup->path, '/');
	int r;

	if (slash == NULL || *lookup->path != '/')
		return -ENOENT;
	r = try_path(ret, lookup, path_format("%s.debug", lookup->path), IMAGE_ELF_PATH, false);
	if (r < 0)
		r = try_path(ret, lookup,
			     path_format("%.*s/.debug%s.debug", (int)(slash - lookup->path),
					 lookup->path, slash),
			     IMAGE_ELF_PATH, false);
	if (r < 0)
		r = try_path(ret, lookup,
			     path_format("%s%s.debug", directory_of(lookup), lookup->path),
			     IMAGE_ELF_SYSTEM, false);
	return r;
}

static int open_debug(struct image_elf **ret, const struct lookup *lookup)
{
	int r = open_by_build_id(ret, lookup, directory_of(lookup), ".debug", false);

	/* Archives of dcpiexport have debug files in the store. */
	if (r < 0 && lookup->options->images != NULL)
		r = open_by_build_id(ret, lookup, lookup->options->images, ".debug", false);
	if (r < 0)
		r = open_neighbour(ret, lookup);
	return r < 0 ? open_served(ret, lookup, DEBUG_SERVER_DEBUGINFO) : r;
}

static int open_by_identity(struct image_elf **ret, const struct lookup *lookup)
{
	static int (*const suppliers[])(struct image_elf * *ret, const struct lookup *lookup) = {
		open_executable, open_served_executable, open_debug};
	int r = open_copy(ret, lookup);
	size_t bytes;

	if (profile_image_build_id(lookup->image, &bytes) == NULL)
		return r;
	for (size_t i = 0; r < 0 && i < sizeof(suppliers) / sizeof(*suppliers); i++)
		r = suppliers[i](ret, lookup);
	return r;
}

int image_lookup_open(struct image_elf **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct lookup lookup = {.image = image, .options = options};
	int r;

	if (image->kind != PROFILE_IMAGE_FILE || image->path == NULL)
		return error_set(err, EINVAL, "the image is not a file");
	lookup.path = path = image_elf_plain_path(image);
	if (path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	file_stamps_note(options->stamps, path);
	r = image_elf_open(ret, image, strdup(path), IMAGE_ELF_PATH, options, err);
	if (r == 0 || r == -ENOMEM || r == -ENOTRECOVERABLE ||
	    image->identity_kind == PROFILE_IDENTITY_NONE)
		return r;
	return open_by_identity(ret, &lookup) == 0 ? 0 : r;
}

static bool has_symbols(const struct image_elf *image, const struct debug_file_options *options)
{
	struct elf_file debug = {0};
	bool found = elf_symbols_present(image_elf_file(image), SHT_SYMTAB) ||
		     debug_file_open(&debug, image, options) == 0;

	elf_file_close(&debug);
	return found;
}

size_t image_lookup_wanted(struct debug_server_request requests[2],
			   const struct profile_image *image,
			   const struct debug_file_options *options)
{
	struct debug_file_options local = *options;
	struct image_elf *file = NULL;
	size_t count = 0, bytes;
	const uint8_t *id = profile_image_build_id(image, &bytes);
	bool complete;
	int r;

	if (id == NULL)
		return 0;
	local.debuginfod = false;
	local.stamps = NULL;
	r = image_lookup_open(&file, image, &local, NULL);
	complete = r == 0 && has_symbols(file, &local);
	if (r < 0 || !image_elf_has_code(file))
		requests[count++].kind = DEBUG_SERVER_EXECUTABLE;
	if (!complete)
		requests[count++].kind = DEBUG_SERVER_DEBUGINFO;
	image_elf_close(file);
	for (size_t i = 0; i < count; i++) {
		memcpy(requests[i].id, id, bytes);
		requests[i].bytes = bytes;
	}
	return count;
}
