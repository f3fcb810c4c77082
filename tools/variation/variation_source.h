/* SPDX-License-Identifier: GPL-2.0-only */
/* Times of paths that a rewritten program recorded, out of the database, all epochs' sum. */
#ifndef DCPI_VARIATION_SOURCE_H
#define DCPI_VARIATION_SOURCE_H

#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_recording.h"
#include "tools/report/recording_source.h"

/**
 * struct variation_source - zero-initialised is empty; freed by variation_source_close()
 * @recordings: which image and epochs they are of
 * @recorded:   what is in them
 */
struct variation_source {
	struct recording_source recordings;
	struct variation_recorded recorded;
};

/**
 * variation_source_read() - read, and list
 * @cli:     as of recording_source_open()
 * @all:     as of variation_listing_make()
 * @listing: out; refers to @source; freed by variation_listing_deinit(), if there is an error
 *           too
 *
 * Return: 0; -ENOENT the database has none, if @recordings.reader is there; -EBADMSG damaged;
 * -ENOMEM; errors of recording_source_open() and recording_source_visit().
 */
int variation_source_read(struct variation_source *source, struct cli *cli, bool all,
			  struct variation_listing *listing, struct error *err);

/** variation_source_failed() - tell @err why a listing could not be made. Return: @r. */
int variation_source_failed(int r, struct error *err);

void variation_source_close(struct variation_source *source);

#endif
