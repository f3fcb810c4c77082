/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packs a database, and the images and debug files of its samples, into one file for another
 * machine.
 */
#ifndef DCPI_EXPORT_ARCHIVE_H
#define DCPI_EXPORT_ARCHIVE_H

#include <stdint.h>

struct cli;

/* Default limit of the files in an archive, before compression. */
#define EXPORT_ARCHIVE_MB 2048

/**
 * export_archive() - write the archive, and print a summary to stderr
 * @output: file; NULL: stdout
 * @bytes:  limit of all image and debug files; the hottest images come first
 *
 * The archive is a gzipped tar file with dcpi.db, the image store dcpi.db-images and the list
 * CONTENTS. Files that are missing are in the list, with the reason.
 *
 * Return: exit status.
 */
int export_archive(struct cli *cli, const char *output, uint64_t bytes);

#endif
