/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cache of matches, from samples to images. Samples come in runs of one process, and most are in
 * a few mappings. A match, including the caller's bin, is reused until an event invalidates it.
 *
 * Inline: the daemon does this for each entry, with few instructions.
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
 * Number of entries: a power of two. User addresses in a range of 4 MiB share a pair of entries.
 * Libraries are adjacent in memory, and the two between which a program alternates are both found.
 * Kernel addresses share a pair per 128 MiB: the kernel's image is in one such range, and modules
 * in another. Kernel addresses mean the same in all processes, so one match serves all. Kernel
 * samples of a process that has only few samples need no look-up.
 */
#define MATCH_CACHE_BITS 11
#define MATCH_CACHE_USER_BITS 22
#define MATCH_CACHE_KERNEL_BITS 27
/*
 * Processes whose ids are equal in these bits share a version and a label entry, and are
 * invalidated together. The number of entries exceeds the number of short-lived processes that have
 * entries in the kernel's sample table at a time.
 */
#define MATCH_CACHE_VERSION_BITS 12
/* Words of a set of bits by process. */
#define MATCH_CACHE_DIVIDED (1 << (MATCH_CACHE_VERSION_BITS - 6))

/* Value of a match's label: use the label of the process, match_cache_label(). */
#define MATCH_LABEL_OF_PROCESS UINT32_MAX

/**
 * struct match - the result for samples of an event in one process and mapping
 * @who:     key, match_cache_who(). Set by the matcher, like @version, @start and @bytes
 * @version: version of the process when the match was made
 * @start:   first address
 * @bytes:   size of the range of addresses
 * @image:   number in the image table; IMAGE_UNKNOWN if none matched
 * @delta:   added to a PC, gives the offset in the image; without an image, the reason (enum
 *           image_unknown)
 * @owner:   profile: of the process, if its image is profiled by process; of its label,
 *           PROFILE_PID_OF_LABEL(), if by unit; of the profiler, PROFILE_PID_PROFILER, if the
 *           process is the profiler's; or PROFILE_PID_ALL
 * @label:   of the process (daemon/collect/process_label.h), or MATCH_LABEL_OF_PROCESS
 * @bin:     owned by the caller: the bin of the samples; initially NULL
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

/** struct match_label - the label of a process; @whose: its id plus one, 0: unused. */
struct match_label {
	uint64_t whose;
	uint32_t label;
};

/**
 * struct match_cache - matches by a hash of process, event and address
 * @matches:    in pairs; first member, so that accesses take the fewest instructions
 * @versions:   by process id, current version of the data on which its matches depend; matches with
 *              other versions are invalid
 * @kernel_who: mask of a tag for the keys of kernel addresses
 * @labels:     by process id
 * @volatile_versions:
 *              versions of volatile matches, and @whose of volatile labels, which also depend on
 *              other data; @volatile_count entries
 * @divided:    by process id, a bit: processes with kernel matches of their own
 * @random:     pseudo-random state; its highest bit selects the entry of a pair to replace
 *
 * To initialise, zero it, and call match_cache_forget().
 */
struct match_cache {
	struct match matches[1 << (MATCH_CACHE_BITS - 1)][2];
	uint64_t versions[1 << MATCH_CACHE_VERSION_BITS];
	uint64_t kernel_who;
	struct match_label labels[1 << MATCH_CACHE_VERSION_BITS];
	uint64_t divided[MATCH_CACHE_DIVIDED];
	size_t volatile_count;
	uint32_t random;
	uint64_t *volatile_versions[1 << MATCH_CACHE_BITS];
};

/** match_cache_forget() - invalidate all matches and labels. */
void match_cache_forget(struct match_cache *cache);

/**
 * match_cache_mark_volatile() - mark a match or label volatile: valid until
 * match_cache_drop_volatile()
 * @version: version of the match, or @whose of the label
 *
 * If there are too many volatile ones, it is invalidated at once.
 */
void match_cache_mark_volatile(struct match_cache *cache, uint64_t *version);

/**
 * match_cache_divide_kernel() - make matches of kernel addresses per process
 *
 * Needed if processes have separate profiles of kernel code, too. In effect until
 * match_cache_forget().
 */
void match_cache_divide_kernel(struct match_cache *cache);

