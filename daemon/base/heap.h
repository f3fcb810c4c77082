/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C library's heap, as a program wants it that runs for years and needs megabytes
 * for a moment now and then: while it starts, and at merges.
 */
#ifndef DCPI_HEAP_H
#define DCPI_HEAP_H

/**
 * heap_configure() - large blocks are given back to the kernel when they are freed
 *
 * By itself the C library learns from each that is freed to keep the next one: what a
 * moment took would stay. To be called first of all. Settings in the environment
 * (mallopt(3)) are not looked at.
 */
void heap_configure(void);

/**
 * heap_trim() - gives back what lies free between blocks in use, too
 *
 * Takes some ms for tens of MB, and as much again when they are wanted again: for the
 * end of work that comes once in a while.
 */
void heap_trim(void);

#endif
