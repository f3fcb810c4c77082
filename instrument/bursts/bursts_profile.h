/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The references to memory that a rewritten program recorded in bursts (burst_layout.h).
 * Data that is read is not trusted.
 */
#ifndef DCPI_INSTRUMENT_BURSTS_PROFILE_H
#define DCPI_INSTRUMENT_BURSTS_PROFILE_H

#include "instrument/bursts/bursts_map.h"

/**
 * struct bursts_reference - a reference to memory
 * @number: number of the instruction (bursts_map.h)
 * @burst:  number of the burst in the thread, from 1 on
 * @thread: number of the thread in all files added, from 0 on
 */
struct bursts_reference {
	uint64_t address;
	uint32_t number;
	uint32_t burst;
	uint32_t thread;
};

/**
 * struct bursts_profile - zero-initialised is empty; freed by bursts_profile_deinit()
 * @all:     thread by thread, in order of execution
 * @bursts:  number of bursts that have ended
 * @lost:    references for which a thread had no room
 * @threads: number of threads in all files
 * @shared:  threads that had no room in the file at all
 */
struct bursts_profile {
	struct bursts_reference *all;
	size_t count;
	size_t capacity;
	uint64_t bursts;
	uint64_t lost;
	uint32_t threads;
	uint64_t shared;
};

/**
 * bursts_profile_add() - add a file's references
 * @map: map of the image that the file must belong to
 *
 * Return: 0; errors of profile_file_open(), -ENOMEM.
 */
int bursts_profile_add(struct bursts_profile *profile, const struct bursts_map *map,
		       const char *path, struct error *err);

void bursts_profile_deinit(struct bursts_profile *profile);

#endif