/** match_cache_drop_volatile() - invalidate volatile matches and labels. O(number of them) */
void match_cache_drop_volatile(struct match_cache *cache);

/** match_cache_forget_bins() - clear the bins in all matches. */
void match_cache_forget_bins(struct match_cache *cache);

/** match_cache_version() - return the version of a process. */
static inline uint64_t *match_cache_version(struct match_cache *cache, uint32_t pid)
{
	return &cache->versions[pid & ((1U << MATCH_CACHE_VERSION_BITS) - 1)];
}

/**
 * match_cache_label() - return the label entry of a process, which may contain another one's label.
 */
static inline struct match_label *match_cache_label(struct match_cache *cache, uint32_t pid)
{
	return &cache->labels[pid & ((1U << MATCH_CACHE_VERSION_BITS) - 1)];
}

/** match_label_is() - return true if an entry contains the label of this process. */
static inline bool match_label_is(const struct match_label *label, uint32_t pid)
{
	return label->whose == (uint64_t)pid + 1;
}

/** match_cache_forget_process() - invalidate the matches and the label of a process. */
static inline void match_cache_forget_process(struct match_cache *cache, uint32_t pid)
{
	++*match_cache_version(cache, pid);
	match_cache_label(cache, pid)->whose = 0;
}

/**
 * match_cache_divide() - make matches of kernel addresses of one process separate from those of the
 * others, also of processes with the same bits of the id
 */
static inline void match_cache_divide(struct match_cache *cache, uint32_t pid)
{
	cache->divided[pid >> 6 & (MATCH_CACHE_DIVIDED - 1)] |= 1ULL << (pid & 63);
}

static inline bool match_cache_is_divided(const struct match_cache *cache, uint32_t pid)
{
	return cache->divided[pid >> 6 & (MATCH_CACHE_DIVIDED - 1)] >> (pid & 63) & 1;
}

/** match_cache_shares() - return true if all processes share the match of a sample. */
static inline bool match_cache_shares(const struct match_cache *cache,
				      const struct dcpi_sample *sample)
{
	return sample->pc >> 63 != 0 && cache->kernel_who != UINT64_MAX &&
	       !match_cache_is_divided(cache, dcpi_tag_pid(sample->tag));
}

/**
 * match_cache_who() - return the key of a sample: process, generation and event; in the kernel only
 * the event, unless the process is divided from the others.
 */
static inline uint64_t match_cache_who(const struct match_cache *cache,
				       const struct dcpi_sample *sample)
{
	uint64_t who = sample->tag & ~(uint64_t)DCPI_COUNT_MAX;

	return match_cache_shares(cache, sample) ? who & cache->kernel_who : who;
}

/** match_cache_pair() - return the pair of entries that may contain the match of a sample. */
static inline struct match *match_cache_pair(struct match_cache *cache,
					     const struct dcpi_sample *sample)
{
	bool kernel = sample->pc >> 63 != 0;
	uint64_t range = sample->pc >> (kernel ? MATCH_CACHE_KERNEL_BITS : MATCH_CACHE_USER_BITS);
	uint64_t key = match_cache_who(cache, sample) ^ range;

	return cache->matches[key * 0x9e3779b97f4a7c15ULL >> (65 - MATCH_CACHE_BITS)];
}

/** match_cache_place() - return the entry for a new match of a sample. */
struct match *match_cache_place(struct match_cache *cache, const struct dcpi_sample *sample);

/** match_cache_holds() - return true if a match is valid. */
static inline bool match_cache_holds(struct match_cache *cache, const struct match *match)
{
	return match->version == *match_cache_version(cache, dcpi_tag_pid(match->who));
}

/** match_covers() - return true if a match applies to an address and a key. */
static inline bool match_covers(const struct match *match, uint64_t who, uint64_t pc)
{
	return match->who == who && pc - match->start < match->bytes;
}

/** match_cache_find() - return the match of a sample, NULL if it must be looked up. */
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

/** match_cache_at() - return the match of an address, as cached for samples of the first event. */
static inline const struct match *match_cache_at(struct match_cache *cache, uint64_t tag,
						 uint64_t pc)
{
	const struct dcpi_sample sample = {.pc = pc, .tag = tag & ~(0xffULL << DCPI_COUNT_BITS)};

	return match_cache_find(cache, &sample);
}

/** match_place() - return the place of an address that a match covers. */
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
