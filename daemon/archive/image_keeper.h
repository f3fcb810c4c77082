/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which images are copied into the image store (lib/image_store.h), and
 * gets hold of their files before they vanish.
 *
 * A file is pinned when an image is first seen in a process: opened through
 * /proc/PID/map_files, which leads to the mapped file itself. The file may have been deleted or
 * replaced, be in another mount namespace, or have no path. Pins are few, and last long enough for
 * the image's first samples to arrive; an image without samples is never read. One that gets hot
 * later is pinned through a process that has it mapped.
 *
 * If all of its processes have ended, image_file_open_claimed() looks for the file at its path. The
 * file must match the event of the kernel. The loader hook's events do not suffice,
 * since the process itself writes them.
 *
 * Pins do no I/O on the file's file system, so that one that never answers hangs
 * the copier only (daemon/archive/image_copier.h).
 *
 * A copy is kept the longer, the hotter the image was: each doubling of its
 * samples counts as much as if it had been sampled a day later.
 *
 * All functions take NULL for a keeper that keeps nothing.
 */
#ifndef DCPI_IMAGE_KEEPER_H
#define DCPI_IMAGE_KEEPER_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/archive/image_copier.h"

/* In place of patterns: all images but files of the distribution's packages. */
#define IMAGE_KEEPER_UNPACKAGED "unpackaged"

struct error;
struct image_event;
struct image_keeper;
struct image_table;

/* Images with fewer samples are not worth a copy: there is nothing to analyse. */
#define IMAGE_KEEPER_SAMPLES_MIN 16

/**
 * struct image_keeper_config - what to keep
 * @copier:   where, and how much
 * @patterns: paths of images as in per_process.h, or IMAGE_KEEPER_UNPACKAGED; must outlive the
 *            keeper
 * @pin_ns:   how long a pin lasts: at least until samples have been merged
 */
struct image_keeper_config {
	struct image_copier_config copier;
	const char *patterns;
	uint64_t pin_ns;
};

/** image_keeper_open() - Return: 0; errors of image_copier_open(); -ENOMEM. */
int image_keeper_open(struct image_keeper **ret, const struct image_keeper_config *config,
		      struct error *err);
void image_keeper_close(struct image_keeper *keeper);

/** image_keeper_seen() - an event has mapped an image: what image_table_watch() calls, of a keeper.
 */
void image_keeper_seen(void *context, struct image_table *table, uint32_t image,
		       const struct image_event *event);

/** image_keeper_forget() - an image without samples is gone: its number will be another image's. */
void image_keeper_forget(struct image_keeper *keeper, uint32_t image);

/** image_keeper_sampled() - an image has got so many samples more. */
void image_keeper_sampled(struct image_keeper *keeper, struct image_table *table, uint32_t image,
			  uint64_t samples);

/**
 * image_keeper_memory() - keep code that is in no file
 * @kind:     IMAGE_STORE_JIT
 * @data:     malloc'd; the keeper's from now on, even if this fails
 *
 * Return: 0; -EAGAIN too many copies wait, try again later; -EINVAL @identity_bytes
 * out of range; -ENODATA nothing is kept.
 */
int image_keeper_memory(struct image_keeper *keeper, enum image_store_kind kind,
			const uint8_t *identity, size_t identity_bytes, void *data,
			size_t data_bytes);

/** image_keeper_tick() - now and then: let pins go, take note of what is done. */
void image_keeper_tick(struct image_keeper *keeper, uint64_t now_ns);

/**
 * struct image_keeper_status - for people
 * @copier: the store and the way there
 * @pinned: files held open now
 * @lost:   images that got hot and whose file could not be had any more
 * @ambiguous: files at the path of an image that may have been other ones
 * @unreadable: files that the user of their process may not read
 */
struct image_keeper_status {
	struct image_copier_status copier;
	uint64_t pinned;
	uint64_t lost;
	uint64_t ambiguous;
	uint64_t unreadable;
};

void image_keeper_status(struct image_keeper *keeper, struct image_keeper_status *status);

/**
 * image_keeper_gone() - samples of files that have no copy and are no longer at their path
 * @table: of the images
 *
 * Looks at the path of each image that has samples and no copy.
 */
uint64_t image_keeper_gone(const struct image_keeper *keeper, const struct image_table *table);

#endif
