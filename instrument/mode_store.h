/* SPDX-License-Identifier: GPL-2.0-only */
/* What a rewritten program recorded, of whatever mode it is, into the profile database. */
#ifndef DCPI_INSTRUMENT_MODE_STORE_H
#define DCPI_INSTRUMENT_MODE_STORE_H

#include "instrument/profile/epoch_store.h"

/**
 * mode_store() - add an epoch with what was recorded in some files
 * @epoch: database, rewritten program and label are the caller's, the rest is told; to be
 *         closed by epoch_store_close(), after an error too
 * @path:  out: of the file that was rewritten, malloc'd; NULL if that is not known
 *
 * Return: 1; 0 nothing was recorded; -ENODATA it was not rewritten; errors of
 * reading the files, and of epoch_store_open() and epoch_store_write().
 */
int mode_store(struct epoch_store *epoch, char *const *files, size_t count, char **path,
	       struct error *err);

#endif
