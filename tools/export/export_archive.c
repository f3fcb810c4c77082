// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export_archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_lookup.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/image_store.h"
#include "tools/base/progress.h"
#include "tools/base/text.h"
#include "tools/export/tar_writer.h"
#include "tools/report/cli.h"
#include "tools/report/output_file.h"
#include "tools/report/report_header.h"

#define FOLDER "dcpi-archive/"
#define STORE FOLDER "dcpi.db-images"
#define NAME_BYTES 256

struct archived_image {
	int64_t id;
	uint64_t samples;
};

/*
 * struct archive - state of the export
 * @room:     bytes that files may still have
 * @contents: lines of the list CONTENTS
 * @missing:  samples of images without a file
 */
struct archive {
	struct cli *cli;
	struct profile_reader *reader;
	struct archived_image *images;
	size_t count;
	size_t capacity;
	uint64_t all;
	uint64_t missing;
	uint64_t room;
	size_t image_files;
	size_t debug_files;
	size_t missing_images;
	struct tar_writer *tar;
	FILE *contents;
};

static int archive_add_samples(void *context, const struct profile *profile)
{
	struct archive *archive = context;
	struct archived_image *last = NULL;

	/* Profiles are ordered by image. */
	if (archive->count > 0)
		last = &archive->images[archive->count - 1];
	if (last == NULL || last->id != profile->image) {
		if (array_reserve(&archive->images, &archive->capacity, archive->count + 1,
				  sizeof(*archive->images)) < 0)
			return -ENOMEM;
		last = &archive->images[archive->count++];
		*last = (struct archived_image){.id = profile->image};
	}
	if (__builtin_add_overflow(archive->all, profile->total, &archive->all))
		return -EBADMSG;
	last->samples += profile->total;
	return 0;
}

