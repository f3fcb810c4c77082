/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a rewritten program recorded, into the profile database: an epoch with neither
 * events nor samples, whose source is "dcpix". It is of the image that was rewritten, by
 * its build-id (or, if it has none, the digest of its contents), so that samples of that
 * and what was recorded meet.
 */
#ifndef DCPI_INSTRUMENT_EPOCH_STORE_H
#define DCPI_INSTRUMENT_EPOCH_STORE_H

#include "analysis/image/elf_file.h"
#include "db/profile_write.h"

struct error;

/**
 * struct epoch_store - where it goes, and from what; zero-initialised but for what the
 * caller says; freed by epoch_store_close()
 * @database:  path; made if it is not there
 * @rewritten: path of the program that recorded
 * @label:     of the epoch; NULL: none
 * @first_ns, @last_ns: when the first file was made, and the last one written
 * @files:     that were recorded in
 * @what:      that was recorded, "paths"
 * @shared:    threads that had no room of their own, of all files
 * @id:        out: the epoch's number
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
 * epoch_store_open() - find out of which image it is
 * @path:     of the file that was rewritten; must stay
 * @build_id: likewise, in hexadecimal
 *
 * Return: 0; -ESTALE the original has no build-id, and is not what was rewritten any more;
 * errors as of elf_file_open().
 */
int epoch_store_open(struct epoch_store *store, const char *path, const char *build_id,
		     struct error *err);

void epoch_store_close(struct epoch_store *store);

/**
 * epoch_store_file() - note when a file was recorded in
 *
 * To within a millisecond, in which files made at the same time are told apart.
 *
 * Return: 0; those of stat(2).
 */
int epoch_store_file(struct epoch_store *store, const char *path, struct error *err);

/**
 * epoch_store_offset() - where in the file an address of the image is
 *
 * Return: false: it is in no segment.
 */
bool epoch_store_offset(const struct epoch_store *store, uint64_t address, uint64_t *offset);

/** Adds what there is to the epoch's image. Return: 0, or an error that ends it. */
typedef int (*epoch_store_fn)(void *context, struct profile_writer *writer, int64_t image,
			      struct error *err);

/**
 * epoch_store_write() - add an epoch
 *
 * In one transaction: after a failure there is none. Return: 0; @write's; errors of
 * profile_writer_open() and of writing.
 */
int epoch_store_write(struct epoch_store *store, epoch_store_fn write, void *context,
		      struct error *err);

#endif
