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

struct wanted_file;

/**
 * struct server_prefetch - files to request from servers; zero-initialised: empty
 *
 * A tool that reads several databases adds the images of all of them before it sends requests, so
 * that the servers answer in parallel.
 */
struct server_prefetch {
	/* private */
	struct wanted_file *files;
	size_t count;
	size_t capacity;
};

void server_prefetch_deinit(struct server_prefetch *prefetch);

/**
 * server_prefetch_add() - add the files of one image that only a server may have
 * @samples: of the image; files of images with more samples are requested first
 *
 * Does nothing unless @debug enables debuginfod.
 *
 * Return: 0 or -ENOMEM.
 */
int server_prefetch_add(struct server_prefetch *prefetch, const struct profile_image *image,
			uint64_t samples, const struct debug_file_options *debug);

/**
 * server_prefetch_add_all() - add the files of all images with samples that @filter selects
 * @pattern: selects images, see image_label_matches(); NULL: all
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int server_prefetch_add_all(struct server_prefetch *prefetch, struct profile_reader *reader,
			    const struct profile_filter *filter, const char *pattern,
			    const struct debug_file_options *debug, struct error *err);

/**
 * server_prefetch_run() - request all files from the servers, several in parallel
 *
 * Return: 0 or -ENOMEM.
 */
int server_prefetch_run(const struct server_prefetch *prefetch);

#endif
