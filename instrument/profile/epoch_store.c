// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/epoch_store.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_digest.h"
#include "lib/host.h"

CLEANUP_DEFINE(profile_writer, struct profile_writer *, profile_writer_close)

static bool parse_build_id(struct profile_image *image, const char *text)
{
	size_t bytes = strlen(text) / 2;

	if (bytes == 0 || bytes > sizeof(image->identity))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		image->identity[i] = (uint8_t)byte;
	}
	image->identity_kind = PROFILE_IDENTITY_BUILD_ID;
	image->identity_bytes = bytes;
	return true;
}

/* The original file must still exist, unchanged. */
static int take_digest(struct profile_image *image, const char *rewritten, struct error *err)
{
	_cleanup_close_ int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status, since;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0 || stat(rewritten, &since) < 0)
		return error_set_errno(err, "cannot open '%s', which has no build-id", image->path);
	if (!S_ISREG(status.st_mode) || status.st_mtime > since.st_mtime)
		return error_set(err, ESTALE,
				 "'%s' has no build-id, and was changed after it was rewritten",
				 image->path);
	r = file_digest(image->identity, fd, (uint64_t)status.st_size);
	image->identity_kind = PROFILE_IDENTITY_DIGEST;
	image->identity_bytes = FILE_DIGEST_BYTES;
	return r < 0 ? error_set(err, -r, ERROR_READ, image->path) : 0;
}

int epoch_store_open(struct epoch_store *store, const char *path, const char *build_id,
		     struct error *err)
{
	int r = elf_file_open(&store->file, store->rewritten, err);

	if (r < 0)
		return r;
	if (elf_getphdrnum(store->file.elf, &store->segments) != 0)
		return error_set(err, EBADMSG, ERROR_DAMAGED, store->rewritten);
	store->image = (struct profile_image){.kind = PROFILE_IMAGE_FILE, .path = path};
	return parse_build_id(&store->image, build_id)
		       ? 0
		       : take_digest(&store->image, store->rewritten, err);
}

void epoch_store_close(struct epoch_store *store)
{
	elf_file_close(&store->file);
}

static int64_t ns_of(const struct statx_timestamp *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/*
 * File times come from a clock that ticks every few milliseconds, while epochs of a host are
 * distinguished by their start. So add an offset derived from the inode number to distinguish files
 * created within one tick.
 */
static int64_t within_tick(const struct statx *times)
{
	return (int64_t)(times->stx_ino % 1000000);
}

/* Not every file system records the creation time. */
int epoch_store_file(struct epoch_store *store, const char *path, struct error *err)
{
	int64_t first, last;
	struct statx times;

	if (statx(AT_FDCWD, path, 0, STATX_BTIME | STATX_MTIME | STATX_INO, &times) < 0)
		return error_set_errno(err, ERROR_READ, path);
	last = ns_of(&times.stx_mtime) + within_tick(&times);
	first = times.stx_mask & STATX_BTIME ? ns_of(&times.stx_btime) + within_tick(&times) : last;
	if (store->files == 0 || first < store->first_ns)
		store->first_ns = first;
	if (store->files == 0 || last > store->last_ns)
		store->last_ns = last;
	store->files++;
	return 0;
}

bool epoch_store_offset(const struct epoch_store *store, uint64_t address, uint64_t *offset)
{
	GElf_Phdr segment;

	for (size_t i = 0; i < store->segments; i++) {
		if (gelf_getphdr(store->file.elf, (int)i, &segment) == NULL ||
		    segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return *offset <= PROFILE_EDGE_OFFSET_MAX;
	}
	return false;
}

static int write_rows(struct epoch_store *store, struct profile_writer *writer,
		      const struct profile_epoch *epoch, epoch_store_fn write, void *context,
		      struct error *err)
{
	int64_t id = 0;
	int r = profile_writer_epoch_add(writer, epoch, err);

	store->id = profile_writer_epoch_id(writer);
	if (r == 0)
		r = profile_writer_image(writer, &store->image, &id, err);
	if (r == 0)
		r = write(context, writer, id, err);
	if (r == 0)
		r = profile_writer_totals(writer, store->last_ns, 0, NULL, 0, err);
	return r == 0 ? profile_writer_epoch_finish(writer, store->last_ns, err) : r;
}

/*
 * Write all of the epoch in one transaction, so that a failure leaves nothing that would count
 * twice.
 */
static int write_epoch(struct epoch_store *store, struct profile_writer *writer,
		       const struct profile_epoch *epoch, epoch_store_fn write, void *context,
		       struct error *err)
{
	int r = profile_writer_begin(writer, err);

	if (r < 0)
		return r;
	r = write_rows(store, writer, epoch, write, context, err);
	r = profile_writer_settle(writer, r, err);
	profile_writer_epoch_forget(writer);
	return r;
}

int epoch_store_write(struct epoch_store *store, epoch_store_fn write, void *context,
		      struct error *err)
{
	_cleanup_(cleanup_profile_writer) struct profile_writer *writer = NULL;
	_cleanup_free_ char *reason = NULL;
	struct profile_epoch epoch = {
		.start_ns = store->first_ns,
		.source = "dcpix",
		.label = store->label != NULL ? store->label : "",
	};
	struct host host;
	int r = profile_writer_open(&writer, store->database, err);

	if (r < 0)
		return r;
	if (asprintf(&reason, "counted by %zu process%s of %s", store->files,
		     store->files == 1 ? "" : "es", store->rewritten) < 0) {
		reason = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	host_describe(&host);
	epoch.host = host.name;
	epoch.machine_id = host.machine_id;
	epoch.cpu_model = host.cpu_model;
	epoch.cpus = host.cpus;
	epoch.kernel = host.kernel;
	epoch.source_reason = reason;
	return write_epoch(store, writer, &epoch, write, context, err);
}
