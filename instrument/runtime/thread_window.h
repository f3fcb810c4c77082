/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's window: the address space from its %gs base on (profile_layout.h). */
#ifndef DCPI_INSTRUMENT_THREAD_WINDOW_H
#define DCPI_INSTRUMENT_THREAD_WINDOW_H

#include "instrument/runtime/process_area.h"

/**
 * struct thread_window - the first page of a window
 * @self:   its address
 * @owner:  the thread pointer (%fs base) of its thread: other threads may have inherited %gs
 * @no_state: UINT32_MAX, which is not a state of calls (call_layout.h)
 * @number: index of its blocks in the images' files; windows after the last block share it
 * @mapped: set of images
 */
struct thread_window {
	uint64_t self;
	uint64_t owner;
	uint32_t no_state;
	uint32_t number;
	uint64_t bytes;
	uint64_t mapped[PROCESS_AREA_IMAGES / 64];
};

/** thread_window_base() - return the %gs base, which must be a window. */
static inline uint64_t thread_window_base(void)
{
	uint64_t base;

	__asm__ volatile("movq %%gs:%c1, %0"
			 : "=r"(base)
			 : "i"(__builtin_offsetof(struct thread_window, self)));
	return base;
}

/** thread_window_own() - return this thread's window. A thread without one gets a new window, or
 * that of an ended thread. */
struct thread_window *thread_window_own(struct process_area *area);

/** thread_window_map() - map the range of an image in a window, unless it is mapped. */
void thread_window_map(struct process_area *area, struct thread_window *window, uint32_t image);

/**
 * thread_window_begin() - begin a process
 *
 * The child of a fork gets files of its own, with a block for this thread's window. Windows of the
 * parent's other threads are removed.
 */
void thread_window_begin(struct process_area *area);

#endif
