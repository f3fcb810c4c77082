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

#include "daemon/image/image_place.h"
#include "daemon/image/image_table.h"
#include "kmod/uapi/dcpi_uapi.h"

struct accumulate_bin;

/*
 * Places: a power of two. User addresses of 4 MiB share a pair of them, since libraries lie
 * beside each other, and the two that a program is in by turns are both found; kernel
 * addresses of 128 MiB: its image is in one such range, and modules in another. They mean
 * the same in all processes, and so one match serves all: what the kernel does for a process
 * that lives for some samples only need not be looked up.
 */
#define MATCH_CACHE_BITS 11
#define MATCH_CACHE_USER_BITS 22
#define MATCH_CACHE_KERNEL_BITS 27
/*
 * Processes that share a version, or the place of a label: one in so many is forgotten with
 * another one. More than have entries in the kernel's table at a time where they are short.
 */
#define MATCH_CACHE_VERSION_BITS 12

/* Instead of a match's label: it is that of the process, match_cache_label(). */
#define MATCH_LABEL_OF_PROCESS UINT32_MAX

/**
 * struct match - where samples of an event belong, of a process and a mapping
 * @who:     which they are, match_cache_who(); @version, @start and @bytes: when, and
 *           where. The matcher's.
 * @image:   number in the image table; IMAGE_UNKNOWN if none matched
 * @delta:   what makes a PC an offset in the image; of no image, the reason (enum
 *           image_unknown)
 * @owner:   whose profile: the process', if its image is profiled by process; its
 *           label's, PROFILE_PID_OF_LABEL(), if by unit; or PROFILE_PID_ALL
 * @label:   of the process (daemon/collect/process_label.h), or MATCH_LABEL_OF_PROCESS
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
	struct accumulate_bin *bin;
};

_Static_assert(sizeof(struct match) == 64, "a place is found by a shift");

/** struct match_label - the label of a process; @whose: its id plus one, 0: nobody's. */
struct match_label {
	uint64_t whose;
	uint32_t label;
};

/**
 * struct match_cache - matches by a hash of the process, event and address
 * @matches:  in pairs; first, where they are found in the fewest instructions
 * @versions: of all that matches of a process depend on, by its id; older ones hold
 *            no more
 * @kernel_who: what of a tag tells matches of kernel addresses apart
 * @labels:   by process id
 * @brief:    matches' versions, and whose labels are, where they depend on more;
 *            @brief_count of them
 * @turn:     whose place of a pair is taken next, in its highest bit: pseudo-random
 *
 * To begin with zeroed, then match_cache_forget().
 */
struct match_cache {
	struct match matches[1 << (MATCH_CACHE_BITS - 1)][2];
	uint64_t versions[1 << MATCH_CACHE_VERSION_BITS];
	uint64_t kernel_who;
	struct match_label labels[1 << MATCH_CACHE_VERSION_BITS];
	size_t brief_count;
	uint32_t turn;
	uint64_t *brief[1 << MATCH_CACHE_BITS];
};

/** match_cache_forget() - nothing that was found holds any more. */
void match_cache_forget(struct match_cache *cache);

/**
 * match_cache_shorten() - a match or label holds up to match_cache_forget_brief() only
 * @version: the match's, or whose label it is
 *
 * Or it is never found again, if there are too many of them.
 */
void match_cache_shorten(struct match_cache *cache, uint64_t *version);

/**
 * match_cache_divide_kernel() - processes have profiles of their own of kernel code, too
 *
 * From now on matches of kernel addresses are a process', up to match_cache_forget().
 */
void match_cache_divide_kernel(struct match_cache *cache);

/** match_cache_forget_brief() - what was to hold up to now is forgotten. O(those) */
void match_cache_forget_brief(struct match_cache *cache);

/** match_cache_forget_bins() - what callers have put into matches is no more. */
void match_cache_forget_bins(struct match_cache *cache);

