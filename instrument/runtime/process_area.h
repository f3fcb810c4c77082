/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by the rewritten images of a process: the list of images, the range of each, and the
 * windows of threads. It is at a fixed address, since images have no other way to find each other.
 * Zeros mean that the process has just begun. For ranges and windows see profile_layout.h.
 *
 * An image is identified by its number, not its address: an image that is loaded again, or twice,
 * continues to count in the same file.
 */
#ifndef DCPI_INSTRUMENT_PROCESS_AREA_H
#define DCPI_INSTRUMENT_PROCESS_AREA_H

#include "instrument/profile/profile_layout.h"

/* Far from addresses that kernels use for programs and sanitizers for their own data. */
#define PROCESS_AREA_ADDRESS UINT64_C(0x2dc910000000)
/* "dcpixap", and the version of this layout. */
#define PROCESS_AREA_MAGIC UINT64_C(0x0470617869706364)
#define PROCESS_AREA_IMAGES 256
#define PROCESS_AREA_WINDOWS 16384

/**
 * struct process_area - one per process
 * @lock:    futex: 0 free, 1 taken, 2 taken with waiters
 * @ready:   PROFILE_LAYOUT_READY, but 0 in the child of a fork
 * @process: process id
 * @images:  number of images; later entries are not filled in
 * @windows: number of windows, in @addresses and @owners (thread ids)
 * @direct:  the bases of %fs and %gs can be accessed without the kernel
 * @secure:  the process has AT_SECURE (it has more rights than the user that started it), or this
 *           is not known
 * @prefix:  of file names, from the environment of the first process; empty: not set
 * @image:   copies of the images' states, with their range in this process
 */
struct process_area {
	uint32_t lock;
	uint32_t ready;
	uint32_t process;
	uint32_t wiped[PROFILE_LAYOUT_PAGE / sizeof(uint32_t) - 3];
	/* A fork clears everything up to here. */
	uint64_t magic;
	uint32_t images;
	uint32_t windows;
	uint64_t direct;
	uint64_t secure;
	char prefix[PROFILE_LAYOUT_PATH_BYTES];
	uint64_t addresses[PROCESS_AREA_WINDOWS];
	uint32_t owners[PROCESS_AREA_WINDOWS];
	struct profile_layout_state image[PROCESS_AREA_IMAGES];
};

/**
 * process_area_lock() - lock the process' area, with all signals of this thread blocked
 * @signals: out: the previous signal mask
 *
 * Does not return if the area cannot be mapped.
 */
struct process_area *process_area_lock(uint64_t *signals);

void process_area_unlock(struct process_area *area, uint64_t signals);

/**
 * process_area_add() - return the number of an image
 *
 * A new image gets a file and a range. If the range is not @state->range, the image's code is
 * changed accordingly; it must not have been executed before. Does not return without room for the
 * image.
 */
uint32_t process_area_add(struct process_area *area, struct profile_layout_state *state);

#endif
