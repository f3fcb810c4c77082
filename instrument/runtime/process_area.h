/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rewritten images of a process have in common, at an address that all of them
 * know, since nobody could tell them: which there are, where each has its range, and the
 * threads' windows (profile_layout.h). Zeros are a process that has just begun.
 *
 * An image is known by its number, not by where it is: one that is loaded again, or twice,
 * counts on in the same file.
 */
#ifndef DCPI_INSTRUMENT_PROCESS_AREA_H
#define DCPI_INSTRUMENT_PROCESS_AREA_H

#include "instrument/profile/profile_layout.h"

/* Far from where kernels put programs, and sanitizers what is theirs. */
#define PROCESS_AREA_ADDRESS UINT64_C(0x2dc910000000)
/* "dcpixap", and the version of this. */
#define PROCESS_AREA_MAGIC UINT64_C(0x0370617869706364)
#define PROCESS_AREA_IMAGES 256
#define PROCESS_AREA_WINDOWS 16384

/**
 * struct process_area - one a process
 * @lock:    futex: 0 free, 1 taken, 2 others wait
 * @ready:   PROFILE_LAYOUT_READY unless this is the copy of a process that has forked
 * @process: id
 * @images:  how many; others are not filled in yet
 * @windows: likewise, of @addresses and @owners: thread ids
 * @direct:  %fs' and %gs' bases can be read and written without the kernel
 * @secure:  the process has AT_SECURE (it has more rights than the user that started it), or
 *           that is not known
 * @prefix:  of names of files, as the process that began first was told; empty: it was not
 * @image:   copies of their states, with the range that each has here
 */
struct process_area {
	uint32_t lock;
	uint32_t ready;
	uint32_t process;
	uint32_t wiped[PROFILE_LAYOUT_PAGE / sizeof(uint32_t) - 3];
	/* Up to here a fork makes it zero. */
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
 * process_area_lock() - the process' area, with all signals of this thread held back
 * @signals: out: those that were
 *
 * Does not return if there can be none.
 */
struct process_area *process_area_lock(uint64_t *signals);

void process_area_unlock(struct process_area *area, uint64_t signals);

/**
 * process_area_add() - the number of an image
 *
 * A new one gets a file and a range. If the range is not @state->range the image's code is
 * changed so that it is: nobody may run it before. Does not return if there is no room.
 */
uint32_t process_area_add(struct process_area *area, struct profile_layout_state *state);

#endif
