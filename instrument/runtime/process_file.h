/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that an image's counts of this process are in. */
#ifndef DCPI_INSTRUMENT_PROCESS_FILE_H
#define DCPI_INSTRUMENT_PROCESS_FILE_H

#include "instrument/profile/profile_layout.h"

/**
 * process_file_prefix() - what DCPIX_OUT says, from the root if it can be; empty: nothing
 *
 * As it was when the program began, as far as that is still to be seen: programs write what
 * they like to be called over it, go to other folders, and to other roots.
 */
void process_file_prefix(char prefix[PROFILE_LAYOUT_PATH_BYTES]);

/**
 * process_file_map() - a file for this process, with as many blocks as the machine lets it
 * have; @state->region and @state->region_blocks say where
 * @prefix: process_file_prefix()'s
 * @is_secure: the process has AT_SECURE: no file, unless @state->secure permits it
 *
 * Modes with private memory get a region without a file if there can be none.
 */
void process_file_map(struct profile_layout_state *state, const char *prefix, int is_secure);

/**
 * process_file_hold() - have the disk keep room for a block; it does for the first one
 *
 * Whoever writes where there is none would be ended by a signal. Return: whether there is.
 */
int process_file_hold(const struct profile_layout_state *state, uint32_t block);

/** process_file_unmap() - it is another process', of which this one is a copy. */
void process_file_unmap(struct profile_layout_state *state);

#endif
