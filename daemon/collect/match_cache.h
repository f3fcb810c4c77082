/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where samples belong that are like others found lately. They come in runs of a
 * process, and most are in few mappings: what was found is found again, with what
 * the caller has put there, until something happens to the process.
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
/* Processes that share a version: one in so many is forgotten with another one. */
#define MATCH_CACHE_VERSION_BITS 10

/**
 * struct match - where samples of an event belong, of a process and a mapping
 * @who:     which they are: their tags without counts; @version, @start and
 *           @bytes: when, and where; 0 bytes: not to be found again. The matcher's.
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
 * @versions: of all that matches of a process depend on, by its id; older ones hold
 *            no more
 * @brief:    places of matches that depend on more, @brief_count of them
 *
 * Zero-initialised is empty.
 */
struct match_cache {
	uint64_t versions[1 << MATCH_CACHE_VERSION_BITS];
	size_t brief_count;
	uint16_t brief[1 << MATCH_CACHE_BITS];
	struct match matches[1 << MATCH_CACHE_BITS];
};

/** match_cache_forget() - nothing that was found holds any more. */
void match_cache_forget(struct match_cache *cache);

/**
 * match_cache_shorten() - a match holds up to match_cache_forget_brief() only
 *
 * Or it is never found again, if there are too many of them.
 */
void match_cache_shorten(struct match_cache *cache, struct match *match);

/** match_cache_forget_brief() - what was to hold up to now is forgotten. O(those) */
void match_cache_forget_brief(struct match_cache *cache);

/** match_cache_forget_bins() - what callers have put into matches is no more. */
void match_cache_forget_bins(struct match_cache *cache);

/** match_cache_version() - of a process. */
static inline uint64_t *match_cache_version(struct match_cache *cache, uint32_t pid)
{
	return &cache->versions[pid & ((1U << MATCH_CACHE_VERSION_BITS) - 1)];
}

/** match_cache_forget_process() - what was found of a process holds no more. */
static inline void match_cache_forget_process(struct match_cache *cache, uint32_t pid)
{
	++*match_cache_version(cache, pid);
}

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

	return match->who == match_who(sample) && sample->pc - match->start < match->bytes &&
			       match->version ==
				       *match_cache_version(cache, dcpi_tag_pid(sample->tag))
		       ? match
		       : NULL;
}

#endif
