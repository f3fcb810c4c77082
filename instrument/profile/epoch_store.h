/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Store the recordings of a rewritten program in the profile database, as an epoch with neither
 * events nor samples, whose source is "dcpix". The epoch refers to the original image by its
 * build-id (or, if it has none, the digest of its contents), so that the recordings and samples of
 * that image are found together.
 */
#ifndef DCPI_INSTRUMENT_EPOCH_STORE_H
#define DCPI_INSTRUMENT_EPOCH_STORE_H

#include "analysis/image/elf_file.h"
#include "db/profile_write.h"

struct error;

/**
 * struct epoch_store - source and destination of an epoch; zero-initialised except for the fields
 * that the caller sets; freed by epoch_store_close()
 * @database:  path; created if it does not exist
 * @rewritten: path of the program that recorded
 * @label:     label of the epoch; NULL: none
 * @first_ns, @last_ns: creation time of the first file, and last write to any file
 * @files:     number of files with recordings
 * @what:      kind of the recordings, "paths"
 * @shared:    threads without a separate block, in all files
 * @id:        out: number of the epoch
 * @image, @file, @segments: private
 */
struct epoch_store {
	const char *database;
	const char *rewritten;
	const char *label;
	int64_t first_ns;
	int64_t last_ns;
	size_t files;
	const char *what;
	uint64_t shared;
	int64_t id;
	struct profile_image image;
	struct elf_file file;
	size_t segments;
};

/**
 * epoch_store_open() - identify the original image
 * @path:     path of the original file; must stay valid
 * @build_id: its build-id in hexadecimal; must stay valid
 *
 * Return: 0; -ESTALE the original has no build-id, and has changed since it was rewritten; errors
 * of elf_file_open().
 */
int epoch_store_open(struct epoch_store *store, const char *path, const char *build_id,
		     struct error *err);

void epoch_store_close(struct epoch_store *store);

/**
 * epoch_store_file() - record when a file was written
 *
 * Accurate to a millisecond; within it, files that were created at the same time are distinguished.
 *
 * Return: 0; errors of stat(2).
 */
int epoch_store_file(struct epoch_store *store, const char *path, struct error *err);

/**
 * epoch_store_offset() - convert an address of the image to a file offset
 *
 * Return: false: it is in no segment.
 */
bool epoch_store_offset(const struct epoch_store *store, uint64_t address, uint64_t *offset);

/** Adds the recordings to the epoch's image. Return: 0, or an error that ends the transaction. */
typedef int (*epoch_store_fn)(void *context, struct profile_writer *writer, int64_t image,
			      struct error *err);

/**
 * epoch_store_write() - add an epoch
 *
 * In one transaction: after a failure there is no epoch. Return: 0; the error of @write; errors of
 * profile_writer_open() and of writing.
 */
int epoch_store_write(struct epoch_store *store, epoch_store_fn write, void *context,
		      struct error *err);

#endif
