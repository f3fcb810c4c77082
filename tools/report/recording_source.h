/* SPDX-License-Identifier: GPL-2.0-only */
/* What a rewritten program recorded, out of the database that the command line names. */
#ifndef DCPI_RECORDING_SOURCE_H
#define DCPI_RECORDING_SOURCE_H

#include "db/profile_read.h"

struct cli;
struct error;

/**
 * struct recording_source - recordings of a mode, of one image
 * @path:     of the image, @image its number
 * @build_id: likewise, in hexadecimal; "": it has none
 * @epochs:   that have one
 * @start_ns: of the first of them
 * @end_ns:   of the last one
 *
 * Zero-initialised is empty; freed by recording_source_close().
 */
struct recording_source {
	struct profile_reader *reader;
	struct cli *cli;
	enum profile_recording_mode mode;
	int64_t image;
	char *path;
	char build_id[2 * PROFILE_IDENTITY_BYTES_MAX + 1];
	size_t epochs;
	int64_t start_ns;
	int64_t end_ns;
};

/**
 * recording_source_open() - find the image
 * @cli: its database, image and choice of epochs; must stay
 *
 * Return: 0; -ENOENT there is no such recording; -EINVAL they are of several images; the
 * reader's errors.
 */
int recording_source_open(struct recording_source *source, struct cli *cli,
			  enum profile_recording_mode mode, struct error *err);

/**
 * recording_source_visit() - read them, by epoch
 * @visit: errors that it has no message for: -EBADMSG damaged, -EINVAL of another metric
 *         than others, -ENOMEM
 *
 * Return: 0; @visit's errors, with a message; the reader's.
 */
int recording_source_visit(struct recording_source *source, profile_recording_fn visit,
			   void *context, struct error *err);

void recording_source_close(struct recording_source *source);

#endif
