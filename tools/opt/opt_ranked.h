/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpiopt prepare without a program: copies of the images that dcpiopt rank advises. */
#ifndef DCPI_OPT_RANKED_H
#define DCPI_OPT_RANKED_H

struct cli;

#define OPT_RANKED_LIMIT 5

/**
 * opt_ranked_prepare() - prepare the first images of the ranking, and list the others with a reason
 * @cli:    its limit is the number of images; 0: OPT_RANKED_LIMIT
 * @rank:   prints the ranking as JSON to stdout, and returns the status to exit with; runs in a
 *          child process, because it enters the sandbox
 * @context: for @rank
 * @folder: for the results, one folder for each build: NAME-BUILDID.opt. NULL: the current
 *          directory. A folder whose original and copy are unchanged is kept
 *
 * Return: the status to exit with; CLI_NOTHING: no image is worth it.
 */
int opt_ranked_prepare(struct cli *cli, int (*rank)(void *context), void *context,
		       const char *folder);

#endif
