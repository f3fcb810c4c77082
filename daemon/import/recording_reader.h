/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a perf.data file and writes its contents as messages (recording_message.h).
 *
 * The file is read twice: the first pass counts, the second one sorts the records by time.
 */
#ifndef DCPI_RECORDING_READER_H
#define DCPI_RECORDING_READER_H

/**
 * recording_reader_run() - read a file and write messages; a failure is the last one
 * @fd:     of the file
 * @output: a pipe; if it is closed, the function returns
 */
void recording_reader_run(int fd, int output);

#endif
