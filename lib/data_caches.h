/* SPDX-License-Identifier: GPL-2.0-only */
/* The sizes of this machine's data caches. */
#ifndef DCPI_DATA_CACHES_H
#define DCPI_DATA_CACHES_H

#include <stdint.h>

#define DATA_CACHE_LEVELS 3

/**
 * data_caches_read() - read the sizes of the caches of one CPU
 * @bytes: out: by level, from 1 on; 0: there is none, or it is unknown
 *
 * A level above those that exist, for example the third on a processor with two, is 0.
 */
void data_caches_read(uint64_t bytes[DATA_CACHE_LEVELS]);

#endif
