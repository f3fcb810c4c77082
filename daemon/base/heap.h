/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of the C library's heap for a long-running program that occasionally needs megabytes for
 * a short time: at startup and at merges.
 */
#ifndef DCPI_HEAP_H
#define DCPI_HEAP_H

/**
 * heap_configure() - return large blocks to the kernel as soon as they are freed
 *
 * By default glibc raises its mmap threshold whenever a mapped block is freed, so that memory
 * needed only briefly would stay allocated. Must be called before any other allocation. Settings in
 * the environment (mallopt(3)) are ignored.
 */
void heap_configure(void);

/**
 * heap_trim() - return free memory between used blocks to the kernel, too
 *
 * Takes some ms for tens of MB, and the same time again when the memory is needed again: call it
 * only after work that is rare.
 */
void heap_trim(void);

#endif
