/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A matcher (daemon/collect/matcher.h) without processes: an address encodes its place.
 * fake_address() puts the number of an image, 1 .. FAKE_IMAGES, into bits 47..32 and the offset
 * into the bits below. Other numbers are in no image. An address with bits above 47 set is in image
 * 1, at an offset outside every file. The path of an image is /usr/lib/image-NUMBER.so.
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
