/* SPDX-License-Identifier: GPL-2.0-only */
/* The file with an image's counts of this process. */
#ifndef DCPI_INSTRUMENT_PROCESS_FILE_H
#define DCPI_INSTRUMENT_PROCESS_FILE_H

#include "instrument/profile/profile_layout.h"

/**
 * process_file_prefix() - get the value of DCPIX_OUT, as an absolute path if possible; empty: not
 * set
 *
 * The value is that of the program's start, as far as it is still visible: programs overwrite their
 * environment with a title, and change the working directory and the root.
 */
void process_file_prefix(char prefix[PROFILE_LAYOUT_PATH_BYTES]);

/**
 * process_file_map() - map a file for this process, with room for as many blocks as possible; sets
 * @state->region and the members after it
 * @prefix: from process_file_prefix()
 * @is_secure: the process has AT_SECURE: no file, unless @state->secure permits it
 *
 * If there can be no file, all modes except counts get a region without a file.
 */
void process_file_map(struct profile_layout_state *state, const char *prefix, int is_secure);

/**
 * process_file_hold() - reserve disk space for a block; the first one has it already
 *
 * A write without disk space would end the process by a signal. Return: true if there is space.
 */
int process_file_hold(const struct profile_layout_state *state, uint32_t block);

/**
 * process_file_grow() - make the file of this process large enough for a block
 * @prefix: from process_file_prefix()
 * @block:  below @state->blocks_max
 *
 * The file is opened by its name, since a program may use any file descriptor for itself. The file
 * can no longer grow once that name is inaccessible; @state->blocks_max is then the number of
 * blocks that it has. Return: true if the file has the block.
 */
int process_file_grow(struct profile_layout_state *state, const char *prefix, uint32_t block);

/** process_file_unmap() - unmap the file of another process, which has forked this one. */
void process_file_unmap(struct profile_layout_state *state);

#endif
