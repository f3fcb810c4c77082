/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions of memory that data addresses belong to: the mappings of processes, as /proc/PID/maps
 * lists them.
 *
 * Mappings are read when an access needs them, and again when an address is in none of them. They
 * are used for DATA_SPACES_AGE_NS at most. Reading them takes at most DATA_SPACES_READ_NS of CPU
 * time in a second. Beyond that, and for processes that have exited, regions are unknown.
 */
#ifndef DCPI_DATA_SPACES_H
#define DCPI_DATA_SPACES_H

#include <stdint.h>

#include "db/profile_write.h"

/* Processes, and ranges of each: 1.3 MB in total. Further ranges are unknown. */
#define DATA_SPACES_PROCESSES 32
#define DATA_SPACES_RANGES 1024
#define DATA_SPACES_AGE_NS UINT64_C(10000000000)
/* A process is not read again before this time. */
#define DATA_SPACES_AGAIN_NS UINT64_C(200000000)
#define DATA_SPACES_READ_NS UINT64_C(5000000)

struct data_spaces;

/**
 * struct data_place - the region of an address
 * @code: for PROFILE_REGION_IMAGE: an address of code that was loaded from the same file
 */
struct data_place {
	enum profile_region region;
	uint64_t code;
};

/** data_spaces_create() - Return: NULL if out of memory. Freed by data_spaces_destroy(). */
struct data_spaces *data_spaces_create(void);
void data_spaces_destroy(struct data_spaces *spaces);

/**
 * data_spaces_find() - find the region of an address
 * @tag:     of the process (dcpi_tag()), with its generation: an exec begins a new one
 * @address: of data
 */
struct data_place data_spaces_find(struct data_spaces *spaces, uint64_t tag, uint64_t address);

/**
 * data_spaces_read() - find the region of an address in mappings in the form of /proc/PID/maps
 * @text: all lines
 *
 * For tests. Return: as data_spaces_find().
 */
struct data_place data_spaces_read(struct data_spaces *spaces, const char *text, uint64_t address);

/** data_spaces_bytes() - memory in use */
size_t data_spaces_bytes(const struct data_spaces *spaces);

#endif
