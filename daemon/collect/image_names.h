/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of sampled procedures, for the database: reports on other machines have no other source
 * of names.
 *
 * Offsets with samples are passed to image_names_want(). The symbols that contain them are read
 * from the image's file, and from its debug file under /usr/lib/debug, by a process in a sandbox
 * (daemon/base/sandbox_process.h), "dcpid-names". One file is read at a time, without waiting for
 * it. The results are written within a later transaction. The process ends when no file waits.
 *
 * Only files that all users of the machine may read are read, because the readers of a daemon's
 * database are other users. The file is found by its path in our root directory and used only if it
 * has the identity of the image.
 *
 * The CPU time is charged to the owner of the file, with the budget of daemon/image/quota.h, and
 * limited in total. Memory and the size of all names are bounded. Procedures beyond a limit have no
 * name; samples are never affected.
 */
#ifndef DCPI_IMAGE_NAMES_H
#define DCPI_IMAGE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "db/profile.h"

struct counter_set;
struct error;
struct image_names;
struct named_image;
struct profile_writer;

/* Offsets that wait, and ranges of offsets whose symbols are known: of all images. */
#define IMAGE_NAMES_WANTED_MAX 131072
#define IMAGE_NAMES_KNOWN_MAX 131072
/* Names that are stored in an epoch: of an image, of files of users except root, and in total. */
#define IMAGE_NAMES_IMAGE_BYTES_MAX (1U << 20)
#define IMAGE_NAMES_USERS_BYTES_MAX (4U << 20)
#define IMAGE_NAMES_BYTES_MAX (16U << 20)

/**
 * image_names_create() - start without names
 * @permille: maximum CPU time, in 1/1000 of a CPU, beyond a second at the start; 0: no limit
 * @all_files: the database is the user's own: also read files that other users cannot read
 *
 * Return: NULL if out of memory. Freed by image_names_destroy().
 */
struct image_names *image_names_create(uint32_t permille, bool all_files);
void image_names_destroy(struct image_names *names);

/**
 * image_names_image() - find an image, to want names
 * @id: its number in the database
 *
 * Return: valid until image_names_forget(); NULL: names are not stored for it, or out of memory.
 */
struct named_image *image_names_image(struct image_names *names, int64_t id,
				      const struct profile_image *image);

/** image_names_want() - the symbol at an offset of the image's file is wanted. O(log known) */
void image_names_want(struct image_names *names, struct named_image *image, uint64_t offset);

/** image_names_step() - take a result if there is one, and let the next file be read */
void image_names_step(struct image_names *names);

/** image_names_finish() - wait for all files at most this time */
void image_names_finish(struct image_names *names, uint64_t wait_ns);

/**
 * image_names_write() - write the results within the writer's open transaction
 *
 * If it is not committed, image_names_forget() must be called.
 *
 * Return: 0, or the writer's error.
 */
int image_names_write(struct image_names *names, struct profile_writer *writer, struct error *err);

/** image_names_forget() - forget all images: their numbers are invalid, or an epoch begins */
void image_names_forget(struct image_names *names);

/** image_names_counters() - set "stat" counters since the start */
void image_names_counters(const struct image_names *names, struct counter_set *tally);

#endif