static int most_samples_first(const void *a, const void *b)
{
	const struct archived_image *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void list(struct archive *archive, const char *kind, const struct archived_image *image,
		 const char *path, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add a line to CONTENTS: kind, samples, path, and the file or the reason why it is missing. */
static void list(struct archive *archive, const char *kind, const struct archived_image *image,
		 const char *path, const char *format, ...)
{
	_cleanup_free_ char *clean = text_clean(path);
	va_list arguments;

	fprintf(archive->contents, "%s\t%" PRIu64 "\t%s\t", kind, image->samples,
		clean != NULL ? clean : "?");
	va_start(arguments, format);
	vfprintf(archive->contents, format, arguments);
	va_end(arguments);
	fputc('\n', archive->contents);
}

static void list_missing(struct archive *archive, const struct archived_image *image,
			 const char *path, const char *reason)
{
	_cleanup_free_ char *clean = text_clean(reason);

	archive->missing += image->samples;
	archive->missing_images++;
	list(archive, "missing", image, path, "%s", clean != NULL ? clean : "?");
}

/* Return: 0; -EFBIG: it does not fit, or -ENAMETOOLONG; else the archive cannot be completed. */
static int archive_add_file(struct archive *archive, const char *name, const struct elf_file *file)
{
	int r;

	if (file->bytes > archive->room)
		return -EFBIG;
	r = tar_writer_add_file(archive->tar, name, file->fd, file->bytes);
	if (r == 0)
		archive->room -= file->bytes;
	return r;
}

static bool may_be_omitted(int r)
{
	return r == -EFBIG || r == -ENAMETOOLONG;
}

/*
 * Add the separate debug file. A file that other users may have written has the build-id that they
 * chose, so the debug file of such an image cannot be stored under its build-id.
 */
static int add_debug_file(struct archive *archive, const struct archived_image *entry,
			  const struct profile_image *image, const struct image_elf *elf)
{
	_cleanup_free_ char *name = NULL;
	struct elf_file debug = {0};
	int r;

	if (debug_file_open(&debug, elf, &archive->cli->debug) < 0)
		return 0;
	/* Debugging information inside of the image needs no file of its own. */
	if (debug.fd < 0) {
		elf_file_close(&debug);
		return 0;
	}
	name = debug_file_path(STORE, image->identity, image->identity_bytes, ".debug");
	if (image->identity_kind != PROFILE_IDENTITY_BUILD_ID || name == NULL)
		r = -ENAMETOOLONG;
	else
		r = archive_add_file(archive, name, &debug);
	if (r == 0) {
		archive->debug_files++;
		list(archive, "debug", entry, image->path, "%s", name);
	} else if (may_be_omitted(r)) {
		list(archive, "no-debug", entry, image->path, "%s",
		     r == -EFBIG ? "the limit of the archive is exceeded"
				 : "the image is not identified by a build-id alone");
		r = 0;
	}
	elf_file_close(&debug);
	return r;
}

/* Return the name of a file in the archive. A file without code is a debug file. */
static int name_of(char name[NAME_BYTES], const struct profile_image *image, bool code)
{
	_cleanup_free_ char *debug = NULL;
	char copy[IMAGE_STORE_NAME_BYTES];
	int r;

	if (!code) {
		debug = debug_file_path(STORE, image->identity, image->identity_bytes, ".debug");
		if (image->identity_kind != PROFILE_IDENTITY_BUILD_ID || debug == NULL)
			return -EINVAL;
		snprintf(name, NAME_BYTES, "%s", debug);
		return 0;
	}
	r = image_lookup_copy_name(copy, image, image->identity_kind == PROFILE_IDENTITY_CONTENT);
	if (r == 0)
		snprintf(name, NAME_BYTES, "%s/%s", STORE, copy);
	return r;
}

static int add_elf(struct archive *archive, const struct archived_image *entry,
		   const struct profile_image *image, const struct image_elf *elf)
{
	bool code = image_elf_has_code(elf);
	char name[NAME_BYTES];
	int r = name_of(name, image, code);

	if (r < 0) {
		list_missing(archive, entry, image->path, "the image has no build-id or digest");
		return 0;
	}
	r = archive_add_file(archive, name, image_elf_file(elf));
	if (may_be_omitted(r)) {
		list_missing(archive, entry, image->path, "the limit of the archive is exceeded");
		return 0;
	}
	if (r < 0)
		return r;
	if (!code) {
		archive->debug_files++;
		list(archive, "debug", entry, image->path, "%s", name);
		list_missing(archive, entry, image->path, "only a debug file was found, no code");
		return 0;
	}
	archive->image_files++;
	list(archive, "image", entry, image->path, "%s", name);
	return add_debug_file(archive, entry, image, elf);
}

static int archive_add_image(struct archive *archive, const struct archived_image *entry,
			     struct error *err)
{
	_cleanup_free_ char *path = NULL;
	struct profile_image image;
	struct image_elf *elf = NULL;
	struct error why;
	int r = profile_reader_image(archive->reader, entry->id, &image, err);

	if (r < 0)
		return r;
	image.path = path = strdup(image.path);
	if (path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (image.kind != PROFILE_IMAGE_FILE) {
		list(archive, "database", entry, path, "%s",
		     image.kind == PROFILE_IMAGE_UNKNOWN
			     ? "not of a known image"
			     : "all that is known of it is in the database");
		return 0;
	}
	r = image_lookup_open(&elf, &image, &archive->cli->debug, &why);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0) {
		list_missing(archive, entry, path, why.message);
		return 0;
	}
	r = add_elf(archive, entry, &image, elf);
	image_elf_close(elf);
	if (r == -ESTALE)
		return error_set(err, ESTALE, "'%s' became shorter while it was read", path);
	return r < 0 ? error_set(err, -r, ERROR_WRITE_OUTPUT) : 0;
}

static int add_database(struct archive *archive, struct error *err)
{
	unsigned char *data = NULL;
	size_t bytes = 0;
	int r = profile_reader_serialize(archive->reader, &data, &bytes, err);

	if (r < 0)
		return r;
	r = tar_writer_add(archive->tar, FOLDER "dcpi.db", data, bytes);
	profile_serialized_free(data);
	if (r == -EFBIG)
		return error_set(err, EFBIG, "the database is too large for an archive");
	return r < 0 ? error_set(err, -r, ERROR_WRITE_OUTPUT) : 0;
}

static int add_images(struct archive *archive, struct error *err)
{
	struct progress progress = {0};
	int r = 0;

	progress_start(&progress, archive->cli->tool);
	for (size_t i = 0; i < archive->count && r == 0; i++) {
		progress_say(&progress, i, archive->count, "images");
		r = archive_add_image(archive, &archive->images[i], err);
	}
	progress_clear(&progress);
	return r;
}

static int write_files(struct archive *archive, struct error *err)
{
	_cleanup_free_ char *contents = NULL;
	size_t bytes = 0;
	int r = add_database(archive, err);

	if (r < 0)
		return r;
	archive->contents = open_memstream(&contents, &bytes);
	if (archive->contents == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	fputs("kind\tsamples\timage\tfile or reason\n", archive->contents);
	r = add_images(archive, err);
	if (fclose(archive->contents) != 0 && r == 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && tar_writer_add(archive->tar, FOLDER "CONTENTS", contents, bytes) < 0)
		return error_set(err, EIO, ERROR_WRITE_OUTPUT);
	return r;
}

static int write_archive(void *context, FILE *file, struct error *err)
{
	struct archive *archive = context;
	int r;

	archive->tar = tar_writer_create(file);
	if (archive->tar == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = write_files(archive, err);
	if (r < 0) {
		tar_writer_destroy(archive->tar);
		return r;
	}
	return tar_writer_finish(archive->tar) < 0 ? error_set(err, EIO, ERROR_WRITE_OUTPUT) : 0;
}

static void print_summary(const struct archive *archive)
{
	fprintf(stderr, "%s: images: %zu, debug files: %zu", archive->cli->tool,
		archive->image_files, archive->debug_files);
	if (archive->missing_images > 0)
		fprintf(stderr,
			", missing images: %zu, with %.1f%% of the samples (CONTENTS has the "
			"reasons)",
			archive->missing_images,
			100.0 * (double)archive->missing / (double)archive->all);
	fputc('\n', stderr);
}

/* The archive has the whole database: an option that selects would promise less. */
static int check_selection(const struct cli *cli, struct error *err)
{
	const struct profile_filter *filter = &cli->filter;

	if (cli->event_count > 0 || cli->image != NULL || filter->has_pid || filter->unit != NULL ||
	    filter->container != NULL || filter->host != NULL || filter->since_ns != 0 ||
	    filter->until_ns != 0 || cli->last_ns != 0 || !epoch_list_empty(&cli->epochs))
		return error_set(err, EINVAL,
				 "format 'archive' has the whole database: samples cannot be "
				 "selected");
	return 0;
}

static int archive_load(struct archive *archive, struct error *err)
{
	int r = check_selection(archive->cli, err);

	if (r == 0)
		r = cli_open(archive->cli, &archive->reader, err);
	if (r < 0)
		return r;
	err->message[0] = '\0';
	r = profile_reader_totals(archive->reader, NULL, archive_add_samples, archive, err);
	if (r < 0 && err->message[0] == '\0')
		return error_set(err, -r, r == -ENOMEM ? ERROR_NO_MEMORY : ERROR_DATABASE_COUNTS);
	if (r == 0 && archive->count > 0)
		qsort(archive->images, archive->count, sizeof(*archive->images),
		      most_samples_first);
	return r;
}

int export_archive(struct cli *cli, const char *output, uint64_t bytes)
{
	struct archive archive = {.cli = cli, .room = bytes};
	struct error err = {0};
	int r = archive_load(&archive, &err), status = CLI_OK;

	if (r == 0 && archive.all == 0)
		status = cli_nothing(cli, "no samples");
	else if (r == 0)
		r = output_file_write(output, write_archive, &archive, &err);
	if (r < 0)
		status = cli_fail(cli, &err);
	else if (status == CLI_OK)
		print_summary(&archive);
	free(archive.images);
	profile_reader_close(archive.reader);
	return status;
}
