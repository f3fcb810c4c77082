/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folder with an optimised copy of a program, its profile, the logs of the optimizer, and a file
 * "state" that records its origin, its last check and its measured gain.
 */
#ifndef DCPI_OPT_FOLDER_H
#define DCPI_OPT_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/content_digest.h"

struct error;

/* The copy, in the folder. */
#define OPT_FOLDER_COPY "program"

/**
 * struct opt_state - contents of the file "state"
 * @original:  absolute path of the original program, without control characters
 * @original_digest, @copy_digest: of the files when the copy was made
 * @checked:   the copy has passed the last check
 * @pairs:     number of pairs of runs of the last measurement; 0: not measured
 * @gain_low, @gain_high: 95% interval of the CPU time saved, in percent; valid if @pairs > 0
 */
struct opt_state {
	char original[PATH_MAX];
	uint8_t original_digest[CONTENT_DIGEST_BYTES];
	uint8_t copy_digest[CONTENT_DIGEST_BYTES];
	bool checked;
	unsigned int pairs;
	double gain_low;
	double gain_high;
};

/** opt_folder_path() - make the path of a file in a folder. Return: 0 or -ENAMETOOLONG */
int opt_folder_path(char path[PATH_MAX], const char *folder, const char *name, struct error *err);

/**
 * opt_folder_load() - read the state of a folder
 *
 * Return: 0; -ENOENT: it is not a folder of dcpiopt; -EBADMSG: its state is damaged.
 */
int opt_folder_load(struct opt_state *ret, const char *folder, struct error *err);

/** opt_folder_store() - replace the state of a folder. Return: 0 or -errno */
int opt_folder_store(const struct opt_state *state, const char *folder, struct error *err);

/** opt_file_digest() - compute the digest of a regular file. Return: 0 or -errno */
int opt_file_digest(uint8_t digest[CONTENT_DIGEST_BYTES], const char *path, struct error *err);

/**
 * opt_folder_verify() - check that the original and the copy are the files that the state describes
 * @copy: out: path of the copy
 *
 * Return: 0; -ESTALE: one of them has changed; errors of reading them.
 */
int opt_folder_verify(char copy[PATH_MAX], const struct opt_state *state, const char *folder,
		      struct error *err);

#endif
