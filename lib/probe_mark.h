/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mark of a kernel sample that a breakpoint of the profiler caused: one bit of its PC, which is
 * set in every kernel address, is clear. So these samples are counted separately from others at the
 * same address, and image_map.h has a range of addresses for them.
 */
#ifndef DCPI_PROBE_MARK_H
#define DCPI_PROBE_MARK_H

#define PROBE_MARK_CLEARS (1ULL << 62)

/** probe_mark_set() - mark a kernel PC. */
#define probe_mark_set(pc) ((pc) & ~PROBE_MARK_CLEARS)

/** probe_mark_is() - return true if a PC is marked. */
#define probe_mark_is(pc) ((pc) >> 62 == 2)

/** probe_mark_remove() - return the kernel PC. */
#define probe_mark_remove(pc) ((pc) | PROBE_MARK_CLEARS)

#endif
