/* SPDX-License-Identifier: GPL-2.0-only */
/* Gets the files that a report needs from debuginfod servers, before it opens its images. */
#ifndef DCPI_SERVER_PREFETCH_H
#define DCPI_SERVER_PREFETCH_H

#include "db/profile_read.h"
#include "tools/report/cli.h"

/**
 * server_prefetch_listen() - print the progress of servers, if standard error is a terminal, and a
 * line on standard error for each server that fails
 * @cli: must stay valid
 */
void server_prefetch_listen(const struct cli *cli);

/**
 * server_prefetch() - ask the servers for the files of all images with samples, several at once
 *
 * Does nothing without --debuginfod.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int server_prefetch(const struct cli *cli, struct profile_reader *reader, struct error *err);

#endif
