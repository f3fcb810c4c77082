/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image and offset of a sample, derived from the address spaces of its process; or the reason
 * why it has none.
 */
#ifndef DCPI_IMAGE_PLACE_H
#define DCPI_IMAGE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct loss_list;
struct mapping;
struct process_spaces;

/** enum image_unknown - why a sample has no image. */
enum image_unknown {
	/* No event reported the process or generation. */
	IMAGE_UNKNOWN_PROCESS,
	/* The process has nothing mapped there. */
	IMAGE_UNKNOWN_ADDRESS,
	/* Anonymous memory: JIT code without names, trampolines. */
	IMAGE_UNKNOWN_ANONYMOUS,
	/* A kernel address outside all known text. */
	IMAGE_UNKNOWN_KERNEL,
	/* Several images were mapped there at different times. */
	IMAGE_UNKNOWN_REPLACED,
	/* Image events were lost. */
	IMAGE_UNKNOWN_LOST,
	/* JIT code, but its name exceeds a limit on memory or time. */
	IMAGE_UNKNOWN_JIT_LIMIT,
	/* JIT code that was replaced while the sample was taken. */
	IMAGE_UNKNOWN_JIT_AMBIGUOUS,
	/* Limits of the process's user (quota.h), in the order of enum quota_limit. */
	IMAGE_UNKNOWN_QUOTA_EVENTS,
	IMAGE_UNKNOWN_QUOTA_MAPPINGS,
	IMAGE_UNKNOWN_QUOTA_IMAGES,
	IMAGE_UNKNOWN_NR,
};

/**
 * image_unknown_name() - the reason's name in counters and reports: "process", "address",
 * "anonymous", "kernel", "replaced", "lost", "jit_limit", "jit_ambiguous", or the name of a limit
 * (quota_limit_name())
 */
const char *image_unknown_name(enum image_unknown reason);

/* @delta of a mapping to IMAGE_UNKNOWN: the mapping has an image, but the image has no number. */
#define IMAGE_PLACE_NO_NUMBER 1

/**
 * struct image_place - the image and offset of a sample
 * @image:   number in the image table; IMAGE_UNKNOWN if no image matched
 * @offset:  in the image's file; 0 if unknown
 * @unknown: the reason, if unknown
 * @start:   start of the surrounding range of addresses that is contiguous in the image
 * @bytes:   size of this range, 0 if unknown
 *
 * @since_ns, @until_ns: set for IMAGE_UNKNOWN_ANONYMOUS. The sample was taken between these times,
 *                       because its address space existed only then.
 */
struct image_place {
	uint32_t image;
	enum image_unknown unknown;
	uint64_t offset;
	uint64_t start;
	uint64_t bytes;
	uint64_t since_ns;
	uint64_t until_ns;
};

/** image_place_in() - return the place of an address in a mapping */
struct image_place image_place_in(const struct mapping *mapping, uint64_t pc);

/** image_place_unknown() - return a place without an image */
struct image_place image_place_unknown(enum image_unknown reason);

/**
 * struct image_history - information needed to interpret a process's address spaces
 * @losses:          times at which events were lost
 * @own_generations: generations are the image map's, not the kernel's
 */
struct image_history {
	const struct loss_list *losses;
	bool own_generations;
};

/**
 * image_place_find() - find the image and offset of an address
 *
 * All versions with the sample's generation are searched, up to expiry; with the kernel's
 * generations there may be more than one. The range in the result is the part on which all of them
 * agree.
 */
struct image_place image_place_find(const struct image_history *history,
				    const struct process_spaces *process, uint32_t generation,
				    uint64_t pc);

#endif
