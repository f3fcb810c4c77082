/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A matcher (daemon/collect/matcher.h) that needs no processes: addresses say where they
 * are. fake_address() has the number of an image, 1 .. FAKE_IMAGES, in bits
 * 47..32 and the offset below; other numbers are in no image; an address with
 * bits above is in image 1, at an offset that no file has. The path of an image
 * is /usr/lib/image-NUMBER.so.
 */
#ifndef DCPI_TESTS_FAKE_MATCHER_H
#define DCPI_TESTS_FAKE_MATCHER_H

#include <stdint.h>

#define FAKE_IMAGES 4

static inline uint64_t fake_address(uint64_t image, uint64_t offset)
{
	return image << 32 | offset;
}

#endif
