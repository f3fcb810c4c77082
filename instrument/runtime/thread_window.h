/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's window: the address space behind its %gs' base (profile_layout.h). */
#ifndef DCPI_INSTRUMENT_THREAD_WINDOW_H
#define DCPI_INSTRUMENT_THREAD_WINDOW_H

#include "instrument/runtime/process_area.h"

/**
 * struct thread_window - its first page
 * @self:   its address
 * @owner:  the thread's pointer (%fs' base): others have inherited %gs
 * @number: that its blocks have in the images' files; those behind the last one share it
 * @nobody: UINT32_MAX, which is no state of calls (call_layout.h)
 * @mapped: sets of images
 */
struct thread_window {
	uint64_t self;
	uint64_t owner;
	uint32_t number;
	uint32_t nobody;
	uint64_t bytes;
	uint64_t mapped[PROCESS_AREA_IMAGES / 64];
};

/** thread_window_base() - where %gs' base is, if it is a window's. */
static inline uint64_t thread_window_base(void)
{
	uint64_t base;

	__asm__ volatile("movq %%gs:%c1, %0"
			 : "=r"(base)
			 : "i"(__builtin_offsetof(struct thread_window, self)));
	return base;
}

/** thread_window_own() - this thread's; a new one, or an ended thread's, if it has none. */
struct thread_window *thread_window_own(struct process_area *area);

/** thread_window_map() - see to it that an image has its range in a window. */
void thread_window_map(struct process_area *area, struct thread_window *window, uint32_t image);

/**
 * thread_window_begin() - the process begins
 *
 * As a copy of another it gets files of its own, which this thread's window then is one of;
 * the other threads' are not here.
 */
void thread_window_begin(struct process_area *area);

#endif
