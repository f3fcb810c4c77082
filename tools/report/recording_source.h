/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the recordings of an instrumented program in the database that the command line names. */
#ifndef DCPI_RECORDING_SOURCE_H
#define DCPI_RECORDING_SOURCE_H

#include "db/profile_read.h"

struct cli;
struct error;

/**
 * struct recording_source - recordings of one mode and one image
 * @path:     path of the image; @image: its number
 * @build_id: its build-id in hexadecimal; "": it has none
 * @epochs:   number of epochs with a recording
 * @start_ns: of the first of these epochs
 * @end_ns:   of the last one
 *
 * Zero-initialised: empty; freed by recording_source_close().
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
 * @cli: its database, image and choice of epochs; must stay valid
 *
 * Return: 0; -ENOENT: there is no such recording; -EINVAL: recordings of several images match; the
 * reader's errors.
 */
int recording_source_open(struct recording_source *source, struct cli *cli,
			  enum profile_recording_mode mode, struct error *err);

/**
 * recording_source_visit() - visit the recordings, by epoch
 * @visit: may return these errors without a message: -EBADMSG: damaged; -EINVAL: another metric
 *         than the other recordings; -ENOMEM
 *
 * Return: 0; errors of @visit, with a message; errors of the reader.
 */
int recording_source_visit(struct recording_source *source, profile_recording_fn visit,
			   void *context, struct error *err);

void recording_source_close(struct recording_source *source);

#endif
