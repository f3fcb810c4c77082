/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The archive policy: selects the images that are copied to the image archive (lib/image_store.h),
 * and keeps access to their files before they disappear.
 *
 * A file is pinned when its image is first seen in a process: it is opened through
 * /proc/PID/map_files, which refers to the mapped file itself. The file may have been deleted or
 * replaced, be in another mount namespace, or have no path. There are few pins, which last long
 * enough for the image's first samples to arrive; an image without samples is never read. An image
 * that becomes hot later is pinned through a process that has it mapped.
 *
 * If all of its processes have exited, image_file_open_claimed() searches for the file at its path.
 * The file must match the kernel's event. The loader hook's events do not suffice, since the
 * process itself writes them.
 *
 * Pins perform no I/O on the file's file system. So a file system that never answers blocks only
 * the copier (daemon/archive/image_copier.h).
 *
 * The hotter the image was, the longer a copy is kept: each doubling of its samples counts as if it
 * had been sampled a day later.
 *
 * All functions accept a NULL policy, which archives nothing.
 */
#ifndef DCPI_ARCHIVE_POLICY_H
#define DCPI_ARCHIVE_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/archive/image_copier.h"

/* Special value of the patterns: all images except files of the distribution's packages. */
#define ARCHIVE_POLICY_UNPACKAGED "unpackaged"

struct error;
struct image_event;
struct archive_policy;
struct image_table;

/*
 * While samples are being collected, images with fewer samples are not worth a copy: there is too
 * little to analyse.
 */
#define ARCHIVE_POLICY_SAMPLES_MIN 16

/**
 * struct archive_policy_config - what to archive
 * @copier:   archive and limits
 * @patterns: paths of images as in per_process.h, or ARCHIVE_POLICY_UNPACKAGED; must outlive the
 *            policy
 * @pin_ns:   duration of a pin: at least until samples have been merged
 */
struct archive_policy_config {
	struct image_copier_config copier;
	const char *patterns;
	uint64_t pin_ns;
};

/** archive_policy_open() - start the copier. Return: 0; errors of image_copier_open(); -ENOMEM. */
int archive_policy_open(struct archive_policy **ret, const struct archive_policy_config *config,
			struct error *err);
void archive_policy_close(struct archive_policy *policy);

/** archive_policy_seen() - an event has mapped an image; callback for image_table_watch(). */
void archive_policy_seen(void *context, struct image_table *table, uint32_t image,
			 const struct image_event *event);

/** archive_policy_forget() - an image without samples is gone: its number will be reused. */
void archive_policy_forget(struct archive_policy *policy, uint32_t image);

/** archive_policy_sampled() - an image has got @samples more samples. */
void archive_policy_sampled(struct archive_policy *policy, struct image_table *table,
			    uint32_t image, uint64_t samples);

/**
 * archive_policy_finish() - copy images that have samples, however few
 *
 * For the end of a run: its reports need code and names for all samples. Call it again
 * after archive_policy_tick() until it returns true: the queue of the copier is short.
 *
 * Return: true if all copies have been requested.
 */
bool archive_policy_finish(struct archive_policy *policy, struct image_table *table);

/**
 * archive_policy_memory() - archive code that is not in a file
 * @kind: IMAGE_STORE_JIT
 * @data: allocated; ownership passes to the policy, even on failure
 *
 * Return: 0; -EAGAIN if too many copies wait, try again later; -EINVAL if @identity_bytes is out of
 * range; -ENODATA if nothing is archived.
 */
int archive_policy_memory(struct archive_policy *policy, enum image_store_kind kind,
			  const uint8_t *identity, size_t identity_bytes, void *data,
			  size_t data_bytes);

/** archive_policy_tick() - release old pins and process the copier's results; call this regularly.
 */
void archive_policy_tick(struct archive_policy *policy, uint64_t now_ns);

/**
 * struct archive_policy_status - for users
 * @copier:     state of the archive and the copier
 * @pinned:     number of files held open now
 * @lost:       images that became hot after their files were gone
 * @ambiguous:  files at the path of an image that may have been other ones
 * @unreadable: files that the user of their process may not read
 */
struct archive_policy_status {
	struct image_copier_status copier;
	uint64_t pinned;
	uint64_t lost;
	uint64_t ambiguous;
	uint64_t unreadable;
};

void archive_policy_status(struct archive_policy *policy, struct archive_policy_status *status);

/**
 * archive_policy_gone() - return the number of samples in files without a copy that are no longer
 * at their path
 * @table: of the images
 *
 * Checks the path of each image that has samples but no copy.
 */
uint64_t archive_policy_gone(const struct archive_policy *policy, const struct image_table *table);

#endif
