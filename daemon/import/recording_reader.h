/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a perf.data file and writes its contents as messages (recording_message.h).
 *
 * The file is read twice: the first pass counts, the second one sorts the records by time.
 */
#ifndef DCPI_RECORDING_READER_H
#define DCPI_RECORDING_READER_H

struct perfdata_input;

/**
 * recording_reader_run() - read a file and write messages; a failure is the last one
 * @output: a pipe; if it is closed, the function returns
 */
void recording_reader_run(const struct perfdata_input *input, int output);

#endif
