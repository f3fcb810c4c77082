/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a sample belongs, by what is known of its process' address spaces; or why nowhere. */
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
	/* Memory of no file: JIT code without names, trampolines. */
	IMAGE_UNKNOWN_ANONYMOUS,
	/* A kernel address in no known text. */
	IMAGE_UNKNOWN_KERNEL,
	/* Several images were there one after the other. */
	IMAGE_UNKNOWN_REPLACED,
	/* Image events were lost. */
	IMAGE_UNKNOWN_LOST,
	/* JIT code, but its name exceeds a limit on memory or time. */
	IMAGE_UNKNOWN_JIT_LIMIT,
	/* JIT code that was replaced while the sample was taken. */
	IMAGE_UNKNOWN_JIT_AMBIGUOUS,
	/* Limits of the process' user (quota.h), in their order. */
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

/* The @delta of a mapping to IMAGE_UNKNOWN that stands for an image without a number. */
#define IMAGE_PLACE_NO_NUMBER 1

/**
 * struct image_place - where a sample belongs
 * @image:   number in the image table; IMAGE_UNKNOWN if no image matched
 * @offset:  in the image's file; 0 if unknown
 * @unknown: the reason, if unknown
 * @start:   of the addresses around it that are in the image too, one after the
 *           other; @bytes: how many, 0 if unknown
 *
 * @since_ns, @until_ns: set for IMAGE_UNKNOWN_ANONYMOUS. The sample was taken between these
 *           times, because its address space existed only then.
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

/** image_place_in() - of an address in a mapping */
struct image_place image_place_in(const struct mapping *mapping, uint64_t pc);

/** image_place_unknown() - nowhere */
struct image_place image_place_unknown(enum image_unknown reason);

/**
 * struct image_history - what address spaces of a process are to be judged by
 * @losses:          times of events that nobody told of
 * @own_generations: they are the image map's, not the kernel's
 */
struct image_history {
	const struct loss_list *losses;
	bool own_generations;
};

/**
 * image_place_find() - what was at an address
 *
 * By all versions of that generation; there is more than one if generations are the kernel's,
 * and until they expire. The range of the answer is what all of them agree on.
 */
struct image_place image_place_find(const struct image_history *history,
				    const struct process_spaces *process, uint32_t generation,
				    uint64_t pc);

#endif