/** match_cache_version() - of a process. */
static inline uint64_t *match_cache_version(struct match_cache *cache, uint32_t pid)
{
	return &cache->versions[pid & ((1U << MATCH_CACHE_VERSION_BITS) - 1)];
}

/** match_cache_label() - where the label of a process is, or belongs. */
static inline struct match_label *match_cache_label(struct match_cache *cache, uint32_t pid)
{
	return &cache->labels[pid & ((1U << MATCH_CACHE_VERSION_BITS) - 1)];
}

/** match_label_is() - whether it is that process'. */
static inline bool match_label_is(const struct match_label *label, uint32_t pid)
{
	return label->whose == (uint64_t)pid + 1;
}

/** match_cache_forget_process() - what was found of a process holds no more. */
static inline void match_cache_forget_process(struct match_cache *cache, uint32_t pid)
{
	++*match_cache_version(cache, pid);
	match_cache_label(cache, pid)->whose = 0;
}

/** match_cache_shares() - whether the match of a sample is one of all processes. */
static inline bool match_cache_shares(const struct match_cache *cache,
				      const struct dcpi_sample *sample)
{
	return sample->pc >> 63 != 0 && cache->kernel_who != UINT64_MAX;
}

/** match_cache_who() - a sample's process, generation and event; in the kernel its event. */
static inline uint64_t match_cache_who(const struct match_cache *cache,
				       const struct dcpi_sample *sample)
{
	uint64_t who = sample->tag & ~(uint64_t)DCPI_COUNT_MAX;

	return sample->pc >> 63 != 0 ? who & cache->kernel_who : who;
}

/** match_cache_pair() - the two places where the match of a sample may be. */
static inline struct match *match_cache_pair(struct match_cache *cache,
					     const struct dcpi_sample *sample)
{
	bool kernel = sample->pc >> 63 != 0;
	uint64_t range = sample->pc >> (kernel ? MATCH_CACHE_KERNEL_BITS : MATCH_CACHE_USER_BITS);
	uint64_t key = match_cache_who(cache, sample) ^ range;

	return cache->matches[key * 0x9e3779b97f4a7c15ULL >> (65 - MATCH_CACHE_BITS)];
}

/** match_cache_place() - where a new match of a sample belongs. */
struct match *match_cache_place(struct match_cache *cache, const struct dcpi_sample *sample);

/** match_cache_holds() - whether all that a match depends on is as it was. */
static inline bool match_cache_holds(struct match_cache *cache, const struct match *match)
{
	return match->version == *match_cache_version(cache, dcpi_tag_pid(match->who));
}

/** match_covers() - whether a match is of someone's address. */
static inline bool match_covers(const struct match *match, uint64_t who, uint64_t pc)
{
	return match->who == who && pc - match->start < match->bytes;
}

/** match_cache_find() - the match of a sample, NULL if it must be looked up. */
static inline struct match *match_cache_find(struct match_cache *cache,
					     const struct dcpi_sample *sample)
{
	struct match *match = match_cache_pair(cache, sample);
	uint64_t who = match_cache_who(cache, sample);

	if (!match_covers(match, who, sample->pc)) {
		match++;
		if (!match_covers(match, who, sample->pc))
			return NULL;
	}
	return match_cache_holds(cache, match) ? match : NULL;
}

/** match_cache_at() - the match of an address, as samples of the first event have found it. */
static inline const struct match *match_cache_at(struct match_cache *cache, uint64_t tag,
						 uint64_t pc)
{
	const struct dcpi_sample sample = {.pc = pc, .tag = tag & ~(0xffULL << DCPI_COUNT_BITS)};

	return match_cache_find(cache, &sample);
}

/** match_place() - the place of an address that a match covers. */
static inline struct image_place match_place(const struct match *match, uint64_t pc)
{
	if (match->image == IMAGE_UNKNOWN)
		return image_place_unknown((enum image_unknown)(pc + match->delta));
	return (struct image_place){
		.image = match->image,
		.offset = pc + match->delta,
		.start = match->start,
		.bytes = match->bytes,
	};
}

#endif
