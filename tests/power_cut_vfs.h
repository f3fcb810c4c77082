/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system for SQLite that simulates power failures.
 *
 * The files are SQLite's usual ones. In addition, the contents of a disk after a power failure are
 * tracked for each file: all synced data, and an arbitrary part, in 512-byte sectors, of the data
 * written since. power_cut_save() writes one such state into a directory. The program continues, so
 * that one run can produce any number of power failures.
 */
#ifndef DCPI_TESTS_POWER_CUT_VFS_H
#define DCPI_TESTS_POWER_CUT_VFS_H

#include <stdbool.h>
#include <stdint.h>

/** Called before each write, truncation, deletion and sync. */
typedef void (*power_cut_fn)(void *context);

/**
 * power_cut_register() - make SQLite open its files through this file system
 * @lying: syncs do nothing, as on a disk that acknowledges a sync without doing it
 */
void power_cut_register(power_cut_fn before, void *context, bool lying);

/** power_cut_unregister() - stop opening files here; all must have been closed */
void power_cut_unregister(void);

/**
 * power_cut_save() - save a possible state of each file after a power failure now
 * @directory: output directory; the files keep their names
 * @seed:      chooses among the possible states of data that was not synced
 */
void power_cut_save(const char *directory, uint64_t *seed);

#endif
