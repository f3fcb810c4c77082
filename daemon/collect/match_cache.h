/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where samples belong that are like others found lately. They come in runs of a
 * process, and most are in few mappings: what was found is found again, with what
 * the caller has put there, until something happens to an address space.
 *
 * Inline: this is what the daemon does for each entry, and in few instructions.
 */
#ifndef DCPI_MATCH_CACHE_H
#define DCPI_MATCH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

struct accumulate_bin;

/*
 * Places: a power of two. User addresses of 4 MiB share one; so that what the kernel
 * does for a process that lives for some samples only is looked up once, kernel
 * addresses of 128 MiB do: its image is in one such range, and modules in another.
 */
#define MATCH_CACHE_BITS 11
#define MATCH_CACHE_USER_BITS 22
#define MATCH_CACHE_KERNEL_BITS 27

/**
 * struct match - where samples of an event belong, of a process and a mapping
 * @who:     which they are: their tags without counts; @version, @start and
 *           @bytes: when, and where. The matcher's.
 * @image:   number in the image table; IMAGE_UNKNOWN if none matched
 * @delta:   what makes a PC an offset in the image; of no image, the reason (enum
 *           image_unknown)
 * @owner:   whose profile: the process', if its image is profiled by process; its
 *           label's, PROFILE_PID_OF_LABEL(), if by unit; or PROFILE_PID_ALL
 * @label:   of the process (daemon/collect/process_label.h)
 * @command: of profiles by process, its name
 * @bin:     the caller's, to remember where it puts them; NULL to begin with
 */
struct match {
	uint64_t who;
	uint64_t version;
	uint64_t start;
	uint64_t bytes;
	uint64_t delta;
	uint32_t image;
	uint32_t label;
	int64_t owner;
	const char *command;
	struct accumulate_bin *bin;
};

/**
 * struct match_cache - matches by a hash of the process, event and address
 * @version: of all that matches depend on; older ones hold no more
 */
struct match_cache {
	uint64_t version;
	struct match matches[1 << MATCH_CACHE_BITS];
};

/** match_who() - a sample's process, generation and event. */
static inline uint64_t match_who(const struct dcpi_sample *sample)
{
	return sample->tag & ~(uint64_t)DCPI_COUNT_MAX;
}

/** match_cache_place() - where the match of a sample is, or belongs. */
static inline struct match *match_cache_place(struct match_cache *cache,
					      const struct dcpi_sample *sample)
{
	bool kernel = sample->pc >> 63 != 0;
	uint64_t range = sample->pc >> (kernel ? MATCH_CACHE_KERNEL_BITS : MATCH_CACHE_USER_BITS);
	uint64_t key = match_who(sample) ^ range;

	return &cache->matches[key * 0x9e3779b97f4a7c15ULL >> (64 - MATCH_CACHE_BITS)];
}

/** match_cache_find() - the match of a sample, NULL if it must be looked up. */
static inline struct match *match_cache_find(struct match_cache *cache,
					     const struct dcpi_sample *sample)
{
	struct match *match = match_cache_place(cache, sample);

	return match->who == match_who(sample) && match->version == cache->version &&
			       sample->pc - match->start < match->bytes
		       ? match
		       : NULL;
}

#endif
