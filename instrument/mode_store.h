/* SPDX-License-Identifier: GPL-2.0-only */
/* Store the recording of a rewritten program in the profile database, for all modes. */
#ifndef DCPI_INSTRUMENT_MODE_STORE_H
#define DCPI_INSTRUMENT_MODE_STORE_H

#include "instrument/profile/epoch_store.h"

/**
 * mode_store() - add an epoch with the recordings of some files
 * @epoch: the caller sets database, rewritten program and label, this function the other members;
 *         to be closed by epoch_store_close(), also after an error
 * @path:  out: path of the original file, malloc'd; NULL if it is not known
 *
 * Return: 1; 0 if nothing was recorded; -ENODATA if the program was not rewritten; errors of
 * reading the files, of epoch_store_open() and of epoch_store_write().
 */
int mode_store(struct epoch_store *epoch, char *const *files, size_t count, char **path,
	       struct error *err);

#endif
