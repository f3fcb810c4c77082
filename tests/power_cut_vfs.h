/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system for SQLite whose power can fail.
 *
 * Files are SQLite's usual ones. Beside each is kept what a disk would have of it
 * after a power failure: all that was synced, and of what was written since an
 * arbitrary part, 512-byte sector by sector. power_cut_save() puts one such state into
 * a directory; what was running goes on, so that one run has as many ends as one
 * likes.
 */
#ifndef DCPI_TESTS_POWER_CUT_VFS_H
#define DCPI_TESTS_POWER_CUT_VFS_H

#include <stdbool.h>
#include <stdint.h>

/** Called before each write, truncation, deletion and sync. */
typedef void (*power_cut_fn)(void *context);

/**
 * power_cut_register() - from now on SQLite opens its files here
 * @lying: whether syncs do nothing, as on a disk that says that it is done
 */
void power_cut_register(power_cut_fn before, void *context, bool lying);

/** power_cut_unregister() - no more files are opened here; all must have been closed. */
void power_cut_unregister(void);

/**
 * power_cut_save() - the power fails now: what is left of each file
 * @directory: to put them in; files have the names that they have here
 * @seed:      chooses among all that can happen to what was not synced
 */
void power_cut_save(const char *directory, uint64_t *seed);

#endif
