/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads times of paths that an instrumented program recorded from the database, summed over epochs.
 */
#ifndef DCPI_VARIATION_SOURCE_H
#define DCPI_VARIATION_SOURCE_H

#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_recording.h"
#include "tools/report/recording_source.h"

/**
 * struct variation_source - zero-initialised: empty; freed by variation_source_close()
 * @recordings: their image and epochs
 * @recorded:   their contents
 */
struct variation_source {
	struct recording_source recordings;
	struct variation_recorded recorded;
};

/**
 * variation_source_read() - read recordings, and make a listing
 * @cli:     as for recording_source_open()
 * @all:     as for variation_listing_make()
 * @listing: out; refers to @source; freed by variation_listing_deinit(), also after an error
 *
 * Return: 0; -ENOENT: no recordings in the database, if @recordings.reader is set; -EBADMSG:
 * damaged; -ENOMEM; errors of recording_source_open() and recording_source_visit().
 */
int variation_source_read(struct variation_source *source, struct cli *cli, bool all,
			  struct variation_listing *listing, struct error *err);

/** variation_source_failed() - set the reason why a listing could not be made. Return: @r */
int variation_source_failed(int r, struct error *err);

void variation_source_close(struct variation_source *source);

#endif
