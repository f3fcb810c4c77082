/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread's area (mode.h) in bursts mode: the counters that switch between the two clones of
 * procedures, and the recorded references. No libc, fixed widths.
 */
#ifndef DCPI_INSTRUMENT_BURST_LAYOUT_H
#define DCPI_INSTRUMENT_BURST_LAYOUT_H

#include "instrument/profile/profile_layout.h"

/* Default and maximum number of references that a thread can record. */
#define BURST_RECORDS_DEFAULT (UINT32_C(1) << 17)
#define BURST_RECORDS_MAX (UINT32_C(1) << 26)

/**
 * struct burst_record - a reference to memory
 * @reference: number of the instruction in the image (bursts_map.h)
 * @burst:     number of the burst, from 1 on
 */
struct burst_record {
	uint64_t address;
	uint32_t reference;
	uint32_t burst;
};

/**
 * struct burst_area - the area
 * @bytes: space for all references so far; references that do not fit are lost
 * @all:   as many records as fit in the area (profile_layout.h), a multiple of 4
 */
struct burst_area {
	struct profile_layout_switch bursts;
	uint64_t bytes;
	uint64_t reserved2[5];
	struct burst_record all[];
};

#endif
