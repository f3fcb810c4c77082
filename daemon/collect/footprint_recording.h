/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Footprints of an image as the database stores them.
 *
 * Only counts leave the daemon: no address, and no hash of one. A stride is stored only if it is
 * that of most executions, so that it is a property of the code and not of the data. For lines that
 * threads share, the position within the line is stored, but not the line.
 */
#ifndef DCPI_FOOTPRINT_RECORDING_H
#define DCPI_FOOTPRINT_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/footprint_store.h"
#include "db/profile_write.h"

/* Instructions with fewer accesses are left out: they show nothing about the footprint. */
#define FOOTPRINT_RECORDING_SAMPLES_MIN 8

/** struct footprint_recording - zero-initialised is empty; memory is reused */
struct footprint_recording {
	struct profile_recording recording;
	uint64_t head[PROFILE_FOOTPRINTS_HEAD_COLUMNS];
	uint64_t *rows;
	size_t count;
	size_t capacity;
};

/**
 * footprint_recording_make() - fill in @ret->recording
 * @footprints: of one image, by ascending offset
 * @cache_bytes: of the data caches, by level
 *
 * Return: 0 or -ENOMEM. If @ret->count is 0, the recording is empty.
 */
int footprint_recording_make(struct footprint_recording *ret,
			     const struct footprint *const *footprints, size_t count,
			     const uint64_t cache_bytes[3]);

/** footprint_recording_deinit() - free the memory */
void footprint_recording_deinit(struct footprint_recording *recording);

#endif
